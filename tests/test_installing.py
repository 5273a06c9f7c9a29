"""What an installation brings: the two packages and extras for what not all need."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from hatchling.builders.wheel import WheelBuilder
from typer.testing import CliRunner

import tiermem
from eval.systems.ranking import Bm25System
from pagestore import EstimateCounter
from tests.eval.tiny import sessions
from tiermem.apps.cli.app import app
from tiermem.errors import InvalidInput, install_command

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT: dict[str, Any] = PYPROJECT["project"]


def wheel_files() -> dict[Path, Path]:
    """The files of a wheel, as the build chooses them: where each goes, and where it is."""
    chosen = WheelBuilder(str(ROOT)).recurse_included_files()
    return {Path(file.distribution_path): Path(file.path) for file in chosen}


@pytest.fixture(scope="module")
def wheel() -> dict[Path, Path]:
    return wheel_files()


def test_the_wheel_brings_two_packages_and_the_hook_and_takes_no_other_name(
    wheel: dict[Path, Path],
) -> None:
    assert {name.parts[0] for name in wheel} == {"tiermem", "pagestore", "tiermem_hook.py"}


def test_the_wheel_has_evaluation_and_prompts_and_no_research(wheel: dict[Path, Path]) -> None:
    research = ROOT / "eval" / "research"
    assert not [file for file in wheel.values() if file.is_relative_to(research)]
    for folder in ("tiermem", "pagestore", "prompts", "eval"):
        files = {file for file in (ROOT / folder).rglob("*.*") if "__pycache__" not in file.parts}
        assert {file for file in files - set(wheel.values()) if not file.is_relative_to(research)} == set()


def test_nothing_installed_points_at_what_is_not() -> None:
    targets = [*PROJECT["scripts"].values()]
    targets += [one for group in PROJECT.get("entry-points", {}).values() for one in group.values()]
    assert {target.partition(".")[0] for target in targets} == {"tiermem", "tiermem_hook:main"}


@pytest.mark.parametrize("command", ["-m eval systems", "-m tiermem eval systems"])
def test_evaluation_runs_from_a_checkout(command: str) -> None:
    done = subprocess.run(
        [sys.executable, *command.split()], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "bm25" in done.stdout.split()


def test_evaluation_runs_where_a_wheel_puts_it(tmp_path: Path, wheel: dict[Path, Path]) -> None:
    """The files of a wheel where it puts them, and nothing of the checkout in reach."""
    for place, file in wheel.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, tmp_path / place)
    alone = (
        f"import sys; sys.path = [{str(tmp_path)!r}, *(p for p in sys.path if p not in ('', {str(ROOT)!r}))]"
    )
    run = "import tiermem.apps.cli as cli; sys.argv[1:] = ['eval', 'systems']; cli.main()"
    command = [sys.executable, "-P", "-c", f"{alone}; {run}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "bm25" in done.stdout.split(), done.stderr


def package(requirement: str) -> str:
    """The name that a requirement is imported by."""
    return re.split(r"[^\w-]", requirement)[0].replace("-", "_")


def command_for(extra: str) -> str:
    """The command that installs the packages of an extra, as the metadata of the installation name them."""
    declared = metadata.requires("tiermem") or []
    needed = [one.partition(";")[0] for one in declared if one.endswith(f"extra == '{extra}'")]
    named = {package(one) for one in PROJECT["optional-dependencies"][extra]} - {"tiermem"}
    assert {package(one) for one in needed} >= named
    return shlex.join(["pip", "install", *needed])


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """An environment in which the packages of an extra are not installed."""
    extra: str = request.param
    for requirement in PROJECT["optional-dependencies"][extra]:
        if package(requirement) != "tiermem":
            monkeypatch.setitem(sys.modules, package(requirement), None)
    return extra


@pytest.mark.parametrize("without", ["local"], indirect=True)
def test_without_what_embeds_words_are_searched_and_everybody_is_told_which_extra_is_missing(
    without: str, tmp_path: Path
) -> None:
    with tiermem.open(tmp_path / "memory") as memory:
        memory.add("My dog Biscuit is allergic to chicken.", speaker="Ann")
        assert "chicken" in memory.ask("What is Biscuit allergic to?").text
        problem = memory.stats().problems[-1]
    assert "by its words alone" in problem
    assert command_for(without) in problem
    examined = CliRunner().invoke(app, ["doctor", "--store", str(tmp_path / "memory")])
    assert examined.exit_code == 1
    assert command_for(without) in " ".join(examined.output.split())


DOCTOR = {
    "model": {"TIERMEM_MODEL": "small", "TIERMEM_BASE_URL": "http://127.0.0.1:9/v1", "TIERMEM_API_KEY": "k"},
    "server": {"TIERMEM_INDEX": "http://127.0.0.1:9"},
    "postgres": {"TIERMEM_STORE": "postgresql://127.0.0.1:9/memory"},
}


@pytest.mark.parametrize("without", DOCTOR, indirect=True)
def test_doctor_says_what_installs_what_is_missing(
    without: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners = (
        "tiermem.llm.openai",
        "tiermem.index.qdrant",
        "tiermem.index.postgres",
        "tiermem.storage.postgres",
    )
    for name in [name for name in sys.modules if name.startswith(owners)]:
        monkeypatch.delitem(sys.modules, name)
    for name, value in {"TIERMEM_STORE": str(tmp_path / "memory"), **DOCTOR[without]}.items():
        monkeypatch.setenv(name, value)
    examined = CliRunner().invoke(app, ["doctor"])
    assert examined.exit_code == 1
    assert command_for(without) in " ".join(examined.output.split())


def test_without_metadata_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def requires(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", requires)
    assert install_command("local") == "pip install 'tiermem[local]'"


@pytest.mark.parametrize("extra", sorted(PROJECT["optional-dependencies"]))
def test_an_extra_is_installed_by_the_packages_it_names(extra: str) -> None:
    assert install_command(extra) == command_for(extra)
    assert "tiermem" not in install_command(extra)


@pytest.mark.parametrize("without", ["model"], indirect=True)
@pytest.mark.parametrize("named", [{"model": "small"}, {"embedder": "openai:small"}])
def test_a_model_without_its_client_is_refused_with_the_extra_that_brings_it(
    without: str, named: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=re.escape(command_for(without))):
        tiermem.open(tmp_path / "memory", **named)


@pytest.mark.parametrize("without", ["eval"], indirect=True)
@pytest.mark.anyio
async def test_evaluation_without_its_baseline_names_the_extra(without: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(command_for(without))):
        await Bm25System(EstimateCounter()).observe(sessions())


@pytest.mark.parametrize("without", ["mcp"], indirect=True)
def test_serving_agents_without_their_protocol_names_the_extra(
    without: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(("mcp.", "tiermem.apps.mcp"))]:
        monkeypatch.delitem(sys.modules, name)
    done = CliRunner().invoke(app, ["mcp", "--store", str(tmp_path / "memory")])
    assert command_for(without) in " ".join(done.stderr.split())
    assert not (tmp_path / "memory").exists()


@pytest.mark.parametrize("without", ["serve"], indirect=True)
def test_serving_over_http_without_its_server_names_the_extra(
    without: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(("starlette.", "tiermem.apps.http"))]:
        monkeypatch.delitem(sys.modules, name)
    done = CliRunner().invoke(app, ["serve", "--store", str(tmp_path / "memory")])
    assert command_for(without) in " ".join(done.stderr.split())
    assert not (tmp_path / "memory").exists()


@pytest.mark.parametrize("without", ["remote"], indirect=True)
def test_a_memory_over_http_without_its_client_names_the_extra(without: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(command_for(without))):
        tiermem.open("http://127.0.0.1:9")


BARE = """
import sys
sys.modules |= dict.fromkeys(sys.argv[1:])
import tiermem, tiermem.apps.cli.app as cli
for command in cli.COMMANDS:
    cli.load(command)
with tiermem.open(":memory:") as memory:
    memory.add("My dog Biscuit is allergic to chicken.", speaker="Ann")
    print(memory.ask("What is Biscuit allergic to?"))
"""


def test_a_memory_works_where_no_extra_is_installed() -> None:
    extras = PROJECT["optional-dependencies"].values()
    absent = {package(one) for extra in extras for one in extra} - {"tiermem"}
    done = subprocess.run(
        [sys.executable, "-c", BARE, *absent], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "chicken" in done.stdout, done.stderr

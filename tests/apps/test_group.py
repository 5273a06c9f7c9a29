"""Help, usage, plug-ins and how errors end."""

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
import typer
from typer.testing import CliRunner

import tiermem
from tiermem.apps.cli import group
from tiermem.apps.cli.app import app

runner = CliRunner()

COMMANDS = "demo ingest ask search audit answers page pages units stats verify reindex spaces"


def test_help_names_every_command() -> None:
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert all(f"│ {command} " in result.output for command in COMMANDS.split())


@pytest.mark.parametrize("command", COMMANDS.split())
def test_every_command_has_help_and_speaks_json(command: str) -> None:
    result = runner.invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "--json" in result.output
    assert "--store" in result.output


def test_the_version_is_the_packages() -> None:
    assert runner.invoke(app, ["--version"]).output == f"tiermem {tiermem.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [["nosuch"], ["ask"], ["ask", "q", "--engine", "magic"], ["search", "q", "-n", "0"], ["ingest"]],
)
def test_wrong_usage_ends_with_two(arguments: list[str]) -> None:
    assert runner.invoke(app, arguments).exit_code == 2


def test_a_mistyped_command_gets_a_suggestion() -> None:
    assert "Did you mean 'ingest'" in runner.invoke(app, ["ingst"]).output


def test_another_package_adds_commands_by_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {
        "extra": EntryPoint("extra", "tests.apps.test_group:extra", group.ENTRY_POINTS),
        "broken": EntryPoint("broken", "tests.apps.no_such_module:app", group.ENTRY_POINTS),
    }
    monkeypatch.setattr(group, "_plugins", lambda: points)
    listed = runner.invoke(app, ["--help"]).output
    assert "extra" in listed
    assert "broken" in listed
    assert runner.invoke(app, ["extra", "greet"]).output == "hello\n"
    failed = runner.invoke(app, ["broken"])
    assert failed.exit_code == 1
    assert "error: the command 'broken' cannot be loaded: No module named" in failed.stderr


extra = typer.Typer(help="Commands of another package.")


@extra.command()
def greet() -> None:
    """Say hello."""
    typer.echo("hello")


@extra.command()
def wave() -> None:
    """Wave."""


@extra.command()
def stop() -> None:
    """Be interrupted."""
    raise KeyboardInterrupt


def test_an_interruption_says_that_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {"extra": EntryPoint("extra", "tests.apps.test_group:extra", group.ENTRY_POINTS)}
    monkeypatch.setattr(group, "_plugins", lambda: points)
    result = runner.invoke(app, ["extra", "stop"])
    assert result.exit_code == 130
    assert "what was stored before stays stored" in result.stderr


def test_an_error_is_one_line_whatever_its_message(capsys: pytest.CaptureFixture[str]) -> None:
    group.complain("first\n  second\ud800")
    assert capsys.readouterr().err == "error: first second\\ud800\n"


def test_help_is_quick_because_nothing_heavy_is_imported() -> None:
    heavy = "{'pydantic', 'anyio', 'numpy', 'qdrant_edge', 'openai', 'onnxruntime', 'tiermem.memory'}"
    script = (
        "import sys\nfrom typer.testing import CliRunner\nfrom tiermem.apps.cli.app import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

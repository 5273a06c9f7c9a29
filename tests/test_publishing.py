"""What a release is made of: metadata, pinned versions, and files made of them; all without a network."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from deploy import release

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = release.read_project()
ADDRESS = "https://github.com/ann/tiermem"
GIVEN = release.OwnerValues(
    repository=ADDRESS,
    authors=[{"name": "Ann «A.» Ånd", "email": "ann@example.org"}],
    pypi_name="tiermem",
    mcp_name="io.github.ann/tiermem",
)
EMPTY = release.OwnerValues(repository="", authors=[], pypi_name="", mcp_name="")
VALUES = """
repository = "https://github.com/ann/tiermem"
authors = [{name = "Ann «A.» Ånd", email = "ann@example.org"}]
pypi_name = "tiermem"
mcp_name = "io.github.ann/tiermem"
"""
LISTS = {
    "constraints.txt": ("local", "model"),
    "deploy/requirements.txt": ("local", "mcp", "model", "postgres", "serve"),
}


def metadata_of(folder: Path) -> dict[str, Any]:
    """The metadata that a build of the folder has."""
    core = ProjectMetadata(str(folder), PluginManager()).core
    return {"authors": core.authors, "urls": core.urls, "readme": core.readme}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the metadata is made of, with all values of an owner."""
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "release.toml").write_text(VALUES, encoding="utf-8")
    return tmp_path


def test_a_build_has_the_values_of_the_owner_and_its_description_leads_to_the_repository(
    folder: Path,
) -> None:
    assert release.read_values(folder) == GIVEN
    built = metadata_of(folder)
    assert built["authors"] == GIVEN.authors
    tag = f"v{PROJECT['version']}"
    assert built["urls"]["Repository"] == ADDRESS
    assert built["urls"]["Changelog"] == f"{ADDRESS}/blob/{tag}/CHANGELOG.md"
    for page in re.findall(rf"{ADDRESS}/(?:blob|raw)/{tag}/([\w./-]+)", built["readme"]):
        assert (ROOT / page).exists(), page
    assert f"({ADDRESS}/raw/{tag}/docs/images/audit.svg)" in built["readme"]
    assert f"({ADDRESS}/blob/{tag}/docs/guide/mcp.md)" in built["readme"]
    assert re.findall(r"\]\((?!https://)[^)]*\)", built["readme"]) == []
    assert "<!-- mcp-name: io.github.ann/tiermem -->" in built["readme"]


def test_a_build_without_these_values_has_no_links_and_the_readme_as_it_is(folder: Path) -> None:
    empty = re.sub(r"= .+", '= ""', VALUES).replace('authors = ""', "authors = []")
    (folder / "release.toml").write_text(empty, encoding="utf-8")
    built = metadata_of(folder)
    assert built == {"authors": [], "urls": {}, "readme": (ROOT / "README.md").read_text(encoding="utf-8")}


def test_each_value_that_is_missing_is_named() -> None:
    assert release.find_problems(GIVEN, PROJECT, f"v{PROJECT['version']}") == []
    assert [one.split("`")[1] for one in release.find_problems(EMPTY, PROJECT)] == [
        "repository",
        "authors",
        "pypi_name",
        "mcp_name",
    ]


@pytest.mark.parametrize(
    ("values", "tag", "problem"),
    [
        ({"repository": "https://example.org/ann/tiermem"}, "", "github"),
        ({"pypi_name": "tiermem-memory"}, "", "pyproject.toml"),
        ({"mcp_name": "tiermem"}, "", "NAMESPACE/NAME"),
        ({}, "v99.0", "v99.0"),
    ],
)
def test_a_value_or_a_tag_that_cannot_be_right_is_refused(
    values: dict[str, Any], tag: str, problem: str
) -> None:
    [found] = release.find_problems(replace(GIVEN, **values), PROJECT, tag)
    assert problem in found


def test_a_release_without_these_values_stops_and_names_the_first() -> None:
    if not release.find_problems(release.read_values(), PROJECT):
        pytest.skip("release.toml has all values")
    done = subprocess.run(
        [sys.executable, "-m", "deploy.release", "check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert release.find_problems(release.read_values(), PROJECT)[0] in done.stderr
    rule = (ROOT / "Makefile").read_text().partition("\nrelease:")[2].splitlines()
    assert "deploy.release check" in rule[1]


def test_files_that_are_made_are_up_to_date() -> None:
    values = release.read_values()
    for name, text in {
        "CITATION.cff": release.write_citation(values, PROJECT),
        "llms.txt": release.write_contents(),
    }.items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"run `make metadata` to write {name}"


def test_who_is_cited_is_in_the_citation_whatever_the_name_is() -> None:
    text = release.write_citation(GIVEN, PROJECT)
    assert f"repository-code: {ADDRESS}\n" in text
    assert text.endswith('authors:\n  - name: "Ann «A.» Ånd"\n    email: "ann@example.org"\n')
    assert release.ANONYMOUS in release.write_citation(EMPTY, PROJECT)


def pins_in(name: str) -> dict[str, list[Requirement]]:
    """The pinned versions of a list, by package."""
    text = (ROOT / name).read_text().replace("\\\n", " ")
    found: dict[str, list[Requirement]] = {}
    for line in text.splitlines():
        requirement, *hashes = line.split(" --hash=sha256:")
        assert hashes, f"{line!r} has no hash"
        assert all(re.fullmatch(r"[0-9a-f]{64} *", one) for one in hashes), line
        pin = Requirement(requirement.strip())
        assert re.fullmatch(r"==[\w.]+", str(pin.specifier)), line
        found.setdefault(canonicalize_name(pin.name), []).append(pin)
    return found


@pytest.mark.parametrize("name", LISTS)
def test_each_need_has_a_version_with_hashes_that_it_allows(name: str) -> None:
    extras = [one for extra in LISTS[name] for one in PROJECT["optional-dependencies"][extra]]
    pins = pins_in(name)
    for need in map(Requirement, [*PROJECT["dependencies"], *extras]):
        versions = [str(pin.specifier).removeprefix("==") for pin in pins[canonicalize_name(need.name)]]
        assert versions
        assert all(version in need.specifier for version in versions), f"run `make constraints`: {need}"


def test_lists_of_versions_agree_and_name_no_index() -> None:
    for name in (*LISTS, "deploy/weights.txt"):
        assert "://" not in (ROOT / name).read_text()
        assert "--index" not in (ROOT / name).read_text()
    here, image = pins_in("constraints.txt"), pins_in("deploy/requirements.txt")
    assert {one: {str(pin.specifier) for pin in here[one]} for one in here} == {
        one: {str(pin.specifier) for pin in image[one]} for one in here
    }


def test_a_group_is_no_extra_and_no_need_is_written_twice() -> None:
    groups, extras = PYPROJECT["dependency-groups"], PROJECT["optional-dependencies"]
    everywhere = [*PROJECT["dependencies"], *(one for extra in extras.values() for one in extra)]
    own = f"{PROJECT['name']}["
    in_groups = [
        one for group in groups.values() for one in group if isinstance(one, str) and not one.startswith(own)
    ]
    assert not {*in_groups} & {*everywhere}
    assert len(in_groups) == len({*in_groups})


def test_each_group_of_the_makefile_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = re.findall(r"--group (\w+)", makefile) + re.findall(r"FRAMEWORKS=(\w+)", makefile)
    assert {"dev", "docs", "release", "crewai"} <= {*named}
    assert {*named} <= {*PYPROJECT["dependency-groups"]}


def test_every_supported_python_has_a_classifier() -> None:
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert named == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["requires-python"] == f">={named[0]}"


def test_the_entry_for_the_registry_keeps_its_limits_and_runs_a_command_that_there_is() -> None:
    from tests.test_documents import is_parsed

    entry = release.build_server_entry(GIVEN, PROJECT)
    assert json.loads(json.dumps(entry)) == entry
    assert 1 <= len(entry["description"]) <= 100
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    [package] = entry["packages"]
    assert entry["version"] == package["version"] == PROJECT["version"]
    [added] = [one["value"] for one in package["runtimeArguments"]]
    assert Requirement(added).extras <= {*PROJECT["optional-dependencies"]}
    words: list[str] = []
    for one in package["packageArguments"]:
        words += [*([one["name"]] if "name" in one else []), one.get("value", "/memory")]
    is_parsed("tiermem", words)


ON_WINDOWS = "import sys; sys.platform = 'win32'; import tiermem"


def test_on_windows_the_import_says_that_wsl_runs_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ON_WINDOWS], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "ImportError: TierMem needs POSIX file locks" in done.stderr
    assert "WSL" in done.stderr


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_targets_of_make_and_pinned_actions_with_no_permission_but_those_of_its_jobs(
    workflow: Path,
) -> None:
    text = workflow.read_text()
    assert "\npermissions: {}\n" in text
    for used in re.findall(r"uses: (.+)", text):
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", used), used
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
    for run in re.findall(r"run: (.+)", text):
        called = re.fullmatch(
            r"(?:sudo env \"PATH=\$PATH\" )?make ([\w-]+)(?: TAG=\"\$GITHUB_REF_NAME\")?", run
        )
        assert called, run
        assert called[1] in TARGETS, run


def test_there_are_workflows_for_both_systems_the_documentation_and_a_release() -> None:
    assert [path.stem for path in WORKFLOWS] == ["check", "docs", "macos", "release"]


DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_what_the_image_is_made_with_is_a_step_of_the_script_and_its_server_is_not_root() -> None:
    steps = re.findall(r"^RUN (.+)$", DOCKERFILE, re.MULTILINE)
    assert steps
    script = (ROOT / "deploy" / "build.sh").read_text()
    for step in map(json.loads, steps):
        assert step[0] == "/deploy/build.sh"
        assert f"\n{step[1]}) " in script
    assert re.search(r"^USER [1-9]\d+:[1-9]\d+$", DOCKERFILE, re.MULTILINE)
    assert "\nHEALTHCHECK " in DOCKERFILE


def test_a_step_that_there_is_not_is_refused() -> None:
    done = subprocess.run([ROOT / "deploy" / "build.sh", "cook"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "no step is called cook\n")


def test_the_image_gets_all_that_the_wheel_is_built_from() -> None:
    from tests.test_installing import wheel_files

    lines = (ROOT / ".dockerignore").read_text().splitlines()
    sent = {line.removeprefix("!") for line in lines if line.startswith("!")}
    files = {path.relative_to(ROOT) for path in wheel_files().values()}
    files |= {
        Path(name) for name in ("pyproject.toml", "hatch_build.py", "release.toml", "README.md", "LICENSE")
    }
    assert {file for file in files if file.parts[0] not in sent} == set()


def test_the_containers_have_a_read_only_file_system_and_no_password_of_ours() -> None:
    compose = (ROOT / "compose.yaml").read_text()
    assert "\n    read_only: true\n" in compose
    assert set(re.findall(r"PASSWORD: (.+)", compose)) == {"${DATABASE_PASSWORD:?a password of your own}"}
    assert re.findall(r"ports: \[(.+)\]", compose) == ['"127.0.0.1:8000:8000"']

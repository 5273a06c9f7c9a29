"""CONTRIBUTING says where a change goes, and these places are there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()


def places() -> list[str]:
    named = re.findall(r"`((?:\.?[\w<>-]+/)+[\w<>.-]*|[A-Z]\w+\.md)`", TEXT)
    return sorted({place for place in named if not place.startswith((".venv/", "build/"))})


def there(place: str) -> bool:
    """Whether a file or folder is there; of `<name>`, whether its folder is there and holds files like it."""
    return any(ROOT.glob(re.sub(r"<\w+>", "*", place.rstrip("/"))))


def rows() -> list[str]:
    """The rows of the table of changes, without its heading."""
    return TEXT.partition("| to add or change |")[2].partition("\n\n")[0].splitlines()[2:]


def sources(place: str) -> Iterator[Path]:
    """The files of a place, which is named by its path, or by its end where another one says the folder."""
    pattern = re.sub(r"<\w+>", "*", place.rstrip("/"))
    for found in list(ROOT.glob(pattern)) or [
        *ROOT.glob(f"tiermem/**/{pattern}"),
        *ROOT.glob(f"eval/**/{pattern}"),
    ]:
        yield from (*found.rglob("*.py"), *found.rglob("*.md")) if found.is_dir() else (found,)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.split("|")[1].strip())
def test_every_name_of_a_row_is_in_a_file_of_the_row(row: str) -> None:
    marked = re.findall(r"`([^` ]+)`", row)
    files = {name for name in marked if "/" in name or name.endswith((".py", ".toml"))}
    names = {name for name in marked if re.fullmatch(r"[A-Za-z_][\w.]*", name)} - files
    words = {
        word for place in files for file in sources(place) for word in re.findall(r"\w+", file.read_text())
    }
    assert not {name for name in names if not words.issuperset(name.split("."))}


@pytest.mark.parametrize("place", places())
def test_every_place_that_is_named_is_there(place: str) -> None:
    assert there(place)


def test_each_of_the_commonest_changes_has_a_row() -> None:
    rows = re.findall(r"^\| (.+?) \|", TEXT, re.MULTILINE)
    for change in (
        "an embedder",
        "a vector database",
        "an input format",
        "a command",
        "an HTTP operation",
        "a setting",
        "a new prompt",
        "a metric",
        "a dataset",
        "a part of the engine",
        "a router",
        "a policy of eviction",
        "a kind of record",
        "a field of `Answer`",
        "how evidence is ranked",
    ):
        assert any(row.startswith(change) for row in rows), change


def test_a_commit_is_checked_by_the_programs_that_check_runs() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    check = (ROOT / "Makefile").read_text().partition("\ncheck:")[2].partition("\n\n")[0]
    run_by_hooks = set(re.findall(r"entry: \.venv/bin/(ruff \w+|[\w-]+)", hooks))
    run_by_check = set(re.findall(r"\$\(BIN\)/(ruff \w+|[\w-]+)", check)) - {"python"}
    assert run_by_hooks == run_by_check

"""CONTRIBUTING says where a change goes, and these places are there."""

import re
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

"""The planted bugs are where they say, each once; a few are really planted and found."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.planted.bug import Bug
from tests.planted.bugs import BUGS
from tests.planted.planting import ROOT, verdict


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_replaces_what_stands_once_and_leaves_code(bug: Bug) -> None:
    ast.parse(bug.planted((ROOT / bug.file).read_text(encoding="utf-8")))
    for test in bug.found_by:
        assert (ROOT / test.partition("::")[0]).exists()


def test_every_bug_has_a_name_of_its_own() -> None:
    assert not [name for name, times in Counter(bug.name for bug in BUGS).items() if times > 1]


def test_a_bug_that_is_not_there_is_told() -> None:
    bug = Bug(name="b", file="f", before="no such words", after="", found_by=())
    with pytest.raises(ValueError, match="stands 0 times in f"):
        bug.planted("some words")


def small_project(tmp_path: Path) -> Path:
    """Code with a test, and a test that fails whatever the code does."""
    (tmp_path / "doubling.py").write_text("def twice(n: int) -> int:\n    return n * 2\n")
    (tmp_path / "test_doubling.py").write_text(
        "from doubling import twice\n\n\ndef test_twice():\n    assert twice(3) == 6\n"
    )
    (tmp_path / "test_broken.py").write_text("def test_broken():\n    assert False\n")
    return tmp_path


@pytest.mark.parametrize(
    ("after", "tests", "found", "survived"),
    [
        ("return n * 3", "test_doubling.py", "test_doubling.py::test_twice", ""),
        ("return n + n", "test_doubling.py", "", "all tests pass"),
        ("return n * 3", "test_broken.py", "", "test_broken.py::test_broken fails without the bug too"),
        ("return (", "test_doubling.py", "", "the tests could not be run"),
    ],
)
def test_a_bug_is_found_by_a_test_that_passes_without_it(
    tmp_path: Path, after: str, tests: str, found: str, survived: str
) -> None:
    tree = small_project(tmp_path)
    bug = Bug(name="b", file="doubling.py", before="return n * 2", after=after, found_by=(tests,))
    became = verdict(bug, tree)
    assert became.found_by == found
    assert became.survived.startswith(survived)
    assert bug.before in (tree / "doubling.py").read_text()

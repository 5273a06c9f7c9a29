"""The code of each planted bug occurs once where the bug says; a few are really planted and found."""

import ast
import functools
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.planted.__main__ import describe_missed, explanation
from tests.planted.bug import Bug
from tests.planted.bugs import BUGS
from tests.planted.planting import ROOT, verdict
from tests.tiers import is_listed, read_list


@functools.cache
def read_code(file: str) -> tuple[str, str]:
    """Read the code of a file of the repository, as it is and as `ast.unparse` formats it."""
    code = (ROOT / file).read_text(encoding="utf-8")
    return code, ast.unparse(ast.parse(code))


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_changes_code_that_occurs_once_however_it_is_formatted(bug: Bug) -> None:
    code, unformatted = read_code(bug.file)
    planted = bug.planted(code)
    assert planted != unformatted
    assert bug.planted(unformatted) == planted
    compile(planted, bug.file, "exec", dont_inherit=True)
    for test in bug.found_by:
        assert (ROOT / test.partition("::")[0]).exists()


def test_the_first_test_of_every_bug_is_in_the_quick_tier() -> None:
    listed = read_list()
    assert not [bug.name for bug in BUGS if is_listed(bug.found_by[0], listed)]


def test_at_most_ten_bugs_are_left_to_the_whole_suite() -> None:
    assert len([bug for bug in BUGS if bug.slow_reason]) <= 10
    assert not [bug.name for bug in BUGS if bug.slow_reason and bug.excuse]


@pytest.mark.parametrize(
    ("found_by", "given", "explained"),
    [
        ("test_it.py::test_all", {"slow_reason": "it takes a minute"}, "it takes a minute"),
        ("test_it.py::test_all", {"excuse": "no harm"}, ""),
        ("", {"slow_reason": "it takes a minute"}, ""),
        ("", {"excuse": "no harm"}, "no harm"),
    ],
)
def test_a_bug_is_missed_with_a_reason_only_where_it_has_the_one_that_is_needed(
    found_by: str, given: dict[str, str], explained: str
) -> None:
    bug = replace(bug_in("add", "a", "b"), **given)  # type: ignore[arg-type]  # each is a text
    assert explanation(bug, found_by) == explained
    line = describe_missed(bug, found_by)
    assert line.endswith(explained or ("without slow_reason" if found_by else "without excuse"))


def test_every_bug_has_a_name_of_its_own() -> None:
    assert not [name for name, times in Counter(bug.name for bug in BUGS).items() if times > 1]


COUNTERS = '''
import functools

LIMIT = 8

class Counter:
    """Counts."""

    step: int = 1

    @functools.cache
    def read(self, most=LIMIT, *, label="n"):
        match label:
            case "n" if most:
                return self._held
            case _:
                return f"{label}: {self._held!r}"

    def add(self, more):
        if not more:  # nothing to add
            return
        self._check(more)
        self._held = (
            self._held + more
        )

        def add(more):
            return more + more

async def add(more):
    await more
'''


def bug_in(function: str, before: str, after: str) -> Bug:
    return Bug(name="b", file="counters.py", function=function, before=before, after=after, found_by=())


@pytest.mark.parametrize(
    ("function", "before", "after", "was", "becomes"),
    [
        ("", "LIMIT = 8", "LIMIT = 9", "LIMIT = 8", "LIMIT = 9"),
        ("Counter", "step: int = 1", "step: int = 2", "step: int = 1", "step: int = 2"),
        ("Counter.read", "functools.cache", "staticmethod", "@functools.cache", "@staticmethod"),
        ("Counter.read", "LIMIT", "LIMIT + 1", "most=LIMIT", "most=LIMIT + 1"),
        (
            "Counter.read",
            "f'{label}: {self._held!r}'",
            "label",
            "f'{label}: {self._held!r}'",
            "label",
        ),
        (
            "Counter.read",
            'case "n" if most:\n    return self._held',
            "",
            "            case 'n' if most:\n                return self._held\n",
            "",
        ),
        ("Counter.add", "self._held+more", "more", "self._held + more", "more"),
        ("Counter.add", "(not more)", "True", "not more", "True"),
        (
            "Counter.add",
            "return",
            "self._check(1)\nreturn",
            "return\n",
            "self._check(1)\n            return\n",
        ),
        ("Counter.add", "return", "", "            return\n", "            pass\n"),
        (
            "Counter.add",
            """
                if not more:
                    return
                self._check(more)
            """,
            "self._check(more)",
            "        if not more:\n            return\n        self._check(more)\n",
            "        self._check(more)\n",
        ),
        ("Counter.add.add", "more + more", "more", "more + more", "more"),
        ("add", "await more", "pass", "await more", "pass"),
    ],
)
def test_an_edit_of_syntax_changes_one_place(
    function: str, before: str, after: str, was: str, becomes: str
) -> None:
    unformatted = ast.unparse(ast.parse(COUNTERS))
    assert bug_in(function, before, after).planted(COUNTERS) == unformatted.replace(was, becomes, 1)


def test_code_that_moves_in_its_file_is_found_and_so_is_code_beside_what_is_renamed() -> None:
    tree = ast.parse(COUNTERS.replace("_check", "_verify"))
    tree.body.reverse()
    [counter] = (node for node in tree.body if isinstance(node, ast.ClassDef))
    counter.body.reverse()
    moved = ast.unparse(tree)
    assert bug_in("Counter.add", "self._held + more", "more").planted(moved) == moved.replace(
        "self._held + more", "more"
    )


@pytest.mark.parametrize(
    ("function", "before", "reason"),
    [
        ("Counter.subtract", "return", "counters.py has no function or class 'Counter.subtract'; set `file`"),
        (
            "Counter.add",
            "self._held - more",
            "occurs 0 times in Counter.add of counters.py, not once; set `before`",
        ),
        (
            "Counter.read",
            "self._held",
            "'self._held' occurs 2 times in Counter.read of counters.py, not once",
        ),
        ("", "more", "'more' occurs 0 times in the top level of counters.py"),
        ("add", "", "'' occurs"),
    ],
)
def test_a_bug_whose_code_is_not_there_once_is_an_error_that_says_what_to_do(
    function: str, before: str, reason: str
) -> None:
    with pytest.raises(ValueError, match="planted bug 'b': ") as error:
        bug_in(function, before, "None").planted(COUNTERS)
    assert reason in str(error.value)


def test_an_edit_that_is_not_python_is_an_error_that_names_the_bug() -> None:
    with pytest.raises(SyntaxError, match="planted bug 'b'"):
        bug_in("Counter.read", '"n" if most', "").planted(COUNTERS)


def small_project(tmp_path: Path) -> Path:
    """Code with a test, a test that fails whatever the code does, and one that fails for its format."""
    (tmp_path / "doubling.py").write_text("def twice(n: int) -> int:\n    return (n * 2)  # two\n")
    (tmp_path / "test_doubling.py").write_text(
        "from doubling import twice\n\n\ndef test_twice():\n    assert twice(3) == 6\n"
    )
    (tmp_path / "test_broken.py").write_text("def test_broken():\n    assert False\n")
    (tmp_path / "test_format.py").write_text(
        "from pathlib import Path\n\n\n"
        "def test_format():\n    assert '# two' in Path('doubling.py').read_text()\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("after", "tests", "found", "survived"),
    [
        ("return n * 3", "test_doubling.py", "test_doubling.py::test_twice", ""),
        ("return n + n", "test_doubling.py", "", "all tests pass"),
        ("return n * 3", "test_broken.py", "", "test_broken.py::test_broken fails without the bug too"),
        ("return n * 3", "test_format.py", "", "test_format.py::test_format fails without the bug too"),
        ("break", "test_doubling.py", "", "the tests could not be run"),
    ],
)
def test_a_bug_is_found_by_a_test_that_passes_without_it(
    tmp_path: Path, after: str, tests: str, found: str, survived: str
) -> None:
    tree = small_project(tmp_path)
    code = (tree / "doubling.py").read_text()
    bug = Bug(
        name="b",
        file="doubling.py",
        function="twice",
        before="return n * 2",
        after=after,
        found_by=(tests,),
    )
    became = verdict(bug, tree)
    assert became.found_by == found
    assert became.survived.startswith(survived)
    assert (tree / "doubling.py").read_text() == code

"""One word, one thing: words that were given up stand nowhere any more, and no name has two meanings.

Decisions and what the changelog says of the past keep the words of their day, and so do words of people in
the dialogue that tests are made of.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HISTORY = ("CHANGELOG.md", "docs/decisions/", "tests/test_words.py")

GIVEN_UP: Mapping[str, tuple[str, tuple[str, ...]]] = {
    # What may not stand, what is said in its place, and where it may stand for another reason.
    r"House": ("Components", ()),
    r"(?i:doors?(?![^\n]*(\bshade\b|\bcode is\b)))": (
        "api, or memory",
        ("tiermem/text/rare.py", "tiermem/text/attributes/english.toml"),
    ),
    r"shelf|shelves": ("fetch_pages", ("tiermem/text/rare.py",)),
    r"patiently|Passing": ("retry, Transient", ()),
    r"(?<!`)Gate": ("ReadWriteLock", ()),
    r"(?i:in_order)": ("map_ordered", ()),
    r"_?tills?(?! then\b)(?!\|)": (
        "meter, or what it is",
        ("tiermem/text/rare.py", "tiermem/text/attributes/english.toml"),
    ),
    r"(?i:desks?|workshops?)": ("what it is", ("tiermem/text/rare.py", "tests/writing/test_erase.py")),
    r"(?i:_?sittings?)": ("session, or what it is", ()),
    r"_?turn_the_page": ("_start_new_day", ()),
    r"(?i:_?exhibits?)": ("EvidenceItem", ()),
    r"(?i:_?telltales?)": ("Fingerprints", ()),
    r"(?i:_?residual(s|_scan|scan)?|residues?)": ("leftover scan", ()),
    r"Covers|cover\(": ("similarity", ()),
    r"(?i:_?dialects?)": ("request_format", ()),
    r"sendable|printable\(": ("join_surrogates, replace_surrogates (text/unicode.py)", ()),
    r"(?i:_?standpoints?)": ("UnitHistory", ()),
    r"(?i:_?stub(s|bed|_\w+)?(?!\"))": ("tombstone", ()),
    r"(?i:stand[-_]ins?)": ("tombstone, or replacement", ("tiermem/text/attributes/english.toml",)),
    r"voided|void_\w+": ("tombstone", ()),
    r"Gone": ("tombstone, or what was erased", ()),
}

ONE_MEANING = frozenset(
    [
        "Asked",
        "Candidate",
        "LoggedEntry",
        "Passage",
        "Plan",
        "Question",
        "Scope",
        "fuse",
    ]
)
"""Names of classes and functions that stood for several things, and stand for one."""

ONE_SUBJECT: Mapping[str, str] = {
    r"restor": r"pagestore/backup\.py|tiermem/api/copies\.py|tiermem/apps/cli/restore\.py|eval/.*",
    r"reinstat": r"tiermem/(?:api/memory|apps/cli/reinstate|ledger/kinds/reinstated)\.py"
    r"|tiermem/(?:writing|ledger/folds)/.*",
    r"(?<![a-z])grade": r"tiermem/proof/.*|tiermem/reading/check\.py|eval/.*",
}
"""Words of names that mean one thing, and the files about it: a store made of a backup, a unit that holds
again, what code compares. What is displayed of an answer is its support."""

VERBS = frozenset(["told", "held", "standing", "Told", "Held", "Said", "Standing"])
"""Words for sentences: no class, function or field is called so, for it said too little of what it was."""


def texts() -> Iterator[tuple[str, str]]:
    """Every text that is ours and not history, by its path."""
    folders = ("docs", "eval", "pagestore", "tests", "tiermem")
    for path in (*ROOT.glob("*.*"), *(path for folder in folders for path in (ROOT / folder).rglob("*.*"))):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in (".py", ".md", ".toml") and not name.startswith(HISTORY):
            yield name, path.read_text(encoding="utf-8")


def given_up_in(name: str, text: str) -> list[str]:
    """Where a text has a word that was given up."""
    return [
        f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {found[0]!r}, say {instead}"
        for (word, (instead, may_stand)) in GIVEN_UP.items()
        if name not in may_stand
        for found in re.finditer(rf"\b(?:{word})(?!\w)", text)
    ]


def defined(name: str, text: str) -> Iterator[tuple[str, str]]:
    """The classes, functions and fields that a file defines, and where."""
    for node in ast.walk(ast.parse(text)):
        where = f"{name}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name.strip("_"), where
        if isinstance(node, ast.ClassDef):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    yield field.target.id.strip("_"), where


def definitions() -> dict[str, list[str]]:
    """Where the packages define a name."""
    found = defaultdict[str, list[str]](list)
    for name, text in texts():
        if name.startswith(("eval/", "pagestore/", "tiermem/")) and name.endswith(".py"):
            for one, where in defined(name, text):
                found[one].append(where)
    return found


def outside_subject(name: str, file: str) -> bool:
    """Whether a name has a word of `ONE_SUBJECT`, and the file is not about that."""
    return any(
        re.search(word, name, re.IGNORECASE) is not None and re.fullmatch(files, file) is None
        for word, files in ONE_SUBJECT.items()
    )


def test_words_that_were_given_up_stand_nowhere() -> None:
    found = [line for name, text in texts() for line in given_up_in(name, text)]
    assert not found, "\n".join(found)


def test_no_name_has_two_meanings() -> None:
    found = definitions()
    assert {name: where for name in ONE_MEANING if len(where := found.get(name, [])) > 1} == {}
    assert {name: found[name] for name in VERBS if name in found} == {}


def test_a_word_with_one_subject_is_in_no_name_of_other_files() -> None:
    found = definitions()
    assert {
        name: where for name in found for where in found[name] if outside_subject(name, where.split(":")[0])
    } == {}


@pytest.mark.parametrize(
    ("name", "file", "is_found"),
    [
        ("restore", "tiermem/api/memory.py", True),
        ("restore", "tiermem/api/copies.py", False),
        ("Restored", "tiermem/writing/values.py", True),
        ("restore_units", "tiermem/ledger/folds/units.py", True),
        ("unrestored", "tiermem/apps/http/operations.py", True),
        ("reinstate", "tiermem/api/copies.py", True),
        ("reinstate", "tiermem/api/memory.py", False),
        ("ReinstatedUnit", "pagestore/backup.py", True),
        ("grade", "tiermem/model.py", True),
        ("answer_grade", "tiermem/apps/present/answers.py", True),
        ("Grade", "tiermem/proof/grade.py", False),
        ("degraded", "tiermem/model.py", False),
    ],
)
def test_a_word_in_a_file_about_something_else_is_found(name: str, file: str, is_found: bool) -> None:
    assert outside_subject(name, file) == is_found


SHOWN = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("tiermem/apps", "tiermem/api", "docs/guide")
    for path in (ROOT / folder).rglob("*.*")
    if path.suffix in (".py", ".js", ".html", ".md")
)


@pytest.mark.parametrize("name", ["README.md", *SHOWN])
def test_what_is_displayed_calls_the_support_of_an_answer_nothing_else(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.findall(r"(?i)\b(?:grade[sd]?|support (?:label|grade)s?|labels? of support)\b", text) == []


@pytest.mark.parametrize(
    "planted",
    [
        "class Standpoint:",
        "its stub is as long",
        "at the door",
        "def residual_scan(self)",
        "receipt.residual.clean",
        "the stand-in for a record",
        "a _Sitting of",
        "sendable(text)",
    ],
)
def test_a_word_that_comes_back_is_found(planted: str) -> None:
    assert given_up_in("tiermem/new.py", f"{planted}\n")


def test_what_may_stand_does() -> None:
    assert not given_up_in(
        "tests/new.py", 'target.get("stub", target)\nit lies in the indoor pool until now\n'
    )
    assert given_up_in("tests/new.py", "the door")
    assert not given_up_in("tiermem/text/rare.py", "dont door doubt")


def test_a_second_meaning_is_found() -> None:
    code = "class _Told:\n    held: int\n    def told(self): ...\n"
    assert [name for name, _ in defined("new.py", code)] == ["Told", "held", "told"]

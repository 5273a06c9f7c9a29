"""What README and documentation show is what happens; what they name is there."""

import ast
import inspect
import io
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import eval.cli
import eval.research.cli
import tiermem
import tiermem.apps.cli.app
from tiermem.dialogue import read_dialogue

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
_AS_THEY_ARE = {DOCS / "decisions", DOCS / "results"}
"""Records of their day: what they name may have another name by now."""
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(page for page in sorted(DOCS.rglob("*.md")) if page.parent not in _AS_THEY_ARE),
]
PROGRAMS: dict[str, Any] = {
    "tiermem": get_command(tiermem.apps.cli.app.app),
    "eval": get_command(eval.cli.app),
    "eval.research": get_command(eval.research.cli.app),
}


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def commands(page: Path, *languages: str) -> Iterator[list[str]]:
    """The commands of a page's shell blocks, word by word; of a pipe each of its parts."""
    lines = "\n".join(block for language in languages for block in blocks(page, language)).replace(
        "\\\n", " "
    )
    for line in lines.splitlines():
        split = shlex.shlex(line, posix=True, punctuation_chars=True)
        split.whitespace_split = True
        words: list[str] = []
        for word in [*split, ";"]:
            if set(word) <= set("();<>|&"):
                yield words
                words = []
            else:
                words.append(word)


def is_parsed(program: str, words: list[str]) -> None:
    """Fails on a command, an option or a number of arguments that the program does not know."""
    group = PROGRAMS[program]
    if set(words) & {"--help", "--version"} or not words:
        return
    assert words[0] in group.commands, f"{program} has no command {words[0]!r}"
    group.commands[words[0]].make_context(words[0], words[1:])


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name_of)
def test_the_code_of_a_page_runs_from_top_to_bottom_and_prints_what_is_shown_beside_it(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page, "python"):
        exec(compile(block, name_of(page), "exec"), names)  # noqa: S102  (our own)
        printed, _ = capsys.readouterr()
        for promised in re.findall(r"^ *(?:print\(.*)?\)  # (.+)", block, re.MULTILINE):
            _, found, printed = printed.partition(promised)
            assert found, f"{promised!r} is not printed, or not in its place"
    if page.name == "README.md":
        assert [entry.name for entry in tmp_path.iterdir()] == ["memory"]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "json")], ids=name_of)
def test_the_lines_of_json_a_page_shows_are_read_as_dialogue(page: Path) -> None:
    for block in blocks(page, "json"):
        assert read_dialogue(io.StringIO(block))[0].turns == len(block.splitlines())


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")], ids=name_of)
def test_every_command_a_page_shows_is_one_that_there_is(page: Path) -> None:
    targets = set(re.findall(r"^([\w.%-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for words in commands(page, "sh"):
        while words and "=" in words[0]:
            words.pop(0)
        match [Path(word).name for word in words[:1]] + words[1:]:
            case ["tiermem", *rest]:
                is_parsed("tiermem", rest)
            case [("python" | "python3"), "-m", ("tiermem" | "eval" | "eval.research") as program, *rest]:
                is_parsed(program, rest)
            case [("python" | "python3"), "-m", module, *_] if module.partition(".")[0] in (
                "tests",
                "pagestore",
            ):
                assert list(ROOT.glob(f"{module.replace('.', '/')}*")), module
            case ["make", *rest]:
                assert {word for word in rest if "=" not in word} <= targets, rest


def test_a_command_that_there_is_not_is_found_out() -> None:
    for wrong in ("fetch", "ask", "ask what when", "ask --colour red what", "pages p1", "restore a.tar"):
        with pytest.raises(Exception, match=r".+"):
            is_parsed("tiermem", wrong.split())
    is_parsed("tiermem", ["ask", "--json", "what?"])


def test_the_page_of_commands_has_a_row_for_each_and_no_other() -> None:
    rows = re.findall(r"^\| `tiermem ([\w-]+)", (DOCS / "commands.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(PROGRAMS["tiermem"].commands)


def test_every_public_name_has_an_entry_in_the_reference_and_no_other_name_has() -> None:
    directive = re.compile(r"^\.\. auto(?:class|function|exception):: (\w+)(?:\(\))?$", re.MULTILINE)
    entries = [
        name for page in (DOCS / "reference").glob("*.md") for name in directive.findall(page.read_text())
    ]
    assert sorted(entries) == sorted(tiermem.__all__)


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.rglob("guide/*.md"))], ids=name_of)
def test_every_call_that_is_shown_in_passing_has_the_arguments_of_its_method(page: Path) -> None:
    for shown in re.findall(r"`(?:checkpoint = )?(memory\.\w+\([^`]*\))`", page.read_text()):
        call = ast.parse(shown, mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Attribute)
        method = inspect.signature(getattr(tiermem.Memory, call.func.attr))
        method.bind(tiermem.Memory, *call.args, **{str(given.arg): given.value for given in call.keywords})


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_setting_and_method_a_page_names_exists(page: Path) -> None:
    text = page.read_text() if page.name != "CHANGELOG.md" else ""
    for name in set(re.findall(r"\bmemory\.(\w+)\(", text)):
        assert hasattr(tiermem.Memory, name), name
    for name in set(re.findall(r"\btiermem\.(\w+)\(", text)):
        assert name in tiermem.__all__, name
    for name in set(re.findall(r"TIERMEM_([A-Z_]+)=", text)):
        assert name.lower() in {*tiermem.Settings.model_fields, "store", "space", "cache", "shared"}, name


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent == ROOT], ids=name_of)
def test_every_file_that_is_linked_is_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_make_alone_lists_every_target() -> None:
    (listed,) = re.findall(r"^\.PHONY: (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    command = ["make", "--no-print-directory"]  # run by another make, it would tell where it goes
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [word for line in shown.splitlines() for word in line.split("  ")[1].split()] == listed.split()


def test_every_figure_of_the_comparison_stands_in_the_results() -> None:
    results = "\n".join(page.read_text() for page in (DOCS / "results").glob("*.md"))
    by_hand = re.sub(r"<!-- figures: .*?<!-- end -->", "", (DOCS / "compare.md").read_text(), flags=re.DOTALL)
    figures = re.findall(r"\.\d{3}\b|\b\d+,\d{3}\b", by_hand)
    assert figures
    assert not [figure for figure in figures if figure not in results]

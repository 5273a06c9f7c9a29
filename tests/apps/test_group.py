"""Help, usage, plug-ins and how errors end."""

import subprocess
import sys
from importlib.metadata import EntryPoint
from inspect import signature
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import tiermem
from tiermem.apps.cli import group, options
from tiermem.apps.cli.app import COMMANDS, app, load, with_options
from tiermem.storage import parse_place

runner = CliRunner()

NO_COMMANDS = {"__init__", "__pycache__", "app", "group", "options", "read_files", "checkpoint_files"}
"""What else lies in the folder of the commands."""


def test_help_names_every_command() -> None:
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert all(f"│ {command} " in result.output for command in COMMANDS)


OTHERWISE = {"eval", "hook", "keys", "look", "mcp", "serve"}
"""Groups of commands, and servers that speak a protocol."""


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in OTHERWISE])
def test_every_command_has_help_and_speaks_json(command: str) -> None:
    result = runner.invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "--json" in result.output
    assert ("--store" in result.output) is (command not in ("verify-bundle", "backup", "restore", "copy"))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_listed_with_the_first_line_of_its_help(command: str) -> None:
    assert load(command).help.partition("\n\n")[0] == COMMANDS[command]


def test_every_file_of_a_command_is_listed() -> None:
    files = {path.stem for path in Path(group.__file__).parent.iterdir()}
    assert files - NO_COMMANDS == {command.replace("-", "_") for command in COMMANDS}


def test_a_group_of_options_stands_where_its_parameter_stands() -> None:
    seen: list[object] = []

    def look(
        question: str, *, place: options.SpaceOptions, session: str = "s", output: options.Output
    ) -> None:
        seen.extend((question, place, session, output))

    shown = with_options(look)
    assert list(signature(shown).parameters) == ["question", "store", "space", "agent", "session", "as_json"]
    shown(question="Who?", store=parse_place("m"), space="ann", agent=None, session="x", as_json=True)
    assert seen == [
        "Who?",
        options.SpaceOptions(store=parse_place("m"), space="ann"),
        "x",
        options.Output(as_json=True),
    ]


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


HEAVY = {"pydantic", "anyio", "numpy", "rapidfuzz", "openai", "onnxruntime", "tiermem.api"}


def test_help_is_quick_because_neither_a_command_nor_anything_heavy_is_imported() -> None:
    script = (
        "import sys\nfrom typer.testing import CliRunner\n"
        "from tiermem.apps.cli.app import COMMANDS, app, load\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "print(sorted(name for name in sys.modules if name.startswith('tiermem.apps')))\n"
        "[load(name) for name in COMMANDS]\n"
        f"print(sorted({HEAVY} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    named = ["tiermem.apps", "tiermem.apps.cli", "tiermem.apps.cli.app", "tiermem.apps.cli.group"]
    assert done.stdout == f"{named}\n[]\n"


@pytest.mark.parametrize(
    ("typed", "offered"), [("tiermem ver", "verify-bundle"), ("tiermem ask --sp", "--space")]
)
def test_commands_and_their_options_are_completed(typed: str, offered: str) -> None:
    words = typed.split()
    asked = {"_TIERMEM_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    completed = runner.invoke(app, [], env=asked, prog_name="tiermem")
    assert offered in completed.stdout.split()

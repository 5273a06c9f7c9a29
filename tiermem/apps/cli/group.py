"""The command group: expected failures become one clear line, and other packages add commands of their own.

A package adds commands with an entry point in the group `tiermem.commands` whose value is a `typer.Typer`;
it is imported only when its command is run or listed.
"""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from pagestore.errors import Locked, NotAStore
from tiermem.errors import EmbedderUnavailable, IndexLocked, ModelError, TierMemError

ENTRY_POINTS = "tiermem.commands"
EXIT_ERROR = 1
EXIT_DAMAGE = 3
EXIT_INTERRUPTED = 130
"""Exit codes: an error in one line, damage found, and Ctrl-C."""


class CommandGroup(TyperGroup):
    """Typer's group, with errors a user can act on in place of tracebacks."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what can be expected to go wrong ends in one line on stderr and code 1."""
        try:
            return super().invoke(ctx)
        except TierMemError as error:
            complain(f"{error}{_advice(error)}")
            raise typer.Exit(EXIT_ERROR) from error
        except KeyboardInterrupt as error:
            complain("interrupted; what was stored before stays stored, run it again to go on")
            raise typer.Exit(EXIT_INTERRUPTED) from error


class OpenGroup(CommandGroup):
    """The group to which other packages add commands."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Our commands in the order they are written, then those of other packages."""
        own = super().list_commands(ctx)
        return [*own, *sorted(_plugins().keys() - set(own))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by name; one that cannot be imported says so when it is run."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in _plugins():
            return own
        return _load_command(_plugins()[cmd_name])


def complain(message: str) -> None:
    """One line on stderr that begins with `error:`."""
    one_line = " ".join(message.split()).encode("utf-8", "backslashreplace").decode("utf-8")
    print(f"error: {one_line}", file=sys.stderr)  # noqa: T201 - plain on purpose: scripts read it


def remark(message: str) -> None:
    """One line on stderr that begins with `note:`."""
    print(f"note: {message}", file=sys.stderr)  # noqa: T201 - as above


def _advice(error: Exception) -> str:
    """What to do next, for errors whose message cannot know that it is read in a terminal."""
    for kind, advice in _ADVICE:
        if isinstance(error, kind):
            return f" ({advice})"
    return ""


_ADVICE: tuple[tuple[type[Exception], str], ...] = (
    (Locked, "wait for the other process to end, or name another --store"),
    (IndexLocked, "wait for the other process to end; `tiermem page` and `audit` work meanwhile"),
    (NotAStore, "name the directory with --store, or make one with `tiermem ingest FILE`"),
    (ModelError, "`--engine local` works without a model; `tiermem doctor` looks at what is missing"),
    (EmbedderUnavailable, "`tiermem doctor` looks at what is missing"),
)


def _plugins() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def _load_command(point: EntryPoint) -> Any:
    try:
        command = get_command(point.load())
    except ImportError as error:
        reason = str(error)

        def unavailable() -> None:
            raise TierMemError(f"the command {point.name!r} cannot be loaded: {reason}")

        broken = typer.Typer(add_completion=False)
        broken.command(help=f"Cannot be loaded: {reason}")(unavailable)
        command = get_command(broken)
    command.name = point.name
    return command

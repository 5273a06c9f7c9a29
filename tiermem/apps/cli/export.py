"""`tiermem export`: what an export holds, how to read it back, and what it means for what is erased later."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.cli.group import remark
from tiermem.apps.present.progress import progress
from tiermem.apps.present.tables import plural
from tiermem.text.unicode import show_controls


def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to; - writes to standard output.")],
    *,
    place: options.SpaceOptions,
    session: options.Session = None,
    replace: options.Replace = False,
    looking: options.Looking,
) -> None:
    """Write the dialogue of a space as JSON lines, which `tiermem ingest` reads back.

    What was erased is not in it, and what is erased later stays in it. `tiermem backup` writes
    everything, with ids and proofs.
    """
    to = sys.stdout.buffer if file == "-" else file
    with (
        place.open(read_only=True) as memory,
        progress(f"{memory.space}: writing", "pages") as report,
    ):
        done = memory.export(to, session=session, replace=replace, progress=report)
    words = _in_words(done, file)
    if file == "-":
        remark(words)
    else:
        looking.show(done, lambda: words)


def _in_words(done: tiermem.Exported, file: str) -> str:
    command = f"tiermem ingest {'FILE' if file == '-' else file}{' --stamps' if done.stamped else ''}"
    without = f", {plural(done.erased, 'turn')} erased before" if done.erased else ""
    return show_controls(
        f"{plural(done.turns, 'turn')} of {plural(done.sessions, 'session')}{without}. "
        f"`{command}` reads it back; {done.keeps}."
    )

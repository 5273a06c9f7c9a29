"""`tiermem erase`: what an erasure took, and whether any file still holds the words."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.cli.group import EXIT_DAMAGE
from tiermem.apps.present.tables import pairs, plural
from tiermem.apps.present.terminal import err, when
from tiermem.text.unicode import show_controls

_PLACES = 5
"""Turns that stay and are named one by one."""
_TURNS = 20
"""Turns that would go and are displayed."""
_LONGEST = 500
"""Characters of a turn that are displayed."""


def erase(
    *,
    place: options.SpaceOptions,
    turn: Annotated[
        str | None,
        typer.Option("--turn", help="A turn: its address, or its id in an export (with --session)."),
    ] = None,
    page: Annotated[str | None, typer.Option("--page", help="A page, or a beginning of its id.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", help="A session, a chat (all its days), or the turn's session.")
    ] = None,
    whole_space: Annotated[bool, typer.Option("--whole-space", help="Everything of the space.")] = False,
    reason: options.ReasonUnlessTried = "",
    dry_run: options.DryRun = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    output: options.Output,
) -> None:
    """Take words out of memory for ever, with all that rests on them. Exit code 3 when any may be left.

    Bundles, exports, copies and backups made before keep them.
    """
    options.needs_reason(reason, dry_run=dry_run)
    with place.open(read_only=dry_run) as memory:
        where = str(memory.space)
        page_id = None if page is None else options.page_named(memory, page)
        run = partial(
            memory.erase, turn=turn, page=page_id, session=session, space=whole_space, reason=reason
        )
        if not (yes or dry_run):
            what = _selection_text(turn, page, session, space=where if whole_space else None)
            err().print(*displayed_turns(run(dry_run=True)), sep="\n")
            typer.confirm(f"Erase {what} from space {where!r} for ever?", abort=True, err=True)
        receipt = run(dry_run=dry_run)
    show_receipt(receipt, output)


def show_receipt(receipt: tiermem.Receipt, output: options.Output) -> None:
    """Write a receipt, or what an erasure would take; exit with 3 where any words may be left."""
    output.show(receipt, lambda: _plan(receipt) if receipt.proposed else _receipt(receipt))
    if not (receipt.proposed or receipt.leftovers.clean):
        raise typer.Exit(EXIT_DAMAGE)


def _selection_text(turn: str | None, page: str | None, session: str | None, *, space: str | None) -> str:
    """What is to be erased, in words."""
    parts = (("turn", turn), ("page", page), ("session", session), ("the whole space", space))
    return show_controls(" of ".join(f"{what} {name}" for what, name in parts if name) or "nothing")


def displayed_turns(receipt: tiermem.Receipt) -> list[Text]:
    """The turns that would go, with who says what and when; of many the first."""
    rows = [
        Text(f"{one.turn}  ", style="dim").append(
            show_controls(f"{one.speaker}, {when(one.said_at)}: {_shorten(one.text)}"),
            style="not dim",
        )
        for one in receipt.words[:_TURNS]
    ]
    more = len(receipt.words) - len(rows)
    return [*rows, *([Text(f"and {plural(more, 'more turn')}", style="dim")] if more else [])]


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def _plan(receipt: tiermem.Receipt) -> Group:
    """The turns that would go, and of the rows of a receipt those that are known before."""
    rows = pairs(
        [
            ("would erase", _what_is_erased(receipt)),
            ("to go with it", _what_went(receipt)),
            *_what_stays(receipt),
            ("to look for", plural(receipt.leftovers.phrases, "phrase")),
            *_not_looked_for(receipt),
            ("would remain", receipt.remains),
            ("done", "nothing: this was a dry run"),
        ]
    )
    return Group(*displayed_turns(receipt), rows)


def _what_stays(receipt: tiermem.Receipt) -> list[tuple[str, str]]:
    erasure = receipt.erasure
    return [
        ("stripped", f"{plural(erasure.stripped, 'record')} made of the words"),
        ("narrowed", f"{plural(len(erasure.narrowed), 'unit')} that other words prove"),
        ("returned", f"{plural(len(erasure.returned), 'unit')} that had been superseded"),
    ]


def _receipt(receipt: tiermem.Receipt) -> Table:
    erasure, scan = receipt.erasure, receipt.leftovers
    left = (
        "FOUND in " + ", ".join(leftover.file for leftover in scan.found) if scan.found else "nothing found"
    )
    looked = (
        f"{plural(scan.phrases, 'phrase')} in {plural(scan.files, scan.kind)}, {scan.bytes:,} bytes: {left}"
    )
    return pairs(
        [
            ("erased", _what_is_erased(receipt)),
            ("gone with it", _what_went(receipt)),
            *_what_stays(receipt),
            ("index", erasure.index),
            ("looked for", Text(looked, style="" if scan.clean else "bold red")),
            *_not_looked_through(receipt),
            *_not_looked_for(receipt),
            ("remains", receipt.remains),
            ("not reached", receipt.not_reached),
        ]
    )


def _not_looked_through(receipt: tiermem.Receipt) -> list[tuple[str, Text]]:
    unread = ", ".join(receipt.leftovers.unread)
    words = f"{unread}, which could not be looked through; the words may be left there"
    return [("NOT LOOKED THROUGH", Text(words, style="bold red"))] if unread else []


def _not_looked_for(receipt: tiermem.Receipt) -> list[tuple[str, str]]:
    """Words that are somebody else's too, and where these said them; the words themselves are not shown."""
    also, silent = receipt.erasure.also_said, receipt.leftovers.silent
    rows = []
    if also:
        first = ", ".join(also[:_PLACES]) + (", …" if len(also) > _PLACES else "")
        rows.append(("also said", f"some of the words, in {plural(len(also), 'turn')} that stay: {first}"))
    alone = f"; {plural(silent, 'turn')} without words that are theirs alone" if silent else ""
    return [*rows, ("not looked for", receipt.not_looked_for + alone)]


def _what_is_erased(receipt: tiermem.Receipt) -> str:
    turns, pages = receipt.erasure.turns, receipt.erasure.pages
    if not turns:
        return "nothing: the words were erased before"
    return f"{plural(len(turns), 'turn')} on {plural(len(pages), 'page')}"


def _what_went(receipt: tiermem.Receipt) -> str:
    erasure, calls = receipt.erasure, receipt.recorded_calls
    parts = (
        plural(erasure.records, "record"),
        plural(len(erasure.units), "unit"),
        plural(len(erasure.findings), "finding"),
        plural(len(erasure.answers), "answer"),
        "recorded model calls with the words" if calls is None else plural(calls, "recorded model call"),
    )
    return ", ".join(parts)

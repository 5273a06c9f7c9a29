"""What was erased, withdrawn, restored, remembered or corrected, and how it stood before, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from tiermem.apps.present.tables import counted, pairs, short, table
from tiermem.apps.present.terminal import safe, when

if TYPE_CHECKING:
    from tiermem.memory import Receipt
    from tiermem.model import SummaryUnit
    from tiermem.reading import Standpoint
    from tiermem.writing import Remembered, Restored, Withdrawn

_PLACES = 5
"""Turns that are named one by one."""


def named(turn: str | None, page: str | None, session: str | None, *, space: str | None) -> str:
    """What is to be erased, in words."""
    told = [
        f"turn {turn}" if turn else "",
        f"page {page}" if page else "",
        f"session {session}" if session else "",
        f"the whole space {space}" if space else "",
    ]
    return safe(" of ".join(part for part in told if part) or "nothing")


def receipt_view(receipt: Receipt) -> RenderableType:
    """What an erasure took, and whether any file still holds the words."""
    erasure, scan = receipt.erasure, receipt.residual
    left = "FOUND in " + ", ".join(residue.file for residue in scan.found) if scan.found else "nothing found"
    looked = (
        f"{counted(scan.phrases, 'phrase')} in {counted(scan.files, 'file')}, {scan.bytes:,} bytes: {left}"
    )
    return pairs(
        [
            ("erased", f"{counted(len(erasure.turns), 'turn')} on {counted(len(erasure.pages), 'page')}"),
            ("gone with it", _gone(receipt)),
            ("stripped", f"{counted(erasure.stripped, 'record')} of what was told from the words"),
            ("narrowed", f"{counted(len(erasure.narrowed), 'unit')} that other words prove"),
            ("returned", f"{counted(len(erasure.returned), 'unit')} that had been superseded"),
            ("index", erasure.index),
            ("looked for", Text(looked, style="" if scan.clean else "bold red")),
            *_not_looked_through(receipt),
            *_not_looked_for(receipt),
            ("not reached", receipt.not_reached),
        ]
    )


def _not_looked_through(receipt: Receipt) -> list[tuple[str, Text]]:
    unread = ", ".join(receipt.residual.unread)
    told = f"{unread}, which could not be read; the words may be left there"
    return [("NOT LOOKED THROUGH", Text(told, style="bold red"))] if unread else []


def _not_looked_for(receipt: Receipt) -> list[tuple[str, str]]:
    """Words that are somebody else's too, and where these said them; the words themselves are not told."""
    also, silent = receipt.erasure.also_said, receipt.residual.silent
    told = []
    if also:
        first = ", ".join(str(turn.seq) for turn in also[:_PLACES]) + (", …" if len(also) > _PLACES else "")
        told.append(("also said", f"some of the words, in {counted(len(also), 'turn')} that stay: {first}"))
    if silent:
        told.append(("not looked for", f"{counted(silent, 'turn')} without words that are theirs alone"))
    return told


def _gone(receipt: Receipt) -> str:
    erasure = receipt.erasure
    parts = (
        counted(erasure.records, "record"),
        counted(len(erasure.units), "unit"),
        counted(len(erasure.findings), "finding"),
        counted(len(erasure.answers), "answer"),
        counted(receipt.recorded_calls, "recorded model call"),
    )
    return ", ".join(parts)


def withdrawn_view(done: Withdrawn) -> RenderableType:
    """What was taken back and what holds again."""
    again = [("holds again", unit.text) for unit in done.returned] or [("holds again", "nothing")]
    return pairs([("withdrawn", done.unit.text), ("unit", done.unit.id), *again, *_beside(done.beside)])


def restored_view(done: Restored) -> RenderableType:
    """What holds again, and what it supersedes."""
    superseded = [("superseded", unit.text) for unit in done.superseded]
    newer = [("but not shown", f"{short(unit_id)} supersedes it") for unit_id in done.superseded_by]
    return pairs([("restored", done.unit.text), *superseded, *newer])


def remembered_view(done: Remembered) -> RenderableType:
    """What is remembered, under which id, and what it corrects."""
    corrected = [("in place of", done.corrected.text)] if done.corrected is not None else []
    rows = [("remembered", done.unit.text), ("unit", done.unit.id), ("page", done.page_id), *corrected]
    return pairs([*rows, *_beside(done.beside)])


def _beside(units: Sequence[SummaryUnit]) -> list[tuple[str, str]]:
    """Units that keep some of the words evidence."""
    return [("still rests on its words", f"{short(unit.id)} {unit.text}") for unit in units]


def trail_view(trail: Sequence[Standpoint]) -> RenderableType:
    """Every unit of a trail with its words, oldest first."""
    rows = [
        (
            short(one.unit.id),
            one.state + (f": {one.because}" if one.because else ""),
            one.unit.text,
            "\n".join(f"{place.speaker}, {when(place.said_at)}: {place.words}" for place in one.standing),
        )
        for one in trail
    ]
    return Group(table(("unit", "state", "says", "rests on"), rows, whole=("unit",)))

"""Erasing turns and records: an intent in the log, tombstones over their lines, a done record.

The rule: the intent is durable before the first byte is overwritten, the tombstones are durable before the
erasure is called done. Whatever a crash leaves between, the next opening finishes it. A tombstone is as long
as the line it replaces and keeps the line's digest, so every page id, leaf and proof stays true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pagestore.codec import encode_tombstone, tombstone_of_record, tombstone_of_turn
from pagestore.journal import Journal
from pagestore.line import Fields, Line
from pagestore.lines.interface import Lines
from pagestore.reader import rendered_length


def intent_of(lines: Sequence[Line], reason: str, at: str, *, salt: bytes) -> Fields:
    """The record that says which lines will be overwritten, and with what."""
    return {"at": at, "why": reason, "e": [_tombstone(line, salt) for line in lines]}


def _tombstone(line: Line, salt: bytes) -> Fields:
    if line.kind == "turn":
        return tombstone_of_turn(line.fields, line.digest, rendered_length(line), salt=salt)
    tombstone = tombstone_of_record(line.fields, line.digest)
    encode_tombstone(tombstone, line.length)  # refused now rather than half-way
    return tombstone


def finish(journal: Journal, lines: Lines, intent: Fields, erasing: Mapping[int, Fields]) -> None:
    """Overwrite what an intent names, copies included, and record that it is done.

    Nothing is recorded where another writer did: `erasing` holds the intents that are not known to be done.
    """
    tombstones = {
        tombstone["q"]: encode_tombstone(tombstone, len(lines.read(tombstone["q"])[0]))
        for tombstone in intent["e"]
    }
    journal.overwrite(tombstones)
    with journal.write() as batch:
        if intent["q"] in erasing:
            batch.add("erased", {"e": intent["q"]})

"""Erasing a turn: an intent in the log, stubs over its lines, a done record.

The rule: the intent is durable before the first byte is overwritten, the stubs are durable before the
erasure is called done. Whatever a crash leaves between, the next opening finishes it. A stub is as long as
the line it replaces and keeps the line's hash, so every place, page id and proof stays true.
"""

from __future__ import annotations

from collections.abc import Sequence

from pagestore.codec import encode_stub, stub_fields
from pagestore.journal import Journal
from pagestore.lines import Fields, Line
from pagestore.reader import rendered_length
from pagestore.segments import Segments


def intent_of(lines: Sequence[Line], reason: str, at: str) -> Fields:
    """The record that says which lines will be overwritten, where they lie, and with what."""
    return {
        "at": at,
        "why": reason,
        "e": [
            {
                "g": line.place.segment,
                "o": line.place.offset,
                "b": line.place.length,
                "stub": stub_fields(line.fields, line.digest, rendered_length(line)),
            }
            for line in lines
        ],
    }


def finish(journal: Journal, segments: Segments, intent: Fields) -> None:
    """Overwrite what an intent names, destroy copies, and record that it is done."""
    for target in intent["e"]:
        journal.overwrite(target["g"], target["o"], encode_stub(target["stub"], target["b"]))
    segments.purge_torn()
    batch = journal.stage()
    batch.add("erased", {"e": intent["q"]})
    journal.commit(batch)

"""Erasing turns and records: an intent in the log, stubs over their lines, a done record.

The rule: the intent is durable before the first byte is overwritten, the stubs are durable before the
erasure is called done. Whatever a crash leaves between, the next opening finishes it. A stub is as long as
the line it replaces and keeps the line's hash, so every place, page id and proof stays true.
"""

from __future__ import annotations

from collections.abc import Sequence

from pagestore.codec import encode_stub, stub_fields, void_fields
from pagestore.journal import Journal
from pagestore.line import Fields, Line
from pagestore.lines.segments import Segments
from pagestore.reader import rendered_length


def intent_of(lines: Sequence[Line], reason: str, at: str, *, salt: bytes) -> Fields:
    """The record that says which lines will be overwritten, where they lie, and with what."""
    return {"at": at, "why": reason, "e": [_target(line, salt) for line in lines]}


def _target(line: Line, salt: bytes) -> Fields:
    place = line.place
    if line.kind == "turn":
        stub = stub_fields(line.fields, line.digest, rendered_length(line), salt=salt)
    else:
        stub = void_fields(line.fields, line.digest)
        encode_stub(stub, place.length)  # refused now rather than half-way
    return {"g": place.segment, "o": place.offset, "b": place.length, "stub": stub}


def finish(journal: Journal, segments: Segments, intent: Fields, *, unsalted: bool) -> None:
    """Overwrite what an intent names, destroy copies, and record that it is done.

    Where some keys of the log are `unsalted`, caches that may hold those of what was erased go as well.
    """
    journal.overwrite([(t["g"], t["o"], encode_stub(t["stub"], t["b"])) for t in intent["e"]])
    segments.purge_torn()
    if unsalted:
        for number in {target["g"] for target in intent["e"]}:
            segments.remove_snapshot(number)
    batch = journal.stage()
    batch.add("erased", {"e": intent["q"]})
    journal.commit(batch)

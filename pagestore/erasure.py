"""Erasing turns and records: an intent in the log, stubs over their lines, a done record.

The rule: the intent is durable before the first byte is overwritten, the stubs are durable before the
erasure is called done. Whatever a crash leaves between, the next opening finishes it. A stub is as long as
the line it replaces and keeps the line's digest, so every page id, leaf and proof stays true.
"""

from __future__ import annotations

from collections.abc import Sequence

from pagestore.codec import encode_stub, stub_fields, void_fields
from pagestore.journal import Journal
from pagestore.line import Fields, Line
from pagestore.lines.interface import Lines
from pagestore.reader import rendered_length


def intent_of(lines: Sequence[Line], reason: str, at: str, *, salt: bytes) -> Fields:
    """The record that says which lines will be overwritten, and with what."""
    return {"at": at, "why": reason, "e": [_stub(line, salt) for line in lines]}


def _stub(line: Line, salt: bytes) -> Fields:
    if line.kind == "turn":
        return stub_fields(line.fields, line.digest, rendered_length(line), salt=salt)
    stub = void_fields(line.fields, line.digest)
    encode_stub(stub, line.length)  # refused now rather than half-way
    return stub


def finish(journal: Journal, lines: Lines, intent: Fields) -> None:
    """Overwrite what an intent names, copies included, and record that it is done."""
    stubs = {stub["q"]: encode_stub(stub, len(lines.read(stub["q"])[0])) for stub in intent["e"]}
    journal.overwrite(stubs)
    batch = journal.stage()
    batch.add("erased", {"e": intent["q"]})
    journal.commit(batch)

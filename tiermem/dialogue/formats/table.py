"""Tables (CSV, TSV): a turn a row, its columns named like the fields of a message."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from tiermem.dialogue.error_location import record
from tiermem.dialogue.formats.source import Reader, Source, alone
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.messages import SPEAKER_KEYS, TEXT_KEYS
from tiermem.dialogue.turns_file import group_sessions
from tiermem.errors import InvalidInput

_OTHER_NAMES = {
    **dict.fromkeys(("from", "sender", "author", "user", "username"), "speaker"),
    **dict.fromkeys(("body", "msg", "words", "utterance"), "text"),
    **dict.fromkeys(("datetime", "sent_at", "created_at", "sent"), "timestamp"),
    **dict.fromkeys(("conversation_id", "conversation", "channel", "chat", "thread_id"), "session"),
    **dict.fromkeys(("message_id",), "id"),
}
"""What columns are called elsewhere, and the field of a message that they are."""


def _knows(source: Source) -> bool:
    return source.ending in (".csv", ".tsv")


def _read(source: Source) -> tuple[Conversation, ...]:
    return alone(group_sessions(_rows(source), source.session))


def _rows(source: Source) -> Iterator[tuple[str, object]]:
    header = source.text.partition("\n")[0]
    delimiter = max("\t;,", key=header.count)
    rows = csv.reader(io.StringIO(source.text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = [_field(column) for column in next(rows, [])]
        if not set(SPEAKER_KEYS) & set(columns) or not set(TEXT_KEYS) & set(columns):
            there = ", ".join(columns) or "none"
            raise InvalidInput(
                f"line 1: the columns must name a speaker and a text, as speaker,text; they are {there}"
            )
        for row in rows:
            if any(cell.strip() for cell in row):
                message: dict[str, str] = {}
                with record(f"line {rows.line_num}"):
                    if len(row) != len(columns):
                        raise InvalidInput(f"{len(row)} cells in place of {len(columns)}")
                    message = _message(dict(zip(columns, row, strict=True)))
                if any(message.get(name) for name in TEXT_KEYS):
                    yield f"line {rows.line_num}", message
    except csv.Error as error:
        raise InvalidInput(f"line {rows.line_num}: not a table: {error}") from error


def _message(row: dict[str, str]) -> dict[str, str]:
    """The cells that hold something; a date and a time of day in cells of their own as one moment."""
    cells = {name: cell for name, cell in row.items() if cell}
    if "date" in cells and "time" in cells:
        cells["timestamp"] = f"{cells.pop('date')} {cells.pop('time')}"
    return cells


def _field(column: str) -> str:
    name = column.strip().lower().replace(" ", "_")
    return _OTHER_NAMES.get(name, name)


READER = Reader(name="csv", knows=_knows, read=_read)

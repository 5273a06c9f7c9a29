"""Tables (CSV, TSV): a turn a row, its columns named like the fields of a message.

The order of dates in numbers is decided from all rows (`date_order`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from tiermem.dialogue.date_order import DateOrder, decide_order, numeric_date
from tiermem.dialogue.error_location import record
from tiermem.dialogue.formats.source import DialogueSource, FormatReader, alone
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.messages import SPEAKER_KEYS, TEXT_KEYS, TIME_KEYS
from tiermem.dialogue.times import parse_time
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


def _knows(source: DialogueSource) -> bool:
    return source.ending in (".csv", ".tsv")


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    rows = list(_rows(source))
    dates = [found[0] for _, row in rows if (found := numeric_date(row.get(_time_key(row), ""))) is not None]
    decided = decide_order(dates, source.date_order)
    if decided is None:
        return alone(group_sessions(rows, source.session))
    notes = () if decided.is_evident else (str(decided),)
    dated = ((where, _with_iso_time(row, decided.order)) for where, row in rows)
    return alone(group_sessions(dated, source.session), notes)


def _time_key(row: Mapping[str, str]) -> str:
    """The column of the moment of a row, "" without one."""
    return next((key for key in TIME_KEYS if row.get(key)), "")


def _with_iso_time(row: dict[str, str], order: DateOrder) -> dict[str, str]:
    """The row with a moment in numbers as ISO 8601; one that is no moment stays, and is refused later."""
    key = _time_key(row)
    try:
        moment = parse_time(row.get(key), order)
    except InvalidInput:
        return row
    return row if moment is None else {**row, key: moment.isoformat()}


def _rows(source: DialogueSource) -> Iterator[tuple[str, dict[str, str]]]:
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


READER = FormatReader(name="csv", knows=_knows, read=_read)

"""WhatsApp's exported chats, as Android and iOS write them: a session a day.

`08/05/2024, 13:56 - Ann: text` and `[08/05/2024, 13:56:12] Ann: text`. Lines without a stamp go on with the
message before them; what the app itself tells ("Ann added Bob") is said by "WhatsApp". Which number is the
day depends on the phone that exported. The file decides it where it can: a number over 12, or the order in
which times do not run backwards; else a clock with am and pm means the month first, unless numbers are
written with a zero (`05/13/24` is nobody's month first), and any other clock the day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import pairwise
from typing import Literal

from pagestore import Turn
from tiermem.dialogue.formats.source import Reader, Source, alone, by_day
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.places import record
from tiermem.dialogue.times import parse_clock
from tiermem.errors import InvalidInput

APP = "WhatsApp"
"""Who tells what nobody wrote."""

_Order = Literal["day", "month", "year"]
_STAMP = re.compile(
    r"\[?(?P<date>\d{1,4}[./-]\d{1,2}[./-]\d{1,4}),?\s(?P<clock>\d{1,2}[:.]\d{2}(?:[:.]\d{2})?"
    r"(?:\s?[ap]\.?\s?m\.?)?)(?:\]\s|\s-\s)",
    re.IGNORECASE,
)
_YEAR = 4
"""Digits of a year written in full: a date that opens with so many has the year first."""
_MINUTES_AND_SECONDS = 2
"""Parts of a clock behind its hour, where it tells seconds."""
_PART = re.compile(r"[:.]\d{2}")
_BETWEEN = re.compile(r"[./-]")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_HALF = re.compile(r"([ap])\.?\s?m\.?", re.IGNORECASE)
_MARKS = "\u200e\u200f\ufeff"
_BLANKS = str.maketrans({"\u202f": " ", "\xa0": " "})
_QUOTES = frozenset('"“”„«')
_LONGEST_NAME = 80
"""Characters of a name at most; what is longer before a colon is told by the app."""


@dataclass(slots=True)
class _Message:
    line: int
    date: tuple[int, int, int]
    padded: bool
    clock: str
    rest: list[str] = field(default_factory=list)


def _knows(source: Source) -> bool:
    first = next((line for line in source.text.split("\n") if line.strip()), "")
    stamp = _stamp(first)
    if stamp is None or not stamp[0].startswith("["):
        return stamp is not None and ("," in stamp[0] or stamp[0].endswith("- "))
    # Brackets of iOS tell seconds; a plain transcript may open with the year in brackets too.
    year_first = len(_BETWEEN.split(stamp["date"])[0]) == _YEAR
    return not year_first or ("," in stamp[0] and len(_PART.findall(stamp["clock"])) == _MINUTES_AND_SECONDS)


def _stamp(line: str) -> re.Match[str] | None:
    return _STAMP.match(line.lstrip(_MARKS).translate(_BLANKS))


def _read(source: Source) -> tuple[Conversation, ...]:
    messages = list(_messages(source.text))
    order = _order(messages)
    return alone(by_day(source.session, (turn for message in messages for turn in _turn(message, order))))


def _messages(text: str) -> Iterator[_Message]:
    message: _Message | None = None
    for number, row in enumerate(text.rstrip("\r\n").split("\n"), start=1):
        line = row.removesuffix("\r")
        stamp = _stamp(line)
        if stamp is None:
            if message is not None:
                message.rest.append(line)
            elif line.strip():
                with record(f"line {number}"):
                    raise InvalidInput("no message of WhatsApp begins here")
            continue
        if message is not None:
            yield message
        parts = _BETWEEN.split(stamp["date"])
        first, second, third = map(int, parts)
        padded = any(part.startswith("0") for part in parts[:2])
        words = line.lstrip(_MARKS)[stamp.end() :]
        message = _Message(number, (first, second, third), padded, stamp["clock"], [words])
    if message is not None:
        yield message


def _order(messages: Sequence[_Message]) -> _Order:
    if any(message.date[0] > 31 for message in messages):
        return "year"
    if any(message.date[0] > 12 for message in messages):
        return "day"
    if any(message.date[1] > 12 for message in messages):
        return "month"
    orders: tuple[_Order, ...] = ("month", "day") if _half_days(messages) else ("day", "month")
    return next((order for order in orders if _runs_on(messages, order)), orders[0])


def _half_days(messages: Sequence[_Message]) -> bool:
    halves = any("m" in message.clock.lower() for message in messages)
    return halves and not any(message.padded for message in messages)


def _runs_on(messages: Sequence[_Message], order: _Order) -> bool:
    return all(_ymd(a, order) <= _ymd(b, order) for a, b in pairwise(messages))


def _ymd(message: _Message, order: _Order) -> tuple[int, int, int]:
    first, second, third = message.date
    if order == "year":
        return first, second, third
    year = third if third > 99 else 2000 + third
    return (year, second, first) if order == "day" else (year, first, second)


def _turn(message: _Message, order: _Order) -> Iterator[Turn]:
    with record(f"line {message.line}"):
        said_at = _moment(message, order)
        opening, *more = message.rest
        speaker, colon, words = opening.partition(": ")
        if not colon and opening.endswith(":"):
            speaker, colon, words = opening[:-1], ":", ""
        # "Ann changed the name to “Trip: Rome”" is told by the app.
        named = (
            colon
            and len(speaker) <= _LONGEST_NAME
            and not _QUOTES & set(speaker)
            and speaker.strip(_MARKS).strip()
        )
        if named:
            who = speaker.strip(_MARKS).strip()
            yield Turn(speaker=who, text="\n".join([words, *more]), said_at=said_at)
        else:
            yield Turn(speaker=APP, text="\n".join([opening, *more]), said_at=said_at, role="system")


def _moment(message: _Message, order: _Order) -> datetime:
    clock = parse_clock(_POINT.sub(":", _HALF.sub(r"\1m", message.clock)))
    if clock is None:
        raise InvalidInput(f"{message.clock!r} is no time of day")
    try:
        return datetime.combine(date(*_ymd(message, order)), clock)
    except ValueError as error:
        raise InvalidInput(f"not a date: {error}") from error


READER = Reader(name="whatsapp", knows=_knows, read=_read)

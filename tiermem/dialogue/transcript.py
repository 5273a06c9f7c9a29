"""Reads plain transcripts: `Name: text`, or `[2024-05-08 13:56] Name: text`, one turn after the other.

Without brackets a time is read where it is `2024-05-08 13:56`, with or without seconds. The colon may be a
full-width one (`李雷：…`), with nothing after it.

A line that opens no turn continues the one before it; so does any indented line, whatever it looks like, and
a line that opens with no speaker of the file (`Note: …`, `speakers`). A
heading (`# Session 2, 8 May 2024`), a date between rules (`--- 8 May 2024 ---`) or a line that is only a date
starts a session, and its date holds for the turns below that have none. Two blank lines in a row start a
session too; a single one is spacing. The order of dates in numbers is decided from all of them
(`date_order`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from pagestore import Turn
from tiermem.dialogue.date_order import DateOrder, NumericDate, decide_order, numeric_date
from tiermem.dialogue.error_location import record
from tiermem.dialogue.identity import identify_turns
from tiermem.dialogue.interface import DialogueSession
from tiermem.dialogue.speakers import NameBeforeColon, is_one_of, speakers_among
from tiermem.dialogue.times import parse_clock, parse_time
from tiermem.errors import InvalidInput

_OPENING = re.compile(
    r"(?:\[(?P<when>[^\]]{1,60})\]\s*|(?P<stamp>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)\s+)?"
    r"(?P<speaker>[^\W\d_][^:：\[\]\t]{0,59}?)\s*(?::(?=[ \t]|$)|：)[ \t]*(?P<text>.*)"
)
_STAMP = re.compile(r"\[([^\]]{1,60})\]")
_HEADING = re.compile(r"#{1,6}\s+(?P<title>.*)")
_RULES = "=~–—-"
"""What rules around a title are made of: `--- 4 May 2025 ---`."""
_LONGEST_TITLE = 102
_SESSION = re.compile(r"(?:session|conversation|chat|call|meeting|day|part)\b", re.IGNORECASE)
_LONGEST_NAME = 5
"""A speaker has at most this many words; a longer run before a colon is a sentence."""
_LONGEST_HEADING = 120
"""Characters of a line at most that may be a heading."""
_LONGEST_DATE = 8
"""Words in the longest way to write a moment."""
_MOST_BARE_WORDS = 5
"""Words at most of a line without `#` that looks like a date."""
_ANY_YEAR = 2000
"""A year that has every day, to tell a day and a month from other words."""
_DAY_AND_YEAR = re.compile(
    r"(?<![\d:])(?:[12]\d|3[01]|0?[1-9])(?![\d:]).{1,40}\b(?:19|20)\d\d\b"
    r"|\b(?:19|20)\d\d(?!\d).{1,40}(?<![\d:])(?:[12]\d|3[01]|0?[1-9])(?![\d:])"
)
"""A day of a month and a year, in this or the other order."""


@dataclass
class _Reading:
    """State of the reader: turns by session with their lines, and the date that the last heading gave."""

    order: DateOrder | None
    speakers: frozenset[str]
    notes: list[str] = field(default_factory=list)
    sessions: list[list[tuple[Turn, list[str]]]] = field(default_factory=lambda: [[]])
    date: datetime | None = None
    blanks: int = 0

    @property
    def turns(self) -> list[tuple[Turn, list[str]]]:
        return self.sessions[-1]

    def new_session(self, date: datetime | None) -> None:
        if self.turns:
            self.sessions.append([])
        self.date, self.blanks = date, 0


def parse_transcript(
    text: str, session: str, date_order: DateOrder | None = None
) -> tuple[tuple[DialogueSession, ...], tuple[str, ...]]:
    """Sessions named `session`, `session-2`, …, and notes on how dates were read.

    `NotDialogue` names the line that is no dialogue.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    dates = [written for line in lines if (written := _numeric_date(line)) is not None]
    decided = decide_order(dates, date_order)
    reading = _Reading(
        order=None if decided is None else decided.order, speakers=speakers_among(_openings(lines))
    )
    if decided is not None and not decided.is_evident:
        reading.notes.append(str(decided))
    for number, line in enumerate(lines, start=1):
        with record(f"line {number}"):
            _read_line(reading, line)
        if _is_unread_date(line, reading.order):
            reading.notes.append(f"line {number}: {line.strip()!r} looks like a date and is not read as one")
    sessions = tuple(
        identify_turns(
            session if n == 1 else f"{session}-{n}",
            (replace(turn, text="\n".join(lines)) for turn, lines in turns),
            is_file_name=True,
        )
        for n, turns in enumerate(reading.sessions, start=1)
        if turns
    )
    return sessions, tuple(reading.notes)


def _numeric_date(line: str) -> NumericDate | None:
    """The date in numbers in the stamp or the heading that a line is or begins with."""
    if line[:1].isspace() or (len(line) > _LONGEST_HEADING and not line.startswith("[")):
        return None
    stamp, title = _STAMP.match(line), _heading_title(line)
    runs = [stamp[1]] if stamp is not None else _word_runs(title) if title is not None else [line]
    return next((found[0] for run in runs if (found := numeric_date(run.strip("[]() \t"))) is not None), None)


def _heading_title(line: str) -> str | None:
    """The title of a heading, or of a line between rules; `None` of any other line."""
    heading = _HEADING.fullmatch(line)
    return heading["title"] if heading is not None else _ruled_title(line)


def _ruled_title(line: str) -> str | None:
    """The title between rules of at least two characters; `None` where there are none."""
    plain = line.rstrip()
    title = plain.strip(_RULES)
    before, after = len(plain) - len(plain.lstrip(_RULES)), len(plain) - len(plain.rstrip(_RULES))
    return title if min(before, after) >= 2 and 3 <= len(title) <= _LONGEST_TITLE else None


def _is_unread_date(line: str, order: DateOrder | None) -> bool:
    """Whether a line is a heading, or nothing else, with a day and a year, and no date is read in it.

    Of a heading a day and a month are enough.
    """
    if line[:1].isspace() or len(line) > _LONGEST_HEADING or _opening(line) is not None:
        return False
    heading = _heading_title(line)
    title = heading if heading is not None else line.strip("[]() \t")
    if _date_in(title, order) is not None or len(title.split()) > _LONGEST_DATE:
        return False
    if heading is None and len(title.split()) > _MOST_BARE_WORDS:
        return False
    return _DAY_AND_YEAR.search(title) is not None or (heading is not None and _has_day(title, order))


def _has_day(title: str, order: DateOrder | None) -> bool:
    """Whether a title has a day and the name of a month, which are a date with a year."""
    return any(
        _is_time(f"{run} {_ANY_YEAR}", order)
        for run in _word_runs(title)
        if any(map(str.isdigit, run)) and any(map(str.isalpha, run))
    )


def _read_line(reading: _Reading, line: str) -> None:
    if not line.strip():
        reading.blanks += 1
        return
    indented = line[0].isspace()
    title = None if indented else _heading(line, reading.order, first=not reading.turns)
    if title is not None:
        reading.new_session(_date_in(title, reading.order))
        return
    if (line.startswith("#") or _ruled_title(line)) and _is_unread_date(line, reading.order):
        reading.new_session(None)  # what follows was not said on the day of the heading before
        return
    opening = None if indented else _opening(line)
    if opening is None or not is_one_of(opening["speaker"], reading.speakers):
        _continue(reading, line)
    else:
        _open(reading, opening)
    reading.blanks = 0


def _open(reading: _Reading, opening: re.Match[str]) -> None:
    if reading.blanks >= 2:
        reading.new_session(None)
    when = opening["when"] or opening["stamp"]
    said_at = reading.date if when is None else _moment(when, reading.date, reading.order)
    turn = Turn(speaker=opening["speaker"], text="", said_at=said_at)
    reading.turns.append((turn, [opening["text"]]))


def _continue(reading: _Reading, line: str) -> None:
    if not reading.turns:
        raise InvalidInput("no 'Name: text' here, and no turn before it to continue")
    stamp = _STAMP.match(line)
    if stamp is not None and _is_time(stamp[1], reading.order):
        raise InvalidInput(f"{stamp[0]} is followed by no 'Name: text'")
    reading.turns[-1][1].extend([*[""] * reading.blanks, line.removeprefix("\t")])


def opened_by(line: str) -> str:
    """Who speaks, in small letters, where the line opens a turn; else nothing."""
    opening = None if line[:1].isspace() else _opening(line.removesuffix("\r"))
    return opening["speaker"].lower() if opening is not None else ""


def _openings(lines: Sequence[str]) -> list[NameBeforeColon]:
    """What may be the names of speakers at the beginning of lines."""
    found = ((at, _opening(line)) for at, line in enumerate(lines) if not line[:1].isspace())
    return [
        NameBeforeColon(
            one["speaker"],
            is_stamped=(one["when"] or one["stamp"]) is not None,
            text=one["text"],
            line=at,
            above=lines[at - 1] if at else "",
        )
        for at, one in found
        if one is not None
    ]


def _opening(line: str) -> re.Match[str] | None:
    found = _OPENING.fullmatch(line)
    return found if found is not None and len(found["speaker"].split()) <= _LONGEST_NAME else None


def _heading(line: str, order: DateOrder | None, *, first: bool) -> str | None:
    """The title of a heading, `None` for any other line.

    Within a session a `#` line must speak of a session or tell a date: answers quote headings too.
    """
    if len(line) > _LONGEST_HEADING:
        return None
    found = _HEADING.fullmatch(line)
    if found is not None:
        title = found["title"]
        return title if first or _SESSION.match(title) or _date_in(title, order) else None
    ruled = _ruled_title(line)
    if ruled is not None:
        return ruled if first or _date_in(ruled, order) else None
    bare = line.strip("[]() \t")
    return bare if _is_time(bare, order) else None


def _date_in(title: str, order: DateOrder | None) -> datetime | None:
    """Return the date in a title: of its longest run of words that is a date; `None` without one."""
    return next((parse_time(run, order) for run in _word_runs(title) if _is_time(run, order)), None)


def _word_runs(title: str) -> Iterator[str]:
    """The runs of words of a title, the longest first."""
    words = title.split()
    return (
        " ".join(words[start : start + length]).strip("()[],;:–—-")
        for length in range(min(len(words), _LONGEST_DATE), 0, -1)
        for start in range(len(words) - length + 1)
    )


def _is_time(text: str, order: DateOrder | None) -> bool:
    try:
        return parse_time(text, order) is not None
    except InvalidInput:
        return False


def _moment(written: str, day: datetime | None, order: DateOrder | None) -> datetime | None:
    clock = parse_clock(written)
    if clock is None:
        return parse_time(written, order)
    if day is None:
        raise InvalidInput(f"{written!r} is a time without a date: put a date heading above it")
    return datetime.combine(day, clock, tzinfo=day.tzinfo)

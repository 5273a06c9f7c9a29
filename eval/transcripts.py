"""How well transcripts of coding agents are read: words of the person found, missed and invented.

Beside each sample is its expected reading, `<name>.expected.json`: turns with their role, their time and the
first 60 characters, runs of white space as one blank.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from tiermem.dialogue import parse_time, read_dialogue
from tiermem.errors import InvalidInput

_ENDING = ".expected.json"
_LENGTH = 60
_IMAGE = "[image"
"""How an image is written; the expected readings leave it out."""

Words = tuple[str, str | None]
"""The first characters of a turn, and its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The words of the person in one sample: how many are expected, and which were missed or invented.

    `error` says why the sample was not read as a transcript, and then nothing else is known.
    """

    agent: str
    file: str
    kind: str
    expected: int
    missed: tuple[Words, ...] = ()
    invented: tuple[Words, ...] = ()
    error: str | None = None

    @property
    def found(self) -> int:
        """How many of the expected turns were read as the person's."""
        return 0 if self.error else self.expected - len(self.missed)


def compare_readings(folder: Path) -> tuple[Reading, ...]:
    """Read each sample below `folder`, which has a folder an agent; `InvalidInput` without any."""
    readings = tuple(
        _compare(folder, path, expected)
        for path in sorted(folder.rglob(f"*{_ENDING}"))
        if _turns(expected := json.loads(path.read_text("utf-8"))) is not None
    )
    if not readings:
        raise InvalidInput(f"there is no sample with an expected reading in {str(folder)!r}")
    return readings


def _compare(folder: Path, path: Path, expected: Mapping[str, Any]) -> Reading:
    sample = path.with_name(path.name.removesuffix(_ENDING))
    relative = sample.relative_to(folder)
    words = Counter(_expected_words(_turns(expected) or ()))
    reading = Reading(
        agent=relative.parts[0],
        file=str(relative),
        kind=str(expected.get("kind", "")),
        expected=words.total(),
    )
    try:
        conversations = read_dialogue(_open_sample(sample), on_skipped=lambda _: None)
    except InvalidInput as error:
        return replace(reading, error=str(error))
    sessions = [session for conversation in conversations for session in conversation.sessions]
    if not all(session.has_records for session in sessions):
        return replace(reading, error="read as another format")
    read = Counter(
        _words(turn.text, turn.said_at)
        for session in sessions
        for turn in session.turns
        if turn.role == "user"
    )
    missed, invented = words - read, read - words
    return replace(reading, missed=tuple(missed.elements()), invented=tuple(invented.elements()))


def _turns(expected: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """The expected turns of a sample, those of all of its sessions; `None` where it says nothing of turns."""
    sessions = expected.get("sessions")
    if isinstance(sessions, list):
        return [turn for session in sessions for turn in session["turns"]]
    return expected.get("turns")


def _open_sample(path: Path) -> Path | BytesIO:
    """A sample as it is read: a dump (`.sql`) as the database that it makes."""
    if path.suffix != ".sql":
        return path
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(path.read_text("utf-8"))
        opened = BytesIO(database.serialize())
    opened.name = path.with_suffix(".db").name
    return opened


def _expected_words(turns: Sequence[Mapping[str, Any]]) -> Iterator[Words]:
    for turn in turns:
        if turn["role"] == "user":
            yield _words(turn["text60"], _time(turn.get("time")))


def _time(written: object) -> datetime | None:
    """The time of an expected turn, a note in brackets left out; `None` where a sample has another text."""
    try:
        return parse_time(str(written or "").partition(" (")[0])
    except InvalidInput:
        return None


def _words(text: str, said_at: datetime | None) -> Words:
    first = " ".join(text.split())[:_LENGTH].strip()
    first = "" if first.startswith(_IMAGE) else first
    return first, None if said_at is None else said_at.isoformat()


def readings_page(readings: Sequence[Reading]) -> str:
    """A table with a row for each agent, and what was missed, invented or not read."""
    agents = dict.fromkeys(one.agent for one in readings)
    lines = [
        "| agent | samples | not read | turns of the person | found | missed | invented |",
        "|---|---|---|---|---|---|---|",
    ]
    for agent in agents:
        ours = [one for one in readings if one.agent == agent]
        read = [one for one in ours if one.error is None]
        lines.append(
            f"| {agent} | {len(ours)} | {len(ours) - len(read)} | {sum(one.expected for one in read)} "
            f"| {sum(one.found for one in read)} | {sum(len(one.missed) for one in read)} "
            f"| {sum(len(one.invented) for one in read)} |"
        )
    for one in readings:
        if one.error is not None:
            lines.append(f"\n{one.file}: not read: {one.error}")
        for what, words in (("missed", one.missed), ("invented", one.invented)):
            lines.extend(f"\n{one.file}: {what}: {text!r} at {time}" for text, time in words)
    return "\n".join(lines)

"""REALTALK: what ten pairs of real people wrote each other over three weeks, and questions about it.

A chat is a case. Its layout is LoCoMo's but for the names of fields and a time for every message; sessions
are put in the order of time, which not every file keeps.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, Final

from eval.datasets.files import read_folder
from eval.types import Case, CaseId, LabelledQuestion, Passage, QuestionId, Session
from pagestore.values import SessionId, Turn
from tiermem.dialogue.error_location import place
from tiermem.errors import InvalidInput

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain"}
_SESSION: Final = re.compile(r"session_(\d{1,9})")
_EVIDENCE: Final = re.compile(r"D(\d{1,9})[:;](\d{1,9})(?:\s*-\s*D?(?:\d{1,9}:)?(\d{1,9}))?")
_LONGEST_RANGE: Final = 50
DATED_BY_SESSION: Final = "dated by its session"
"""A question with a day in its words or its answer, and evidence of a later day than its session began on.

Such days were counted from the beginning of the session: "06 Jan 2024" for "I called out of work today" of
8 January.
"""
_DAY: Final = re.compile(
    r"\b\d{1,2}(?:st|nd|rd|th)?[ .]+(?:of )?(?:\d\d\.|Jan|Feb|Nov|Dec)"
    r"|\b(?:Jan|Feb|Nov|Dec)\w*\.? \d{1,2}(?:st|nd|rd|th)?\b"
)


class RealTalk:
    """The chats of REALTALK's folder `data` (`Chat_*.json`), or of an archive of it.

    `InvalidInput` when it is something else.
    """

    name = "realtalk"

    def __init__(self, path: Path) -> None:
        files, self.checksum = read_folder(path, "Chat_*.json")
        self._defects: Counter[str] = Counter()
        with place(repr(str(path))):
            self._cases = tuple(self._case(PurePath(file).stem, content) for file, content in files)

    @property
    def defects(self) -> Mapping[str, int]:
        """Flaws met, by kind."""
        return dict(self._defects)

    def cases(self) -> Iterator[Case]:
        """One case a chat, by number."""
        return iter(self._cases)

    def _case(self, name: str, content: Any) -> Case:
        if not isinstance(content, dict) or "qa" not in content:
            raise InvalidInput(f"{name!r} is no chat of REALTALK: no object with 'qa'")
        read = [
            (key, tuple(map(_turn, content[key])))
            for key in content
            if _SESSION.fullmatch(key) and content[key]
        ]
        read.sort(key=lambda one: (one[1][0].said_at, one[0]))
        numbers = [int(key.removeprefix("session_")) for key, _ in read]
        self._defects["sessions not in order of time"] += numbers != sorted(numbers)
        places: dict[str, Passage] = {}
        begun: dict[str, datetime] = {}
        late: set[Passage] = set()
        sessions = []
        for at, (key, turns) in enumerate(read, start=1):
            session = SessionId(f"s{at:03d}")
            sessions.append(Session(id=session, turns=turns, started_at=turns[0].said_at))
            for number, (message, turn) in enumerate(zip(content[key], turns, strict=True)):
                here = Passage(session=session, start=number, end=number + 1)
                places[message["dia_id"]] = here
                assert turn.said_at is not None  # noqa: S101  # every message has a time
                began_at = begun.setdefault(message["dia_id"].split(":")[0], turn.said_at)
                if turn.said_at.date() > began_at.date():
                    late.add(here)
        ended = sessions[-1].turns[-1].said_at if sessions else None
        questions = []
        for number, qa in enumerate(content["qa"]):
            evidence = self._evidence(qa.get("evidence", ()), places)
            has_day = _DAY.search(f"{qa['question']} {qa['answer']}") is not None
            questions.append(
                LabelledQuestion(
                    id=QuestionId(f"{name}#{number}"),
                    text=qa["question"],
                    category=CATEGORIES[qa["category"]],
                    gold=(str(qa["answer"]),),
                    asked_at=ended,
                    evidence=evidence,
                    evidence_sessions=tuple(dict.fromkeys(turn.session for turn in evidence)),
                    flags=frozenset({DATED_BY_SESSION} if has_day and not late.isdisjoint(evidence) else ()),
                )
            )
        return Case(id=CaseId(name), sessions=tuple(sessions), questions=tuple(questions))

    def _evidence(self, named: Sequence[str], places: Mapping[str, Passage]) -> tuple[Passage, ...]:
        found: dict[Passage, None] = {}
        for text in named:
            ids = [one for match in _EVIDENCE.finditer(text) for one in _ids(match)]
            if not ids:
                self._defects["unreadable evidence"] += 1
            for one in ids:
                if one in places:
                    found[places[one]] = None
                else:
                    self._defects["evidence not in the chat"] += 1
        self._defects["no evidence"] += not found
        return tuple(found)


def _ids(match: re.Match[str]) -> Iterator[str]:
    """The messages that are named: one, or all of a range."""
    session, first = int(match[1]), int(match[2])
    last = int(match[3]) if match[3] else first
    for number in range(first, min(last, first + _LONGEST_RANGE) + 1):
        yield f"D{session}:{number}"


def _turn(message: Mapping[str, Any]) -> Turn:
    """A message; the caption of its photo stands after its words, as in LoCoMo."""
    text, caption = message["clean_text"], message.get("blip_caption")
    said_at = datetime.strptime(message["date_time"], "%d.%m.%Y, %H:%M:%S")  # noqa: DTZ007 - no zone is written
    if caption:
        text = f"{text} [shares a photo: {caption}]".lstrip()
    return Turn(speaker=message["speaker"], text=text, said_at=said_at)

"""LongMemEval: one question each over a haystack of chat sessions between a user and an assistant.

The rule: nothing in a turn, a session name or a space may tell which session holds the evidence. The file's
session ids do (`answer_…`), so sessions are named by their place in the haystack; the file's ids and
labels are kept in these records, for scoring only. Sessions stay in file order, which is not always
the order of their dates, and an id that occurs twice is two sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pagestore import Turn
from tiermem.dialogue.identity import identified
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.messages import turn_of
from tiermem.dialogue.places import listing, place
from tiermem.dialogue.times import parse_time
from tiermem.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class LongMemEvalSession:
    """One session of a haystack. `source_id` is the file's id, `has_answer` its label for each turn."""

    dialogue: DialogueSession
    said_at: datetime | None
    source_id: str
    is_evidence: bool
    has_answer: tuple[bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LongMemEvalQuestion:
    """One question with its haystack. `abstention`: the right answer is that it was never said."""

    question_id: str
    question_type: str
    question: str
    question_date: datetime | None
    answer: str
    abstention: bool
    sessions: tuple[LongMemEvalSession, ...]

    def conversation(self) -> Conversation:
        """The dialogue alone, asking for a space of its own. Sessions without turns are left out."""
        sessions = tuple(session.dialogue for session in self.sessions if session.dialogue.turns)
        return Conversation(space_hint=self.question_id, sessions=sessions)


def is_longmemeval(question: object) -> bool:
    """Whether one element of a JSON document has LongMemEval's shape."""
    return isinstance(question, Mapping) and isinstance(question.get("haystack_sessions"), list)


def parse_longmemeval(document: object) -> tuple[LongMemEvalQuestion, ...]:
    """Questions of a parsed file (a list, or one alone); `NotDialogue` names question, session and turn."""
    questions = document if isinstance(document, list) else [document]
    return tuple(_read_question(question, n) for n, question in enumerate(questions, start=1))


def _read_question(question: object, number: int) -> LongMemEvalQuestion:
    with place(f"question {number}"):
        if not isinstance(question, Mapping) or not is_longmemeval(question):
            raise InvalidInput("not a LongMemEval question (no 'haystack_sessions')")
        question_id = question.get("question_id")
        if not isinstance(question_id, str) or not question_id:
            raise InvalidInput("no 'question_id'")
    with place(question_id):
        return LongMemEvalQuestion(
            question_id=question_id,
            question_type=str(question.get("question_type", "")),
            question=str(question.get("question", "")),
            question_date=parse_time(question.get("question_date")),
            answer=str(question.get("answer", "")),
            abstention=question_id.endswith("_abs"),
            sessions=_sessions(question),
        )


def _sessions(question: Mapping[str, Any]) -> tuple[LongMemEvalSession, ...]:
    haystack = question["haystack_sessions"]
    dates = listing(question, "haystack_dates") or [None] * len(haystack)
    ids = listing(question, "haystack_session_ids") or [""] * len(haystack)
    if not len(haystack) == len(dates) == len(ids):
        raise InvalidInput(f"{len(haystack)} sessions, {len(dates)} dates and {len(ids)} session ids")
    evidence = frozenset(map(str, listing(question, "answer_session_ids")))
    return tuple(
        _session(number, turns, date, str(source_id), evidence)
        for number, (turns, date, source_id) in enumerate(zip(haystack, dates, ids, strict=True), start=1)
    )


def _session(
    number: int, turns: object, date: object, source_id: str, evidence: frozenset[str]
) -> LongMemEvalSession:
    with place(f"session {number}"):
        if not isinstance(turns, list):
            raise InvalidInput("not a list of turns")
        said_at = parse_time(date)
        read = [_turn(turn, said_at, n) for n, turn in enumerate(turns, start=1)]
    return LongMemEvalSession(
        dialogue=identified(f"session-{number:03}", read),
        said_at=said_at,
        source_id=source_id,
        is_evidence=source_id in evidence,
        has_answer=tuple(turn.get("has_answer") is True for turn in turns),
    )


def _turn(turn: object, said_at: datetime | None, number: int) -> Turn:
    with place(f"turn {number}"):
        return replace(turn_of(turn), said_at=said_at)

"""LongMemEval: haystacks of chat sessions between a user and an assistant. The one reader of their dialogue.

The rule: nothing in a turn, a session name or a space may tell which session holds the evidence. The file's
session ids do (`answer_…`), so sessions are named by their place in the haystack. Question, labels and the
file's own ids are read where they are scored, in `eval`. Sessions stay in file order, which is not always
the order of their dates, and an id that occurs twice is two sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pagestore import Turn
from tiermem.dialogue.error_location import listing, place
from tiermem.dialogue.identity import identify_turns
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.messages import turn_of
from tiermem.dialogue.times import parse_time
from tiermem.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class LongMemEvalSession:
    """One session of a haystack and its date. Its turns may be none."""

    dialogue: DialogueSession
    said_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LongMemEvalHaystack:
    """The sessions one question is asked about, in file order."""

    question_id: str
    sessions: tuple[LongMemEvalSession, ...]

    def conversation(self) -> Conversation:
        """The dialogue alone, asking for a space of its own. Sessions without turns are left out."""
        sessions = tuple(session.dialogue for session in self.sessions if session.dialogue.turns)
        return Conversation(space_hint=self.question_id, sessions=sessions)


def is_longmemeval(question: object) -> bool:
    """Whether one element of a JSON document has LongMemEval's shape."""
    return isinstance(question, Mapping) and isinstance(question.get("haystack_sessions"), list)


def parse_longmemeval(document: object) -> tuple[LongMemEvalHaystack, ...]:
    """Haystacks of a parsed file (a list, or one alone); `NotDialogue` names question, session and turn."""
    questions = document if isinstance(document, list) else [document]
    return tuple(_read_question(question, n) for n, question in enumerate(questions, start=1))


def _read_question(question: object, number: int) -> LongMemEvalHaystack:
    with place(f"question {number}"):
        if not isinstance(question, Mapping) or not is_longmemeval(question):
            raise InvalidInput("not a LongMemEval question (no 'haystack_sessions')")
        question_id = question.get("question_id")
        if not isinstance(question_id, str) or not question_id:
            raise InvalidInput("no 'question_id'")
    with place(question_id):
        return LongMemEvalHaystack(question_id=question_id, sessions=_sessions(question))


def _sessions(question: Mapping[str, Any]) -> tuple[LongMemEvalSession, ...]:
    haystack = question["haystack_sessions"]
    dates = listing(question, "haystack_dates") or [None] * len(haystack)
    if len(haystack) != len(dates):
        raise InvalidInput(f"{len(haystack)} sessions and {len(dates)} dates")
    return tuple(
        _session(number, turns, date)
        for number, (turns, date) in enumerate(zip(haystack, dates, strict=True), start=1)
    )


def _session(number: int, turns: object, date: object) -> LongMemEvalSession:
    with place(f"session {number}"):
        if not isinstance(turns, list):
            raise InvalidInput("not a list of turns")
        said_at = parse_time(date)
        read = [_turn(turn, said_at, n) for n, turn in enumerate(turns, start=1)]
    return LongMemEvalSession(dialogue=identify_turns(f"session-{number:03}", read), said_at=said_at)


def _turn(turn: object, said_at: datetime | None, number: int) -> Turn:
    with place(f"turn {number}"):
        if isinstance(turn, Mapping) and turn.get("content") is None:
            raise InvalidInput("no words")
        return replace(turn_of(turn), said_at=said_at)

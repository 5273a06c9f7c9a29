"""LongMemEval's haystacks as MemTier's two stages see them: sessions to choose, then entries to rank.

An entry is a turn. The source's first stage looks among facts that a language model wrote; here it looks
among what users said, and a session is as good as its best turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eval.corpus import said
from eval.metrics.qa import normalised
from eval.research.memtier.score import ranking
from eval.systems.ranking import okapi, words
from eval.types import Case

_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Haystack:
    """One question with its entries in order of time; arrays have a value an entry."""

    id: str
    question: str
    category: str
    gold: str
    texts: tuple[str, ...]
    words: tuple[list[str], ...]
    session: Any
    by_user: Any
    days: Any
    evidence: Any
    evidence_sessions: frozenset[int]

    @property
    def sessions(self) -> int:
        """How many sessions there are."""
        return int(self.session[-1]) + 1

    def entries(self, sessions: Sequence[int] | None) -> Any:
        """The places of the entries of some sessions, or of all."""
        if sessions is None:
            return np.arange(len(self.texts))
        return np.flatnonzero(np.isin(self.session, sessions))

    def bm25(self, places: Any) -> Any:
        """Raw BM25 of the question over some entries alone, never below 0."""
        if not len(places):
            return np.zeros(0)
        index = okapi([self.words[at] or [""] for at in places])
        return np.maximum(index.get_scores(words(self.question)), 0.0)

    def best_sessions(self, scores: Any, places: Any) -> list[int]:
        """Sessions by their best entry among `places`, best first; each once."""
        return list(dict.fromkeys(int(self.session[places[at]]) for at in ranking(scores)))

    def first_stage(self) -> list[int]:
        """Every session with words of a user, by BM25 of what the user said there."""
        places = np.flatnonzero(self.by_user)
        return self.best_sessions(self.bm25(places), places)

    def answers(self, at: int) -> bool:
        """True when the gold answer stands in an entry word for word, after SQuAD's normalising."""
        return f" {normalised(self.gold)} " in f" {normalised(self.texts[at])} "


def haystack(case: Case) -> Haystack:
    """The one question of a LongMemEval case."""
    (question,) = case.questions
    place = {session.id: at for at, session in enumerate(case.sessions)}
    turns = [(at, turn) for at, session in enumerate(case.sessions) for turn in session.turns]
    starts = {session.id: start for session, start in zip(case.sessions, _starts(case), strict=True)}
    evidence = np.zeros(len(turns), bool)
    evidence[[starts[one.session] + one.start for one in question.evidence]] = True
    return Haystack(
        id=question.id,
        question=question.text,
        category=question.category,
        gold=question.gold[0],
        texts=tuple(said(turn) for _, turn in turns),
        words=tuple(words(turn.text) for _, turn in turns),
        session=np.array([at for at, _ in turns]),
        by_user=np.array([turn.role == "user" for _, turn in turns]),
        days=np.array([_age(case, at) for at, _ in turns]),
        evidence=evidence,
        evidence_sessions=frozenset(place[session] for session in question.evidence_sessions),
    )


def _starts(case: Case) -> list[int]:
    starts, at = [], 0
    for session in case.sessions:
        starts.append(at)
        at += len(session.turns)
    return starts


def _age(case: Case, session: int) -> float:
    asked, began = case.questions[0].asked_at, case.sessions[session].started_at
    return 0.0 if asked is None or began is None else (asked - began).total_seconds() / _DAY

"""One large pile: sessions of all conversations of a dataset in one memory, with the questions about them.

A question is asked where all of its evidence is. Evidence fills at most half of a pile; the other sessions
are drawn, the same ones for the same seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from eval.datasets.view import DatasetView
from eval.types import Case, CaseId, Dataset, LabelledQuestion, Passage, Session
from pagestore.values import SessionId
from tiermem.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class _QuestionWithEvidence:
    """A question with the sessions of its evidence, by their ids in its case."""

    question: LabelledQuestion
    evidence: Mapping[SessionId, str]


class Piled(DatasetView):
    """A dataset with one case: `sessions` sessions, or all that there are, of all of its cases.

    A session that several cases have, by the name that the dataset gives it, is in the pile once.
    """

    def __init__(self, dataset: Dataset, *, sessions: int | None, seed: int = 0) -> None:
        if sessions is not None and sessions < 2:
            raise InvalidInput(f"a pile has at least two sessions, not {sessions}")
        super().__init__(dataset)
        self._sessions = sessions
        self._seed = seed

    def cases(self) -> Iterator[Case]:
        """One case, its sessions in order of time. Raises `InvalidInput` where no question fits into it."""
        found: dict[str, Session] = {}
        asked: list[_QuestionWithEvidence] = []
        for case in self._dataset.cases():
            names = {one.id: _name(case, one) for one in case.sessions}
            for one in case.sessions:
                found.setdefault(names[one.id], one)
            asked += (
                _QuestionWithEvidence(question, {one: names[one] for one in question.evidence_sessions})
                for question in case.questions
            )
        size = len(found) if self._sessions is None else min(self._sessions, len(found))
        kept = _fitting(asked, most=size if size == len(found) else size // 2)
        if not kept:
            raise InvalidInput(f"the evidence of no question fits into half of {size} sessions")
        evidence = {name for one in kept for name in one.evidence.values()}
        others = sorted(found.keys() - evidence, key=self._draw)[: size - len(evidence)]
        chosen = sorted((*evidence, *others), key=lambda name: (_began(found[name]), name))
        ids = {name: SessionId(f"s{number:05d}") for number, name in enumerate(chosen, start=1)}
        yield Case(
            id=CaseId("pile"),
            sessions=tuple(replace(found[name], id=ids[name]) for name in chosen),
            questions=tuple(_with_pile_ids(one, ids) for one in kept),
            official={ids[name]: name for name in chosen},
        )

    def _draw(self, name: str) -> str:
        return hashlib.sha256(f"{self._seed} {name}".encode()).hexdigest()


def _name(case: Case, session: Session) -> str:
    return case.official.get(session.id, f"{case.id}/{session.id}")


def _began(session: Session) -> datetime:
    began = session.started_at
    if began is None:
        return datetime.min.replace(tzinfo=UTC)
    return began if began.tzinfo else began.replace(tzinfo=UTC)


def _fitting(asked: Sequence[_QuestionWithEvidence], *, most: int) -> list[_QuestionWithEvidence]:
    """The questions that have evidence, in order, as many as have it in no more than `most` sessions."""
    kept: list[_QuestionWithEvidence] = []
    evidence: set[str] = set()
    for one in asked:
        together = evidence.union(one.evidence.values())
        if one.evidence and len(together) <= most:
            kept.append(one)
            evidence = together
    return kept


def _with_pile_ids(one: _QuestionWithEvidence, ids: Mapping[str, SessionId]) -> LabelledQuestion:
    """The question, its evidence by the ids of the pile."""
    to = {old: ids[name] for old, name in one.evidence.items()}
    question = one.question
    return replace(
        question,
        evidence=tuple(
            Passage(session=to[at.session], start=at.start, end=at.end) for at in question.evidence
        ),
        evidence_sessions=tuple(to[old] for old in question.evidence_sessions),
    )

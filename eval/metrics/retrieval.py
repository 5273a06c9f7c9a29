"""Retrieval scores in the official definitions of LongMemEval, and evidence recall for LoCoMo.

LongMemEval's own scripts do four things one would not guess, and all are kept so that numbers compare:

- an evidence session in which no *user* turn is labelled is renamed "noans" and is no target;
- a question without a labelled user turn is in no average, of sessions or of turns: 419 of 470 are left
  (since April 2025; before, the 51 counted as `recall_all` 1 and NDCG 0 among the sessions);
- a document that stands twice in the haystack counts as two documents for NDCG and as one for recall;
- the discount of NDCG is 1 at the first two ranks: `rel_1 + sum rel_i / log2(i)`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final, TypeVar

from eval.types import Case, LabelledQuestion, Passage

CUTOFFS: Final = (1, 3, 5, 10, 20)
Document = TypeVar("Document", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """One question's scores at one cutoff. `recall` is the share of the targets found (MRR has no cutoff)."""

    recall: float
    recall_any: float
    recall_all: float
    ndcg_any: float


def score(
    ranking: Sequence[Document], targets: Set[Document], corpus: Sequence[Document], *, k: int
) -> Scores:
    """How well the first `k` of `ranking` cover `targets`, as `evaluate_retrieval` of LongMemEval does.

    `corpus` lists every document that could have been ranked, with repetitions where it has them.
    """
    top = ranking[:k]
    found = targets & set(top)
    ideal = _dcg([1.0] * min(k, sum(document in targets for document in corpus)))
    gained = _dcg([float(document in targets) for document in top])
    return Scores(
        recall=len(found) / len(targets) if targets else 0.0,
        recall_any=float(bool(found)),
        recall_all=float(len(found) == len(targets)),
        ndcg_any=gained / ideal if ideal else 0.0,
    )


def reciprocal_rank(ranking: Sequence[Document], targets: Set[Document]) -> float:
    """One over the rank of the first target; 0 when none was ranked."""
    return next((1 / rank for rank, document in enumerate(ranking, start=1) if document in targets), 0.0)


def _dcg(relevances: Sequence[float]) -> float:
    later = sum(gain / math.log2(rank) for rank, gain in enumerate(relevances[1:], start=2))
    return (relevances[0] if relevances else 0.0) + later


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """LongMemEval's documents of one question at one level: their official names by place, and the targets.

    `scored` is False where the official averages leave the question out.
    """

    names: Mapping[Passage, str]
    targets: frozenset[str]
    scored: bool

    def ranked(self, passages: Sequence[Passage]) -> list[str]:
        """The official names of passages, in order; an assistant's turn is no document and left out."""
        return [self.names[passage] for passage in passages if passage in self.names]

    @property
    def corpus(self) -> list[str]:
        """Every document's name, repeated where a session stands twice."""
        return list(self.names.values())


def session_labels(case: Case, question: LabelledQuestion) -> Labels:
    """Sessions as documents; those without a labelled user turn become "noans" and are no target."""
    labelled = {turn.session for turn in _user_evidence(case, question)}
    names, targets = {}, set()
    for session in case.sessions:
        name = case.official[session.id]
        if session.id in labelled:
            targets.add(name)
        elif session.id in question.evidence_sessions:
            name = name.replace("answer", "noans")
        names[Passage(session=session.id, start=0, end=len(session.turns))] = name
    return Labels(names=names, targets=frozenset(targets), scored=question.answerable and bool(targets))


def turn_labels(case: Case, question: LabelledQuestion) -> Labels:
    """User turns as documents; a question without a labelled one is not scored at this level."""
    evidence = frozenset(_user_evidence(case, question))
    names, targets = {}, set()
    for session in case.sessions:
        for at, turn in enumerate(session.turns):
            if turn.role != "user":
                continue
            place = Passage(session=session.id, start=at, end=at + 1)
            names[place] = f"{case.official[session.id]}_{at + 1}"
            if place in evidence:
                targets.add(names[place])
            elif session.id in question.evidence_sessions:
                names[place] = names[place].replace("answer", "noans")
    return Labels(names=names, targets=frozenset(targets), scored=question.answerable and bool(targets))


def _user_evidence(case: Case, question: LabelledQuestion) -> list[Passage]:
    return [turn for turn in question.evidence if case.turn(turn).role == "user"]


def vendor_sessions(case: Case, question: LabelledQuestion) -> Labels:
    """Sessions as documents, every evidence session a target, all questions scored: as vendors report."""
    names = {
        Passage(session=session.id, start=0, end=len(session.turns)): case.official[session.id]
        for session in case.sessions
    }
    targets = frozenset(case.official[session] for session in question.evidence_sessions)
    return Labels(names=names, targets=targets, scored=bool(targets))


def evidence_documents(question: LabelledQuestion, documents: Sequence[Passage]) -> frozenset[Passage]:
    """The documents (turns, pages or sessions) that hold a turn of the question's evidence."""
    return frozenset(document for document in documents if any(map(document.holds, question.evidence)))

"""What came of an answer, or of sources that were used without one, and whose that is.

It goes with its answer, and with any unit it names that goes or changes: how credit was shared out tells of
all their words together. What is left is folded anew, so the weights are as if it had never been said.
"""

from dataclasses import dataclass

from pagestore import Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Entry, Kind, Past, WhatGoes
from tiermem.model import AnswerId, Named
from tiermem.salience import Judgement, Outcome, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback(Entry):
    """An outcome that somebody reported, of an answer or of sources, and the credit of each unit.

    The newest of an answer counts. `by` is the level of trust of who reported it.
    """

    outcome: Outcome
    shares: tuple[Share, ...]
    by: Named
    answer_id: AnswerId | None = None


def _fold(entry: Feedback, record: Record, folds: Folds) -> None:
    judged = {
        share.unit_id: Judgement(
            outcome=entry.outcome, share=share.share, at=record.at, by=entry.by, answer_id=entry.answer_id
        )
        for share in entry.shares
    }
    folds.judge(record.seq, entry.answer_id, judged)


def _may_stay(entry: Feedback, goes: WhatGoes, past: Past) -> Feedback | None:
    of_what_went = entry.answer_id is not None and entry.answer_id not in past.answers
    named = {share.unit_id for share in entry.shares}
    return None if goes.everything or of_what_went or not past.changed.isdisjoint(named) else entry


KIND = Kind(name="feedback", entry=Feedback, fold=_fold, may_stay=_may_stay)

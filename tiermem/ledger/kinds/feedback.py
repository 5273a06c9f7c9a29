"""What came of an answer, or of sources that were used without one, and whose that is.

It goes with its answer, and with any unit it names that goes or changes, because the shares depend on the
words of all of them. What is left is folded again, so the weights are as if it had never been given.
"""

from dataclasses import dataclass, replace

from pagestore import Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, Past, WhatGoes
from tiermem.model import AnswerId, Named
from tiermem.salience import Judgement, Outcome, Share, TurnShare


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback(LedgerEntry):
    """An outcome that somebody reported, of an answer or of sources, and the credit of each unit.

    `turns` have the credit of words on which no unit rested. The newest of an answer counts. `by` is the
    level of trust of who reported it.
    """

    outcome: Outcome
    shares: tuple[Share, ...]
    by: Named
    answer_id: AnswerId | None = None
    turns: tuple[TurnShare, ...] = ()


def _fold(entry: Feedback, record: Record, folds: Folds) -> None:
    whole = Judgement(outcome=entry.outcome, share=1.0, at=record.at, by=entry.by, answer_id=entry.answer_id)
    judged = {one.unit_id: replace(whole, share=one.share) for one in entry.shares}
    turns = [(one.spans, replace(whole, share=one.share)) for one in entry.turns]
    folds.judge(record.seq, entry.answer_id, judged, turns)


def _may_stay(entry: Feedback, goes: WhatGoes, past: Past) -> Feedback | None:
    of_what_went = entry.answer_id is not None and entry.answer_id not in past.answers
    named = {share.unit_id for share in entry.shares}
    of_erased_turns = any(goes.touches(span) for one in entry.turns for span in one.spans)
    rests = goes.everything or of_what_went or of_erased_turns or not past.changed.isdisjoint(named)
    return None if rests else entry


KIND = Kind(name="feedback", entry=Feedback, fold=_fold, may_stay=_may_stay)

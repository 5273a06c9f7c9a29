"""An answer that was given, with all that it was made of.

It goes when any evidence it was shown stood in the turns that go or was a unit that goes or changes, when it
read a page of theirs whole, or when it repeats their words; what it cost stays. A finding goes with its
answer.
"""

from dataclasses import dataclass

from pagestore import Record, Span
from tiermem.ledger.entry_texts import entry_texts, values_in
from tiermem.ledger.folds import AnswerInfo, Folds
from tiermem.ledger.kind import Kind, LedgerEntry, Past, WhatGoes
from tiermem.ledger.kinds.spent import Spent
from tiermem.model import Answer, Finding, Trace

_LONGEST = 200
"""Characters of an answer that lists of answers have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredEntry(LedgerEntry):
    """An answer with its trace, and the findings it leaves pending."""

    answer: Answer
    findings: tuple[Finding, ...] = ()


def _fold(entry: AnsweredEntry, record: Record, folds: Folds) -> None:
    answer = entry.answer
    if answer.id in folds.answers:
        return
    folds.pay(record.at, answer.usage)
    given = AnswerInfo(
        id=answer.id,
        question=answer.trace.question,
        at=record.at,
        route=answer.route,
        abstained=answer.abstained,
        read_tokens=answer.trace.read_tokens,
        raw_tokens=answer.trace.raw_tokens,
        seq=record.seq,
        summary_tokens=answer.trace.summary_tokens,
        agent=answer.trace.agent,
        text=(str(answer.said[0]) if answer.said else answer.text)[:_LONGEST],
    )
    folds.put_answer(given)
    cited = dict.fromkeys(one.unit_id for one in answer.citations if one.unit_id is not None)
    folds.use_units(answer.id, cited, record.at)
    spans = [span for one in answer.citations if one.unit_id is None for span in one.spans]
    folds.cite_turns(answer.id, spans, record.at)
    folds.warm_units(dict.fromkeys((*cited, *folds.units_on(spans))), record.seq)
    folds.put_findings(entry.findings)


def _may_stay(entry: AnsweredEntry, goes: WhatGoes, past: Past) -> LedgerEntry:
    trace = entry.answer.trace
    shown = {one.unit_id for one in trace.candidates} | {one.unit_id for one in entry.answer.citations}
    if (
        goes.everything
        or trace.session in goes.sessions
        or _tells_of_pages(trace, goes)
        or any(goes.touches(value) for value in values_in(entry) if isinstance(value, Span))
        or not past.changed.isdisjoint(shown)
        or goes.repeated_in(entry_texts(entry))
    ):
        return Spent(step="ask", usage=entry.answer.usage)
    past.findings_left.update(finding.id for finding in entry.findings)
    past.answers.add(entry.answer.id)
    return entry


def _tells_of_pages(trace: Trace, goes: WhatGoes) -> bool:
    """Whether a page of theirs was read, or is named in a reason, which may repeat its words."""
    read = {page_id for a_round in trace.rounds for page_id in a_round.pages}
    reasons = [f"{one.reason} {one.fallback}" for one in trace.degradations]
    return any(page_id in read or any(page_id in text for text in reasons) for page_id in goes.pages)


KIND = Kind(name="answered", entry=AnsweredEntry, fold=_fold, may_stay=_may_stay, is_in_bundles=True)

"""Small real parts for tests of ledger and writing: entries, units, and strategies over few ids."""

from collections.abc import Sequence
from datetime import UTC, datetime

from hypothesis import strategies as st

from pagestore import PageId, SessionId, SpaceId, Span
from tiermem.ledger import (
    AnsweredEntry,
    BoundedEntry,
    DistilledEntry,
    Feedback,
    LedgerEntry,
    Redistilled,
    RetiredEntry,
    SetAside,
    Spent,
    Tier1,
    WroteBack,
)
from tiermem.model import (
    Answer,
    AnswerId,
    Citation,
    Decision,
    Finding,
    FindingId,
    LinkedFact,
    Op,
    Rejected,
    SummaryUnit,
    Trace,
    UnitId,
    Usage,
    WriteBack,
)
from tiermem.salience import Share

SPACE = SpaceId("space")
MOMENT = datetime(2024, 3, 1, 9, 30, tzinfo=UTC)


def span(page: str, start: int = 0, end: int = 5) -> Span:
    return Span(page_id=PageId(page), start=start, end=end)


def unit(
    unit_id: str,
    *,
    text: str = "Ann likes tea.",
    spans: Sequence[Span] = (span("p1"),),
    session: str = "s1",
    revision: int = 1,
    supersedes: Sequence[str] = (),
    importance: float = 0.5,
) -> SummaryUnit:
    return SummaryUnit(
        id=UnitId(unit_id),
        text=text,
        spans=tuple(spans),
        kind="summary",
        support="quoted",
        session=SessionId(session),
        said_at=MOMENT,
        revision=revision,
        supersedes=tuple(UnitId(u) for u in supersedes),
        importance=importance,
    )


def distilled(page: str, *units: SummaryUnit, omissions: Sequence[str] = ()) -> DistilledEntry:
    return DistilledEntry(
        page_id=PageId(page),
        units=units,
        rejected=(Rejected(claim="Ann hates tea.", quotes=("never said",), reason="quote not on the page"),),
        omissions=tuple(omissions),
        made_by="rules",
        prompts=("distil@1",),
        usage=Usage(calls=1),
        literals=4,
        beside=(),
        open_id=PageId(f"open:{page}"),
    )


def redistilled(page: str, *units: SummaryUnit, omissions: Sequence[str] = ()) -> Redistilled:
    return Redistilled(
        page_id=PageId(page),
        units=units,
        rejected=(),
        hints=("number: 3",),
        omissions=tuple(omissions),
        literals=4,
        made_by="rules",
        prompts=(),
        usage=Usage(calls=1),
    )


def finding(
    finding_id: str, *, answer: str = "a1", claim: str = "Ann likes tea.", page: str = "p1"
) -> Finding:
    fact = LinkedFact(claim=claim, quotes=("I like tea",), spans=(span(page),), support="quoted")
    return Finding(
        id=FindingId(finding_id),
        answer_id=AnswerId(answer),
        question="What does Ann like?",
        fact=fact,
        session=SessionId("s1"),
        said_at=MOMENT,
    )


def answer(
    answer_id: str = "a1", *, question: str = "What does Ann like?", cites: Sequence[str] = ()
) -> Answer:
    trace = Trace(
        question=question,
        asked_at=MOMENT,
        as_of=None,
        head=3,
        engine="rules",
        candidates=(),
        decision=Decision(action="ESCALATE", score=0.5, reason="nothing recalled", router="gate"),
        rounds=(),
        checks=(),
        rejected=(),
        prompts=(),
        models=(),
        usage=(),
        degradations=(),
        read_tokens=10,
        raw_tokens=40,
    )
    return Answer(
        id=AnswerId(answer_id),
        space=SPACE,
        text="Tea.",
        route="ESCALATE",
        citations=tuple(citation(number, one) for number, one in enumerate(cites, 1)),
        facts=(),
        abstained=False,
        usage=Usage(calls=2, seconds=0.25),
        trace=trace,
    )


def citation(number: int, unit_id: str) -> Citation:
    return Citation(
        number=number,
        claim="Ann likes tea.",
        quote="I like tea",
        spans=(span("p1"),),
        support="stated",
        speaker="Ann",
        said_at=MOMENT,
        unit_id=UnitId(unit_id),
    )


def answered(answer_id: str = "a1", *findings: Finding, cites: Sequence[str] = ()) -> AnsweredEntry:
    return AnsweredEntry(answer=answer(answer_id, cites=cites), findings=findings)


def wrote_back(finding_id: str, op: Op, added: SummaryUnit | None = None) -> WroteBack:
    decision = WriteBack(
        finding_id=FindingId(finding_id),
        op=op,
        reason="because",
        unit_id=added.id if added is not None else None,
        superseded=added.supersedes if added is not None else (),
    )
    return WroteBack(write_back=decision, unit=added, shown=())


PAGES = ("p1", "p2", "p3")
UNITS = ("u1", "u2", "u3", "u4", "u5")
FINDINGS = ("f1", "f2", "f3")

_texts = st.text(max_size=12)
_spans = st.lists(
    st.builds(span, st.sampled_from(PAGES), st.integers(0, 5), st.integers(6, 20)), min_size=1, max_size=3
)
_units = st.builds(
    unit,
    st.sampled_from(UNITS),
    text=_texts,
    spans=_spans,
    session=st.sampled_from(("s1", "s2")),
    revision=st.integers(1, 4),
    supersedes=st.lists(st.sampled_from(UNITS), max_size=2),
)
_findings = st.builds(finding, st.sampled_from(FINDINGS), claim=_texts, page=st.sampled_from(PAGES))
entries: st.SearchStrategy[LedgerEntry] = st.one_of(
    st.builds(
        lambda page, units, lost: distilled(page, *units, omissions=lost),
        st.sampled_from(PAGES),
        st.lists(_units, max_size=3),
        st.lists(_texts, max_size=2),
    ),
    st.builds(
        lambda answer_id, findings, cites: answered(answer_id, *findings, cites=cites),
        st.sampled_from(("a1", "a2", "a3")),
        st.lists(_findings, max_size=2),
        st.lists(st.sampled_from(UNITS), max_size=2),
    ),
    st.builds(
        lambda page, units, lost: redistilled(page, *units, omissions=lost),
        st.sampled_from(PAGES),
        st.lists(_units, max_size=2),
        st.lists(_texts, max_size=2),
    ),
    st.builds(
        lambda page, step, reason: SetAside(page_id=PageId(page), step=step, reason=reason),
        st.sampled_from(PAGES),
        st.sampled_from(("distil", "index", "ask")),
        st.sampled_from(("ValueError at tiermem/proof/link.py:1 in link: odd", None)),
    ),
    st.builds(lambda limit: BoundedEntry(hot_units=limit), st.integers(1, 3)),
    st.builds(
        lambda shares, outcome, answer_id: Feedback(
            outcome=outcome,
            shares=tuple(Share(unit_id=UnitId(unit), share=share) for unit, share in shares.items()),
            by="user",
            answer_id=answer_id,
        ),
        st.dictionaries(st.sampled_from(UNITS), st.floats(0.01, 1), max_size=3),
        st.sampled_from(("success", "failure", "neutral")),
        st.sampled_from((None, AnswerId("a1"), AnswerId("a2"))),
    ),
    st.builds(lambda calls: Spent(step="ask", usage=Usage(calls=calls)), st.integers(0, 3)),
    st.builds(wrote_back, st.sampled_from(FINDINGS), st.sampled_from(("ADD", "UPDATE")), _units),
    st.builds(wrote_back, st.sampled_from(FINDINGS), st.just("SKIP")),
    st.builds(
        lambda ids: RetiredEntry(unit_ids=tuple(map(UnitId, ids)), reason="erased"),
        st.lists(st.sampled_from(UNITS), min_size=1, max_size=2),
    ),
)


def state(tier1: Tier1) -> dict[str, object]:
    """Everything a reader can see of a state, except which record it came from."""
    return {
        "units": tier1.units(),
        "all": {u: (tier1.unit(UnitId(u)), tier1.is_active(UnitId(u))) for u in UNITS},
        "by page": {page: tier1.units_of_page(PageId(page), inactive=True) for page in PAGES},
        "superseded": {u: tier1.superseded_by(UnitId(u)) for u in UNITS},
        "cold": (tier1.hot_units, tuple(tier1.cold)),
        "pending": dict(tier1.pending),
        "decisions": dict(tier1.decisions),
        "pages": {page: (info.units, info.rejected, info.omissions) for page, info in tier1.pages.items()},
        "aside": tier1.pages_set_aside,
        "answers": {info.id: info.question for info in tier1.answers.values()},
    }

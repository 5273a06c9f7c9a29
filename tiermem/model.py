"""The values that flow between rooms: units, evidence, facts, findings, answers and their trace.

All are frozen; a change is a new value. `None` means unknown, zero means zero. Times of events are
ISO 8601 dates of the precision that is known ("2023-05-07", "2023-05", "2022").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NewType

from pagestore import PageId, SessionId, SpaceId, Span

UnitId = NewType("UnitId", str)
AnswerId = NewType("AnswerId", str)
FindingId = NewType("FindingId", str)

Grade = Literal["verbatim", "close", "page"]
UnitKind = Literal["summary", "finding"]
Action = Literal["ANSWER", "ESCALATE"]
Op = Literal["ADD", "UPDATE", "SKIP"]
AskMode = Literal["router", "summary", "raw"]
WriteBackVariant = Literal["retrieve-and-edit", "no-recall"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryUnit:
    """A short self-contained statement of Tier 1 and the exact words it rests on.

    `spans` is never empty. `said_at` is when the supporting words were said, `event_at` when what
    they tell happened. `supersedes` names older units this one contradicts with newer evidence, and
    everything these had superseded. `trust` is the level of the least trusted turn it needs (`None` in
    units of before levels were kept, which rank lowest).
    """

    id: UnitId
    text: str
    spans: tuple[Span, ...]
    kind: UnitKind
    session: SessionId
    said_at: datetime | None = None
    event_at: str | None = None
    scene: str | None = None
    """What was going on. Words that only it holds find the unit too."""
    importance: float = 0.5
    """0 to 1, as whoever made it judged. For callers: no ranking and no decision reads it."""
    made_by: str = ""
    revision: int = 1
    supersedes: tuple[UnitId, ...] = ()
    trust: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Something retrieval brought: a unit's text or raw words of a page, with its score and origin."""

    text: str
    spans: tuple[Span, ...]
    score: float
    source: Literal["unit", "page", "open"]
    unit_id: UnitId | None = None
    said_at: datetime | None = None
    event_at: str | None = None
    similarity: float | None = None
    """Cosine between question and text where an index computed it."""
    trust: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a model or the local engine asserts, with the words it says it rests on; not yet proved."""

    text: str
    quote: str
    scene: str | None = None
    event_at: str | None = None
    importance: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedFact:
    """A claim and the exact words on pages that support it.

    `verbatim` is proved; `close` and `page` are shown, and never written back.
    """

    claim: str
    quote: str
    spans: tuple[Span, ...]
    grade: Grade
    event_at: str | None = None
    scene: str | None = None
    importance: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A claim whose words were not found, or do not support it, and why."""

    claim: str
    quote: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Degradation:
    """A step that could not run as meant, and what was done in its place."""

    stage: str
    reason: str
    fallback: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What Tier 1 brings to a question: units by rank, and the tail of the open pages, verbatim.

    `session`, `as_of` and `min_trust` say what was looked at (`None`: every session, now, whoever said
    it); research keeps to them.
    """

    units: tuple[Evidence, ...]
    tail: tuple[Evidence, ...] = ()
    session: SessionId | None = None
    as_of: datetime | None = None
    dropped: int = 0
    """Hits whose unit or page this space's log does not hold; counted, never shown."""
    degradations: tuple[Degradation, ...] = ()
    min_trust: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Which tier answers, how sure, and why. `router` names who decided."""

    action: Action
    confidence: float
    reason: str
    router: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One look-up the planner asks for: by meaning over units and pages, or by words over pages."""

    kind: Literal["SEMANTIC", "KEYWORD"]
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One turn of the research loop: what was searched, which pages were read, what they gave."""

    number: int
    searches: tuple[Search, ...]
    pages: tuple[PageId, ...]
    facts: int
    rejected: int
    coverage: str
    stop: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Everything found for one question before the answer is worded."""

    evidence: tuple[Evidence, ...]
    facts: tuple[LinkedFact, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    rounds: tuple[Round, ...] = ()
    pages_read: tuple[PageId, ...] = ()
    dropped: int = 0
    degradations: tuple[Degradation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Whether every literal of an answer stands in what it cites; `unsupported` names those that do not."""

    passed: bool
    unsupported: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Cost of one step or one whole ask. `cost` is `None` where nobody knows the price."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    embedding_tokens: int = 0
    calls: int = 0
    seconds: float = 0.0
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepUsage:
    """Usage of one named step ("route", "integrate", …)."""

    step: str
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits on one ask; `None` means no limit. Reached: answer from what there is, and say so."""

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One numbered source of an answer: the claim, its words, where they stand, who said them and when."""

    number: int
    claim: str
    quote: str
    spans: tuple[Span, ...]
    grade: Grade
    speaker: str
    said_at: datetime | None
    unit_id: UnitId | None = None
    trust: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """How an answer came about: enough to show every candidate, choice and check afterwards.

    `read_tokens` is the evidence the answer was worded from; `summary_tokens` what was recalled, which
    an answer from summaries alone reads; `raw_tokens` what reading the linked pages instead would have
    cost. `session`, `mode` and `budget` are what the question was asked with.
    """

    question: str
    asked_at: datetime
    as_of: datetime | None
    head: int
    engine: str
    candidates: tuple[Evidence, ...]
    decision: Decision
    rounds: tuple[Round, ...]
    checks: tuple[Check, ...]
    rejected: tuple[Rejected, ...]
    prompts: tuple[str, ...]
    models: tuple[str, ...]
    usage: tuple[StepUsage, ...]
    degradations: tuple[Degradation, ...]
    read_tokens: int
    raw_tokens: int
    dropped: int = 0
    summary_tokens: int = 0
    session: SessionId | None = None
    min_trust: str | None = None
    mode: AskMode = "router"
    budget: Budget = Budget()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What `ask` returns: the words, the route, the sources, and how it came about.

    `trust` is the lowest level among the sources it cites; `None` when it cites none.
    """

    id: AnswerId
    space: SpaceId
    text: str
    route: Action
    citations: tuple[Citation, ...]
    facts: tuple[LinkedFact, ...]
    abstained: bool
    usage: Usage
    trace: Trace
    trust: str | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A proved fact an escalation brought, waiting to be written back to Tier 1."""

    id: FindingId
    answer_id: AnswerId
    question: str
    fact: LinkedFact
    session: SessionId
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBack:
    """What became of one finding, recorded also when nothing was written."""

    finding_id: FindingId
    op: Op
    reason: str
    unit_id: UnitId | None = None
    superseded: tuple[UnitId, ...] = field(default=())

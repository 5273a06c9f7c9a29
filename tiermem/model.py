"""The values that flow between rooms: units, evidence, facts, findings, answers and their trace.

All are frozen; a change is a new value. `None` means unknown, zero means zero. Times of events are
ISO 8601 dates of the precision that is known ("2023-05-07", "2023-05", "2022").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Final, Literal, NewType

from pagestore import Page, PageId, PageInfo, SessionId, SpaceId, Span, Turn, TurnAddress

UnitId = NewType("UnitId", str)
AnswerId = NewType("AnswerId", str)
FindingId = NewType("FindingId", str)
Named = Annotated[str, "named"]
"""A string that code or settings choose: the name of an engine, a model, a prompt, a step or a level, or a
date. Every other one that an entry of the ledger holds is somebody's words, which erasing looks through.
"""

Support = Literal["quoted", "computed", "worded"]
"""What code checked of a wording against the words it cites; none of them says that the wording is true.

`quoted`: every item is a literal run of words of one cited sentence, or the name of its speaker. `computed`:
dates are counted from a relative expression of a cited sentence, the rest is quoted. `worded`: the quotes are
exact, and the wording is its maker's.
"""
AnswerSupport = Literal["said", "quoted", "computed", "worded"]
"""What an answer is: lines as they were said, without a wording, or what code checked of its wording."""
Graded = Literal["quoted", "computed", "worded", "contradicted"]
"""The result of a check: a support, or `contradicted`: nothing is cited, or the cited words say otherwise."""
CitationSupport = Literal["quoted", "computed", "worded", "stated"]
"""The support of what is cited; `stated` of a unit, whose words were checked when it was made."""
UnitKind = Literal["summary", "finding", "quote", "stated"]
"""`quote`: the words themselves, kept where the wording of a claim could not be confirmed. `stated`: what a
person said in a turn of its own, to be remembered word for word.
"""
Action = Literal["ANSWER", "ESCALATE"]
Op = Literal["ADD", "UPDATE", "SKIP"]
AskMode = Literal["router", "summary", "raw"]
Way = Literal["recall", "widened", "researched"]
"""How far reading went for an answer: what was recalled, more turns, or what was missing searched for."""
WriteBackVariant = Literal["retrieve-and-edit", "no-recall"]
Unproved = Literal["mark", "abstain"]
"""What becomes of an answer with unsupported words, or that was not checked: it is marked, or withheld."""


SAID_ABOUT = "Said about this:"
"""The heading of lines the first of which is likely to hold what is asked for."""
NEAREST = "Nearest in memory:"
"""The heading of other lines."""
Order = Literal["later", "before", "same"]
"""When words were said, compared with the first of some lines."""
_BREAK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""White space and controls: each is displayed as a space, so that no words look like another line."""


def trust_mark(level: str | None) -> str:
    """How a line, a context or a prompt marks a source of this level; "" for the user's own words."""
    return "" if level in (None, "user") else f"trust {level}"


def merge_owners(*agents: Iterable[str | None]) -> tuple[str, ...]:
    """To whom belongs what is made of what belongs to these agents: all of them, each once, in order."""
    return tuple(sorted({one for some in agents for one in some if one is not None}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One thing a derivation starts from: its words, where they stand, and when they were said."""

    text: str
    spans: tuple[Span, ...] = ()
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """A value that code computed from stated terms; computing it again gives the same.

    `date`: counted from when the one term was said.
    """

    kind: Literal["date"]
    value: str
    terms: tuple[Term, ...]


CautionCode = Literal[
    "negation", "possibility", "plan", "condition", "report", "exception", "past_habit", "person", "relative",
    "competing", "question", "assistant", "memory", "inferred", "language", "topic",
]  # fmt: skip


_IN_ONE = "is in only one of the answer and the cited sentence"
_CAUTIONS: Mapping[CautionCode, str] = {
    "negation": f"a negation {_IN_ONE}",
    "possibility": f"a possibility {_IN_ONE}",
    "plan": f"a plan or wish {_IN_ONE}",
    "condition": f"a condition {_IN_ONE}",
    "exception": f"an exception {_IN_ONE}",
    "past_habit": f"a past habit {_IN_ONE}",
    "report": "the cited sentence reports what another person said",
    "person": "the cited sentence is not about the person in question",
    "relative": "the cited sentence is about somebody or something that belongs to the person in question",
    "competing": "the cited sentence has another number, date or name as near to the words of the question",
    "question": "the cited sentence only asks",
    "assistant": "only an assistant says so",
    "memory": "only another memory says so, and it shows no words",
    "inferred": "it is concluded from the cited words",
    "language": "there are no rules for the language of the cited sentence",
    "topic": "the cited sentence has no content word of the question",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Caution:
    """A fact about cited sentences that may turn the meaning of an answer, and the words that show it.

    `spans` are the places of these words. It is empty if the code is about whole sentences, or if the words
    are not on a page. `str(caution)` is one line for people.
    """

    code: CautionCode
    spans: tuple[Span, ...] = ()

    def __str__(self) -> str:
        return _CAUTIONS[self.code]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedSentence:
    """Words of a turn, with who said them and when: a cited sentence, or a line of `Answer.said`.

    `marks` are the places in `text` of words of the answer, each from its first character to the one after
    its last. `span` is the place of the words; `None` if the text is that of a unit, or not on a page as a
    whole. "…" in a line of `Answer.said` is in place of words of the turn that are left out. `turn`,
    `session`, `role` and `trust` are the address of the turn, its session, role and level; `None` where they
    are not known.

    Of a line of `Answer.said`, `order` says when it was said, compared with the first line; `None` of the
    first, where a time is not known, and in place of `later` where the turn is less trusted than the first.
    `next` is the turn right after, within an hour: of the same speaker, or the reply to a question.
    """

    text: str
    speaker: str
    said_at: datetime | None = None
    span: Span | None = None
    marks: tuple[tuple[int, int], ...] = ()
    turn: TurnAddress | None = None
    session: SessionId | None = None
    role: Named | None = None
    trust: Named | None = None
    order: Order | None = None
    next: CitedSentence | None = None

    def __str__(self) -> str:
        marked, at = "", 0
        for start, end in self.marks:
            marked += f"{self.text[at:start]}«{self.text[start:end]}»"
            at = end
        when = f"{self.said_at:%Y-%m-%d}" if self.said_at is not None else ""
        order = f" ({self.order})" if self.order in ("later", "before") else ""
        parts = (self.speaker, f"{when}{order}".strip(), trust_mark(self.trust))
        who = ", ".join(part for part in parts if part)
        line = f"{who}: “{marked}{self.text[at:]}”" if who else f"“{marked}{self.text[at:]}”"
        return _BREAK.sub(" ", line)

    def words(self, span: Span) -> str:
        """The words at a span of the same page; "" if it is not within this sentence, or words of it are
        left out.
        """
        here = self.span
        if (
            here is None
            or span.page_id != here.page_id
            or len(self.text) != here.end - here.start
            or not here.start <= span.start < span.end <= here.end
        ):
            return ""
        return self.text[span.start - here.start : span.end - here.start]


def lines_as_text(heading: str, lines: Iterable[CitedSentence]) -> str:
    """The heading and the lines below it, each with what was said next under it."""
    shown = [heading]
    for line in lines:
        shown.append(f"  {line}")
        shown += [f"    then {line.next}"] if line.next is not None else []
    return "\n".join(shown)


EXTRACT: Final = "extract"
IMPORTED: Final = "imported"
"""What made the units of a memory without a model: a choice of sentences, or another memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryUnit:
    """A short self-contained statement of Tier 1 and the exact words it rests on.

    `spans` is never empty. `worded` of a unit means that its words are in the turns, but for what only
    another memory says. `said_at` is when the supporting words were said, `event_at` when what they tell
    happened. `supersedes` names older units this one contradicts with newer evidence, and everything these
    had superseded. `trust` is the level of the least trusted turn it needs (`None` in units of before levels
    were kept, which rank lowest). `scene` is searched, with little weight; `importance` is kept and ranks
    nothing (decision 13).
    """

    id: UnitId
    text: str
    spans: tuple[Span, ...]
    kind: UnitKind
    session: SessionId
    said_at: datetime | None = None
    event_at: Named | None = None
    scene: str | None = None
    """What was going on. Words that only it holds find the unit too."""
    paraphrase: str | None = None
    """Its maker's wording, by which a unit in the words of a speaker is found. It is not displayed."""
    importance: float = 0.5
    """0 to 1: as judged when it was made, or more where a turn it rests on was stored with more.

    `signals` has it; no ranking and no decision reads it.
    """
    made_by: Named = ""
    revision: int = 1
    supersedes: tuple[UnitId, ...] = ()
    trust: Named | None = None
    support: Support
    derivations: tuple[Derivation, ...] = ()
    agents: tuple[Named, ...] = ()
    """Whose it is: the agents of the turns it rests on, and of all that the step which worded it was shown.

    Where there are several, it is of all of them together. Empty: everybody's.
    """

    @property
    def is_extract(self) -> bool:
        """Whether it is a sentence as it was said, which was chosen without a model."""
        return self.made_by == EXTRACT


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """Words that only units rest on which were withdrawn or corrected: they are kept, and are no evidence.

    `reason` is why the unit was withdrawn, or what it was corrected to.
    """

    span: Span
    reason: str
    unit_id: UnitId


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPage(Page):
    """A page with every word that is kept on it, and those of them that were taken back."""

    taken_back: tuple[TakenBack, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPageInfo(PageInfo):
    """What the log knows of a sealed page without its words, and which of these were taken back."""

    taken_back: tuple[TakenBack, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Something retrieval brought: a unit's text, a turn or a whole page, with its score and origin.

    `quote` are the words a unit or a claim rests on, with who said them; empty where `text` are the words.
    `turn` is the address of the turn, which `erase`, `correct` and `page` take, and `session`, `speaker` and
    `role` are those of this turn. Of a unit that rests on several turns it is the first of them. `turn` is
    `None` of a page, and of words that are not in this memory or that the caller may not see.
    """

    text: str
    spans: tuple[Span, ...]
    score: float
    source: Literal["unit", "turn", "page"]
    quote: str = ""
    unit_id: UnitId | None = None
    said_at: datetime | None = None
    event_at: Named | None = None
    similarity: float | None = None
    """Cosine between question and text where an index computed it."""
    trust: Named | None = None
    turn: TurnAddress | None = None
    session: SessionId | None = None
    speaker: str = ""
    role: Named | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What an engine asserts, with the words it says it rests on; not yet checked.

    What it rests on is all of the quotes together: a question and its reply, a name said before.
    """

    text: str
    quotes: tuple[str, ...]
    scene: str | None = None
    event_at: str | None = None
    importance: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedFact:
    """A claim and the exact words on pages that it rests on, one span or more for each quote.

    `reason` says why the wording is not supported: words that no quoted turn has, cautions, quotes that are
    missing or not exact. Then the words are evidence, and the claim is never written back.
    """

    claim: str
    quotes: tuple[str, ...]
    spans: tuple[Span, ...]
    support: Support
    derivations: tuple[Derivation, ...] = ()
    reason: str = ""
    event_at: Named | None = None
    scene: str | None = None
    importance: float = 0.5

    @property
    def is_supported(self) -> bool:
        """Whether the wording may be a unit: code found nothing against it. Its meaning was not checked."""
        return not self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A claim whose words are not on the pages shown, or plainly say otherwise, and why."""

    claim: str
    quotes: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Degradation:
    """A step that could not run as meant, and what was done in its place."""

    stage: Named
    reason: str
    fallback: Named


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What is at hand for a question before any page is read: units and single turns, best first.

    No turn comes twice: a unit that only repeats a turn gives way to it.
    """

    items: tuple[Evidence, ...]
    dropped: int = 0
    """Hits whose unit or page this space's log does not hold; counted, never shown."""
    degradations: tuple[Degradation, ...] = ()

    @property
    def units(self) -> tuple[Evidence, ...]:
        """The units among them, by rank."""
        return tuple(item for item in self.items if item.source == "unit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Which tier is to answer, the number the router gives for it (`None` where it gives none), and why.

    `score` runs from 0 to 1 and is no probability of being right; numbers of different routers do not
    compare. Of `gate` it is the share of the question's words that the best evidence holds, of
    `llm` how sure the model calls itself. No decision reads it.
    """

    action: Action
    score: float | None
    reason: str
    router: Named


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
    """Of pages: what they are said to cover and to miss, empty where none was integrated. Of turns: what the
    answer missed when the round began.
    """
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
    """How far a wording is borne out by what it cites.

    `unsupported` are the content words, numbers, dates and names that no cited words hold and no rule derives
    from them; `cautions` are facts about the cited sentences that may turn the meaning; `reason` says what
    contradicts the wording, or why it is no more than worded.
    """

    support: Graded
    unsupported: tuple[str, ...] = ()
    cautions: tuple[Caution, ...] = ()
    derivations: tuple[Derivation, ...] = ()
    reason: str = ""

    @property
    def refused(self) -> bool:
        """Whether the words cited plainly say otherwise."""
        return self.support == "contradicted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Cost of one step or one whole ask. `cost` is `None` where the price is not known.

    `calls` are requests that were made; `failed` are those of them that an endpoint rejected or that
    reached none, which no limit of a day counts. `repairs` counts replies of a model
    that were read after their JSON was repaired.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    embedding_tokens: int = 0
    calls: int = 0
    failed: int = 0
    repairs: int = 0
    seconds: float = 0.0
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepUsage:
    """Usage of one named step ("route", "integrate", …)."""

    step: Named
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
    """One numbered source of an answer: the claim, its words, where they stand, who said them and when.

    `support` is that of the claim. A turn that is cited for its own words is `quoted`. `turn`, `session`,
    `speaker` and `role` are those of the first turn that is cited, as in `Evidence`.
    """

    number: int
    claim: str
    quote: str
    spans: tuple[Span, ...]
    support: CitationSupport
    speaker: str
    said_at: datetime | None
    unit_id: UnitId | None = None
    trust: Named | None = None
    turn: TurnAddress | None = None
    session: SessionId | None = None
    role: Named | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the metadata of a turn must tell under `key`: `value`, or a list that it is in."""

    key: str
    value: str | int | float | bool

    def is_met_by(self, turn: Turn) -> bool:
        """Whether the turn's metadata says so; `True` and 1 are two things."""
        given = turn.metadata.get(self.key)
        return any(
            one == self.value and isinstance(one, bool) == isinstance(self.value, bool)
            for one in (given if isinstance(given, list) else [given])
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFilter:
    """Which turns may be seen, by what is known of each; `None` asks nothing of them.

    `speaker` and `role` are compared without regard to case, and "Tom" is "~ Tom" too, as WhatsApp writes who
    is not among the contacts. What was said at one of the moments counts in.
    Where only one of a moment and a turn's time has a time zone, the other is read in it. `where` are
    pieces of metadata, all of which a turn must have. A turn without the value asked for is not seen.
    """

    speaker: str | None = None
    role: str | None = None
    said_after: datetime | None = None
    said_before: datetime | None = None
    where: tuple[Wanted, ...] = ()

    def keeps(self, turn: Turn) -> bool:
        """Whether the turn is all that is asked for."""
        return (
            _is_same_name(self.speaker, turn.speaker)
            and _is_same_name(self.role, turn.role)
            and (self.said_after is None or _in_order(self.said_after, turn.said_at))
            and (self.said_before is None or _in_order(turn.said_at, self.said_before))
            and all(wanted.is_met_by(turn) for wanted in self.where)
        )


def _is_same_name(wanted: str | None, there: str | None) -> bool:
    """Whether a name is the one that is asked for, whatever its case and Unicode form."""
    return wanted is None or (there is not None and fold_name(there) == fold_name(wanted))


_NOT_SAVED = "~"
"""WhatsApp's mark before the name of a number that is not saved."""


def fold_name(name: str) -> str:
    """A name without its case, Unicode form and WhatsApp's mark (`~ Tom`), to be compared."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return folded.removeprefix(_NOT_SAVED).lstrip() or folded


def _in_order(first: datetime | None, then: datetime | None) -> bool:
    """Whether both are known and the first is not the later one."""
    if first is None or then is None:
        return False
    return first.replace(tzinfo=first.tzinfo or then.tzinfo) <= then.replace(
        tzinfo=then.tzinfo or first.tzinfo
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """How an answer came about: enough to show every candidate, choice and check afterwards.

    `read_tokens` is the evidence the answer was worded from; `summary_tokens` what was recalled, which
    an answer from that alone reads; `raw_tokens` what reading the linked pages instead would have
    cost. `decision` is what the router decided, `way` how far reading went in the end. `session`,
    `turns` (which of them might be seen), `mode` and `budget` are what the question was asked with.
    """

    question: str
    asked_at: datetime
    as_of: datetime | None
    head: int
    engine: Named
    candidates: tuple[Evidence, ...]
    decision: Decision
    rounds: tuple[Round, ...]
    checks: tuple[Check, ...]
    rejected: tuple[Rejected, ...]
    prompts: tuple[Named, ...]
    models: tuple[Named, ...]
    usage: tuple[StepUsage, ...]
    degradations: tuple[Degradation, ...]
    read_tokens: int
    raw_tokens: int
    dropped: int = 0
    summary_tokens: int = 0
    session: SessionId | None = None
    min_trust: Named | None = None
    turns: TurnFilter | None = None
    mode: AskMode = "router"
    budget: Budget = Budget()
    way: Way = "recall"
    agent: Named | None = None
    """Who asked; `None` where it was no agent."""


AskStepName = Literal["recall", "route", "widen", "read", "integrate", "compose", "fallback"]
"""What a question does: see `AskStep`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskStep:
    """One step of a question that is done, with what `Answer.trace` will hold of it, under the same names.

    `recall`: `candidates` were found. `route`: `decision`. `widen`: more turns, `candidates`. `read`: pages
    or turns of a round were read, `rounds` holds that round, without its facts; `integrate`: the same round,
    with them. `compose`: an answer was worded by the `way`, and checked. `fallback`: something could not be
    done, `degradations` says what and what instead. `usage` is what was used by then, by step.
    """

    name: AskStepName
    way: Way = "recall"
    candidates: tuple[Evidence, ...] = ()
    decision: Decision | None = None
    rounds: tuple[Round, ...] = ()
    checks: tuple[Check, ...] = ()
    degradations: tuple[Degradation, ...] = ()
    usage: tuple[StepUsage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What `ask` returns: the words, the route, the sources, and how it came about.

    Without a model `text` is a heading and the lines of `said`, each of which it cites, and `support` is
    `said`. It abstains where the first line is not likely to hold what is asked for, or how likely is not
    known: the lines are displayed then, and not cited. With a model that abstains they are too; without any,
    `text` says that nothing was found.

    `route` is `ANSWER` where it was made from what was recalled, also where more was searched for and no
    model read any of it, and `ESCALATE` where a model read more. `support` says what code checked of the
    answer against the cited words; `None` when it abstains. `derivations` are what code computed for it.
    `cautions` are facts about the cited sentences that may turn the meaning. `unsupported`
    are its content words, numbers, dates and names that are in no cited turn, are no speaker of one, are not
    in the question and were not computed, at most 64. An answer of more than 4,000 characters, or without a
    content word, is not checked: it lists none, and `sentences` is empty.
    `complete` is `False` where a part of what was asked is missing, and `missing` says what; it is `None`
    without a model. `explanation` is what a model says where it abstains, in its words, which no code
    checked. `trust` is the lowest level among the sources it cites; `None` when it cites none.
    `probability`, without a model, is that of the first line holding what is asked for (0 to 1), fitted on
    conversations that the small reader did not learn from; `None` where it is not known. `recorded` is
    `False` where the answer was only given: by a memory opened read-only, or to compare.
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
    trust: Named | None = None
    support: AnswerSupport | None = None
    derivations: tuple[Derivation, ...] = ()
    unsupported: tuple[str, ...] = ()
    cautions: tuple[Caution, ...] = ()
    sentences: tuple[CitedSentence, ...] = ()
    """The cited sentences that hold words of the answer, as few as hold all that are supported, with these
    words marked."""
    said: tuple[CitedSentence, ...] = ()
    """What was said about the question, without a model or where it abstains: at most three turns, the best
    one first, the others in the order in which they were said. Where it abstains it cites none of them."""
    complete: bool | None = True
    missing: str = ""
    recorded: bool = True
    probability: float | None = None
    explanation: str = ""

    def __str__(self) -> str:
        """The text; of an answer that does not abstain with cited sentences, in which its words are in «»,
        and what may turn its meaning. Then what is missing, and what a model that abstains says.
        """
        unsupported = [f"not in the cited words: {', '.join(self.unsupported)}"] if self.unsupported else []
        missing = f"{'missing' if self.abstained else 'incomplete, missing'}: {self.missing_part}"
        lines = (
            *map(str, self.sentences),
            *unsupported,
            *self.caution_lines,
            *([_BREAK.sub(" ", missing)] if self.missing_part else []),
            *([_BREAK.sub(" ", f"what the model said: “{self.explanation}”")] if self.explanation else []),
        )
        return "\n  ".join((self.text, *lines))

    @property
    def missing_part(self) -> str:
        """What is missing, as it is displayed: also where it is not known what; "" where nothing is."""
        if self.complete is not False:
            return ""
        return self.missing or ("" if self.abstained else "a part of what was asked")

    @property
    def caution_lines(self) -> tuple[str, ...]:
        """A line for each caution, with the words that show it."""
        return tuple(f"{one}{self._words_of(one)}" for one in self.cautions)

    def _words_of(self, caution: Caution) -> str:
        found = (sentence.words(span) for span in caution.spans for sentence in self.sentences)
        shown = ", ".join(f"“{words}”" for words in dict.fromkeys(found) if words)
        return f": {shown}" if shown else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A confirmed fact of an escalated question that waits for write-back to Tier 1."""

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

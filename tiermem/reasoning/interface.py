"""The judgements, each a protocol of one method, and the engine that holds one of each, or none.

Who judges, a model or rules, is one file a judgement. Who judges is never trusted with provenance: what
is claimed is linked to pages by code (`tiermem.proof`), and what plainly says otherwise is refused there.
A judgement may raise `ModelError` or `BudgetExceeded`, and nothing else. `replace(engine, route=…)` puts
another judge in one place: a learned router, recorded facts, a test's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from inspect import Parameter, iscoroutinefunction, signature
from typing import Final, Protocol

from pagestore import Page
from tiermem.errors import InvalidInput, shown
from tiermem.model import Claim, Decision, Evidence, LinkedFact, Op, Search, SummaryUnit, UnitId
from tiermem.text.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """A page as research reads it: its words, and the units already linked to it."""

    page: Page
    units: tuple[SummaryUnit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrated:
    """What pages gave for a question, and in words what is covered and what is missing."""

    claims: tuple[Claim, ...]
    coverage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """Look further, or stop."""

    done: bool
    reason: str
    searches: tuple[Search, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The answer in words.

    `cited` are indices into the evidence given; empty when abstaining. `complete` is `False` where a part
    of what is asked is missing or could be stated more exactly, and `missing` says what; an abstention is
    complete where no search could change it (what is asked is said of somebody else). `statement` is what was
    found as one sentence that can be read alone, "" where there is none: memory may keep it once code has
    confirmed it.
    `inferred` says that the answer is concluded from the evidence, not stated by it. `searches` are what to
    look up for what is missing, none where nothing would find it; `None` leaves that to `plan`. `probability`
    is that of its being right, from a calibration; `None` where there is none.
    """

    text: str
    cited: tuple[int, ...]
    abstained: bool
    complete: bool = True
    missing: str = ""
    statement: str = ""
    inferred: bool = False
    searches: tuple[Search, ...] | None = None
    probability: float | None = None

    def __post_init__(self) -> None:
        """Refuse words that are no text, and what is no probability, such as NaN."""
        for name in ("text", "missing", "statement"):
            words: object = getattr(self, name)
            if not isinstance(words, str):
                raise InvalidInput(f"{name} of a Draft must be a text, not {shown(words)}")
        if self.probability is not None and not 0 <= self.probability <= 1:
            raise InvalidInput(f"probability must be from 0 to 1, or None, not {self.probability!r}")


ABSTAINED: Final = Draft(text="", cited=(), abstained=True, complete=False)
"""No answer, where another search might find one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What to do with a fact, given its nearest units.

    UPDATE merges into `target` with `text`; ADD with `supersedes` says the fact is newer and
    contradicts those units.
    """

    op: Op
    reason: str
    target: UnitId | None = None
    text: str | None = None
    supersedes: tuple[UnitId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyWords:
    """The words of a turn that are likeliest to answer a question: from `start` to before `end`.

    `lead` is how far they lead "there is no answer", in logits. There are none where `start` is `end`.
    """

    start: int
    end: int
    lead: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PointedTurns:
    """The likeliest words and the score of each of some turns, in order.

    `probability` is that of the turn with the highest score holding what is asked for, from a calibration;
    `None` where there is none. `is_likely` says that it is high enough for the risk that was chosen.
    """

    words: tuple[LikelyWords, ...]
    scores: tuple[float, ...]
    probability: float | None = None
    is_likely: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """A turn: who said what, and when, and the rank of its trust."""

    speaker: str
    text: str
    said_at: datetime | None = None
    rank: int = 0


class PointAtTurns(Protocol):
    """Which of these turns holds what is asked for, in which of its words?"""

    async def __call__(
        self, question: Question, turns: Sequence[SaidTurn], found: Sequence[float]
    ) -> PointedTurns | None:
        """Score the turns; `found` are their scores of the search. `None` where it scores none."""
        ...


class Distil(Protocol):
    """What do these pages tell?"""

    async def __call__(self, pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
        """Self-contained facts of pages of one space, oldest first, each with its words.

        `hints` are things an earlier try lost.
        """
        ...


class Route(Protocol):
    """Does this evidence answer the question without guessing?"""

    async def __call__(self, question: Question, evidence: Sequence[Evidence]) -> Decision:
        """ANSWER, or in doubt ESCALATE; `Decision.router` says who decided."""
        ...


class Integrate(Protocol):
    """What do these pages tell for a question?"""

    async def __call__(
        self, question: Question, pages: Sequence[PageView], known: Sequence[Evidence]
    ) -> Integrated:
        """Facts of these pages that help to answer and are not known yet, each with exact quotes."""
        ...


class Plan(Protocol):
    """Is this enough, and if not, what is to be looked up?"""

    async def __call__(
        self, question: Question, known: Sequence[Evidence], missing: str, done: Sequence[Search]
    ) -> Planned:
        """Stop, or look-ups for what is `missing`; never one that was made before (`done`)."""
        ...


class Compose(Protocol):
    """What is the answer?"""

    async def __call__(self, question: Question, evidence: Sequence[Evidence]) -> Draft:
        """Word the answer from the evidence alone, citing it by index, or abstain."""
        ...


class Select(Protocol):
    """Which facts are worth keeping?"""

    async def __call__(
        self, question: str, facts: Sequence[LinkedFact], pages: Sequence[Page]
    ) -> tuple[int, ...]:
        """Indices of those that are relevant, specific, grounded, self-contained."""
        ...


class Reconcile(Protocol):
    """What becomes of a fact, given its nearest units?"""

    async def __call__(self, fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
        """ADD, UPDATE or SKIP it (no neighbours given: ADD or SKIP only)."""
        ...


_PROTOCOLS: Final = {
    "distil": Distil,
    "route": Route,
    "integrate": Integrate,
    "plan": Plan,
    "compose": Compose,
    "select": Select,
    "reconcile": Reconcile,
    "point": PointAtTurns,
}


def _check_parameters(name: str, judge: Callable[..., object]) -> None:
    """Refuse a judge that cannot be called as its protocol is, where its parameters are known."""
    _, *expected = signature(_PROTOCOLS[name].__call__).parameters.values()
    given = [one.name for one in expected if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
    by_name = {one.name: None for one in expected if one.kind is Parameter.KEYWORD_ONLY}
    try:
        found = signature(judge)
    except (TypeError, ValueError):
        return
    try:
        found.bind(*given, **by_name)
    except TypeError as error:
        hint = "; the moment of asking is `question.asked_at`" if "asked_at" in found.parameters else ""
        call = ", ".join([*given, *(f"{one}=…" for one in by_name)])
        raise InvalidInput(f"the engine calls its {name!r} as {name}({call}), and {error}{hint}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One judge for each judgement, or none. `name` goes into traces and into what units are `made_by`.

    - Without `distil` pages are summarised by sentences of theirs (`made_by="extract"`).
    - Without `route` nothing is decided before the answer is worded: `compose` says itself whether what was
      recalled is enough (`router="fused"`).
    - Without `compose` nothing is worded: answers are lines as they were said. `point` orders these; without
      it they are in the order of the search.
    - Without both `integrate` and `plan` no question is looked into further than what was recalled.
    - Without both `select` and `reconcile` findings stay pending.

    Every judge is awaited: an `async def`, or an object whose `__call__` is one. Another is `InvalidInput`.
    `free` engines make no call that anybody pays for.
    """

    name: str
    distil: Distil | None = None
    route: Route | None = None
    integrate: Integrate | None = None
    plan: Plan | None = None
    compose: Compose | None = None
    select: Select | None = None
    reconcile: Reconcile | None = None
    free: bool = False
    point: PointAtTurns | None = None

    def __post_init__(self) -> None:
        """Refuse a judge that cannot be awaited."""
        for field in fields(self):
            judge = getattr(self, field.name)
            if field.name in ("name", "free") or judge is None:
                continue
            if not (iscoroutinefunction(judge) or iscoroutinefunction(type(judge).__call__)):
                raise InvalidInput(
                    f"the engine awaits its {field.name!r}: write it as `async def`, not {judge!r} "
                    "(in it, `await anyio.to_thread.run_sync(call)` waits for a call that blocks)"
                )
            _check_parameters(field.name, judge)

    @property
    def looks_further(self) -> bool:
        """Whether more can be read for a question than what was recalled."""
        return self.integrate is not None and self.plan is not None

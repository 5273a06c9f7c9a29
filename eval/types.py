"""The five nouns of evaluation: `Case`, `Question`, `System`, `Grade`, `Result`.

The rule this file guards: what a dataset calls its sessions and turns (some names give the answer
away) stays in `Case.official` and in a question's evidence. A system is handed `Session`s with ids
made from their position, the question's words and its date, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NewType, Protocol, runtime_checkable

from pagestore.values import SessionId, Turn
from tiermem.model import AnswerSupport, StepUsage, Usage

CaseId = NewType("CaseId", str)
QuestionId = NewType("QuestionId", str)
DatasetName = Literal[
    "locomo", "longmemeval", "realtalk", "languages", "newcomer", "statements", "written", "beam"
]
"""What can be read."""
EngineName = Literal["local", "model", "recorded"]
"""Who reasons."""
Level = Literal["session", "page", "turn"]
Way = Literal["recall", "widened", "researched"]
"""How far an answer went: what was recalled, more turns around it, or the pages."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Passage:
    """A run of turns of one session, `start` to `end` (half open): a turn, a page or a whole session."""

    session: SessionId
    start: int
    end: int

    def holds(self, turn: Passage) -> bool:
        """True when every turn of `turn` lies within this run."""
        return self.session == turn.session and self.start <= turn.start and turn.end <= self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What was said of a conversation in one go: its turns in order, and when it began if that is known."""

    id: SessionId
    turns: tuple[Turn, ...]
    started_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledQuestion:
    """One question with its gold answers and the single turns or whole sessions that hold the evidence.

    `answerable` is False where the right reply is to abstain. `flags` name what a report sets apart
    ("evidence after question", "audited wrong", …).
    """

    id: QuestionId
    text: str
    category: str
    gold: tuple[str, ...]
    asked_at: datetime | None = None
    evidence: tuple[Passage, ...] = ()
    evidence_sessions: tuple[SessionId, ...] = ()
    answerable: bool = True
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One conversation, observed once by a fresh system, and every question asked about it.

    `official` maps our session ids to the dataset's own names, for scoring only. Two sessions may
    carry the same name: the same document, twice.
    """

    id: CaseId
    sessions: tuple[Session, ...]
    questions: tuple[LabelledQuestion, ...]
    official: Mapping[SessionId, str] = field(default_factory=dict)

    def turn(self, at: Passage) -> Turn:
        """The first turn of a passage; `KeyError` for a session this case does not have."""
        for session in self.sessions:
            if session.id == at.session:
                return session.turns[at.start]
        raise KeyError(at.session)


@runtime_checkable
class Dataset(Protocol):
    """Cases read from files on disk, what was wrong with them, and the digest that pins them."""

    @property
    def name(self) -> str:
        """What reports and manifests call it."""
        ...

    @property
    def checksum(self) -> str:
        """SHA-256 of the content, after decompression."""
        ...

    @property
    def defects(self) -> Mapping[str, int]:
        """How many flaws of each kind the reader met and stepped over."""
        ...

    def cases(self) -> Iterator[Case]:
        """Every case, in an order that is the same each time."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """One source of a reply: what it is cited for, its words as they stand, who said them and when."""

    claim: str
    quote: str
    speaker: str = ""
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Words that a system displays for a question in place of an answer: of which turn, by whom and when."""

    place: Passage
    turn: Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a system said: its words, whether it abstained, how it got there and what that cost.

    `decided` is the router's own decision and `way` the way the answer then came; `route` is what the
    system calls the two together. `depth` counts the rounds of research that searched, `hits` what was
    brought by source: units and turns recalled, pages linked to them, pages searched for. `usage` and
    `steps` are what models counted. `reads` is, by step, how many tokens of evidence were read: the same
    work measured without a model. `answer_id` is the system's own name of the answer, where it can be
    looked up again. `support` is how far the words cited bear the answer out, where the system tells.
    """

    text: str
    abstained: bool = False
    route: str | None = None
    decided: str | None = None
    way: Way | None = None
    depth: int = 0
    hits: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""
    citations: tuple[Cited, ...] = ()
    usage: Usage = field(default_factory=Usage)
    steps: tuple[StepUsage, ...] = ()
    reads: Mapping[str, int] = field(default_factory=dict)
    prompts: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    answer_id: str | None = None
    support: AnswerSupport | None = None
    said: tuple[Line, ...] = ()


@runtime_checkable
class System(Protocol):
    """Anything that can listen to dialogue and answer questions about it."""

    @property
    def name(self) -> str:
        """What reports call it, settings included: two systems of one name are one system."""
        ...

    async def observe(self, sessions: Sequence[Session]) -> None:
        """Take in a whole conversation, oldest session first; called once, before any question."""
        ...

    async def ask(self, question: str, *, asked_at: datetime | None = None) -> Reply:
        """Answer from what was observed, or abstain."""
        ...

    async def close(self) -> None:
        """Let go of files, processes and connections."""
        ...


@runtime_checkable
class Retriever(Protocol):
    """A system that can say where it would look, best first, without answering."""

    @property
    def name(self) -> str:
        """What reports call it, settings included: two systems of one name are one system."""
        ...

    async def observe(self, sessions: Sequence[Session]) -> None:
        """Take in a whole conversation, oldest session first; called once, before any question."""
        ...

    async def retrieve(
        self, question: str, *, level: Level, limit: int, asked_at: datetime | None = None
    ) -> tuple[Passage, ...]:
        """At most `limit` turns, pages or sessions, none twice."""
        ...

    async def close(self) -> None:
        """Let go of files, processes and connections."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """What became of the findings of one epoch, and how many units Tier 1 holds afterwards."""

    added: int
    updated: int
    skipped: int
    pending: int
    units: int


@runtime_checkable
class Consolidates(Protocol):
    """A system that keeps what it learned while answering until it is told to write it back."""

    async def units(self) -> int:
        """How many units Tier 1 holds now."""
        ...

    async def consolidate(self) -> Consolidated:
        """Write back everything learned so far, in one batch."""
        ...


@runtime_checkable
class Spends(Protocol):
    """A system that knows what its model calls have cost since it was opened."""

    async def spent(self) -> tuple[StepUsage, ...]:
        """All usage so far, by step."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """How good one reply was. `correct` is the judge's verdict, `None` where it has none.

    `verdicts` holds one for each style of judging, where a model judged; `correct` is the first of them.
    """

    f1: float
    exact: bool
    soft: bool
    correct: bool | None = None
    judge: str | None = None
    verdicts: Mapping[str, bool | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One question, asked once: everything a report needs, so that it can be recomputed from the folder.

    `attempt` counts how often its case was begun: only the last attempt of a replayed case counts.
    """

    system: str
    case: CaseId
    question: QuestionId
    category: str
    text: str
    gold: tuple[str, ...]
    answerable: bool
    flags: tuple[str, ...]
    evidence: tuple[str, ...]
    epoch: int
    attempt: int
    reply: Reply
    grade: Grade
    seconds: float
    judging: Usage = field(default_factory=Usage)
    lines: tuple[bool, ...] = ()
    """Whether each line of `reply.said` shows the answer."""

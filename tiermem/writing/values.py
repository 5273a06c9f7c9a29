"""The options of writing, and what it reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from pagestore import PageId, SessionId
from tiermem.ledger import SetAside
from tiermem.model import SummaryUnit, UnitId, Usage, WriteBack, WriteBackVariant
from tiermem.salience.propose import NearUnits
from tiermem.trust import DEFAULT_TRUST, TrustLevels

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterOptions:
    """How to write. `neighbours` are the nearest units a fact is compared with before it is kept."""

    variant: WriteBackVariant = "retrieve-and-edit"
    neighbours: int = 3
    concurrency: int = 4
    page_tokens: int = 1000
    """Small pages are summarised together, as many as hold so many tokens."""
    idle_seal: float = 30.0
    """Minutes after which an open page of an idle session seals; `inf` for never."""
    trust: TrustLevels = DEFAULT_TRUST
    write_back_trust: str | None = None
    """The level below which a finding is not written back; `None` for any."""
    unsearched_roles: tuple[str, ...] = ()
    """Roles of turns that are stored, and found by no search."""
    embedder: str = ""
    """Whose vectors the index compares: from which cosine on units are near each other depends on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedWork:
    """Work that could not be done now and stays pending: which step, on what, and why."""

    stage: Literal["distil", "write-back", "index"]
    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.stage} of {self.what} stays pending: {self.reason}"

    @property
    def kind(self) -> str:
        """The step and the reason: what several failures have in common."""
        return f"{self.stage}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectionCounts:
    """How many units, sealed pages, and open pages with what is new on them were put into the index."""

    units: int = 0
    pages: int = 0
    open_pages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilReport:
    """What one run of summarising did. `pending` pages are left for the next run, those set aside among them.

    `worded` claims could not be confirmed: of these the words are kept, and the wording is not. `aside` are
    the pages on which this run, or the index, raised something unexpected. `elsewhere` is how many pages
    another process was summarising.
    """

    distilled: int
    units: int
    rejected: int
    omissions: int
    pending: int
    worded: int = 0
    elsewhere: int = 0
    unfinished: tuple[UnfinishedWork, ...] = ()
    aside: tuple[SetAside, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBackReport:
    """What became of each finding given. `waiting` ones rest on a page that is still open."""

    decisions: tuple[WriteBack, ...] = ()
    waiting: int = 0
    unfinished: tuple[UnfinishedWork, ...] = ()

    def count(self, op: Literal["ADD", "UPDATE", "SKIP"]) -> int:
        """How many findings ended in this operation."""
        return sum(decision.op == op for decision in self.decisions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    """A unit that was taken back, and the units it had superseded that hold again.

    Its words are no evidence any more, but for those that other units which hold rest on (`beside`).
    `proposed`: nothing was done, and it says what would be.
    """

    unit: SummaryUnit
    returned: tuple[SummaryUnit, ...]
    beside: tuple[SummaryUnit, ...] = ()
    proposed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReinstatedUnit:
    """A unit that was withdrawn and is so no longer, and the units that it supersedes again.

    It holds unless a newer one supersedes it: then that is `superseded_by`.
    """

    unit: SummaryUnit
    superseded: tuple[SummaryUnit, ...]
    superseded_by: tuple[UnitId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What a person stated, as a unit that holds, and the page with the turn in which it was said.

    `corrected` is the unit it was stated in correction of. That one's words are no evidence any more, but for
    those that other units which hold rest on (`beside`). `is_new` is false where the unit existed.
    """

    unit: SummaryUnit
    page_id: PageId
    corrected: SummaryUnit | None = None
    beside: tuple[SummaryUnit, ...] = ()
    is_new: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedUnits:
    """A unit that replaces others which say the same; withdrawing it brings these back."""

    unit: SummaryUnit
    of: tuple[UnitId, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """What one pass over a space did, or, where it was `proposed` alone, what it would begin with.

    `sealed` are sessions that were over, `pages` how many pages were summarised, to how many `units`,
    `findings` how many findings were decided on, and `merged` the units that tell the same, as one. Of the
    units that came or changed since the pass before, `near` are those that are near another and stay apart,
    with the reason. `usage` is what it cost. `left` says what it had to leave, and why.
    """

    sealed: tuple[SessionId, ...] = ()
    pages: int = 0
    units: int = 0
    findings: int = 0
    merged: tuple[MergedUnits, ...] = ()
    near: tuple[NearUnits, ...] = ()
    usage: Usage = field(default_factory=Usage)
    left: tuple[str, ...] = ()
    proposed: bool = False

"""The values that all other modules use: what was said, the page it is on, and where words are on it.

A `Turn` is what one party said, once. A `Page` is an ordered run of turns of one session, of one agent or of
none, rendered to text by a pure function, so that a `Span` (a half-open character range) means the same words
for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NewType

from pagestore.errors import InvalidInput

SpaceId = NewType("SpaceId", str)
SessionId = NewType("SessionId", str)
PageId = NewType("PageId", str)
TurnAddress = NewType("TurnAddress", str)
"""`t1:<number in the log>-<beginning of the hash of its line>`; see `pagestore.address`."""
Taken = Literal["free", "same", "other", "erased"]
"""How a turn id is taken: by no turn, by the same words, by other words, or by a turn that was erased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one party said, once, verbatim.

    `said_at` is data and never decides order or durability; `None` means unknown.
    `role` is the field's role name ("user", "assistant", "tool", …). `turn_id` makes appending
    idempotent: the same id with the same words in one session is stored once. `trust` is how far the
    caller trusts the source, in words of the caller's own; `None` means unknown. `metadata` is
    whatever else the caller knows of the turn, as plain JSON under text keys: sealed with the words, erased
    with them, and no part of the page's text. `importance`, from 0 to 1, is how much the caller says it
    matters; `None` means unknown. It too is sealed and erased with the words. `agent` is in whose
    episode it was said; `None` means in that of no agent. It is sealed with the words and stays when they are
    erased.
    """

    speaker: str
    text: str
    said_at: datetime | None = None
    role: str | None = None
    turn_id: str | None = None
    trust: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    importance: float | None = None
    agent: str | None = None

    def texts(self) -> Iterator[str]:
        """Its words, and every text and number of its metadata."""
        yield self.text
        yield from texts_in(self.metadata)


def texts_in(metadata: object) -> Iterator[str]:
    """Every text and number in a JSON value, keys too, as text."""
    if isinstance(metadata, Mapping):
        for key, value in metadata.items():
            yield str(key)
            yield from texts_in(value)
    elif isinstance(metadata, list):
        for value in metadata:
            yield from texts_in(value)
    elif metadata is not None and not isinstance(metadata, bool):
        yield str(metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A half-open character range of one page's text: the unit of provenance."""

    page_id: PageId
    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        """Whether both hold some of the same characters."""
        return self.page_id == other.page_id and self.start < other.end and other.start < self.end

    def contains(self, other: Span) -> bool:
        """Whether it holds all characters of the other."""
        return self.page_id == other.page_id and self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLine:
    """Where one turn is on its page.

    `start:end` covers the whole line(s) of the turn, header included; `body` is where its words begin.
    `seq` is the record number of the turn in its log. `turn` is `None` once the turn was erased.
    A turn too long for a page is on several lines, part 1 to `parts`, each with a number of its own;
    the texts of the parts, joined, are its text. `recorded_at` is when the log took the turn in, where it
    kept that. `address` is how the turn is named to `erase`, `correct` and `page`; `None` if no log has it.
    Both are no part of the page, so two pages that differ in them alone are equal.
    """

    seq: int
    start: int
    body: int
    end: int
    turn: Turn | None
    part: int = 1
    parts: int = 1
    recorded_at: datetime | None = field(default=None, compare=False)
    address: TurnAddress | None = field(default=None, compare=False)

    def touches(self, span: Span) -> bool:
        """Whether some of a span is on this line, the span being one of its page."""
        return self.start < span.end and span.start < self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """An ordered run of turns of one session and one `agent`, and its text, a pure function of those turns.

    A sealed page never changes (erasing is the one exception and leaves a tombstone). The open page
    of a session has `sealed_at=None` and an id starting with `o1:` that keeps resolving, to the sealed
    page, after sealing: the open text is a prefix of the sealed text, so spans stay true.
    """

    id: PageId
    space: SpaceId
    session: SessionId
    number: int
    text: str
    lines: tuple[PageLine, ...]
    tokens: int
    token_counter: str
    sealed_at: datetime | None
    agent: str | None = None

    def words(self, span: Span) -> str:
        """The exact characters `span` covers; `InvalidInput` when it is not a range of this page."""
        if span.page_id != self.id or not 0 <= span.start <= span.end <= len(self.text):
            raise InvalidInput(f"{span!r} is not a range of page {self.id!r}")
        return self.text[span.start : span.end]

    def line_at(self, offset: int) -> PageLine:
        """The turn whose characters hold `offset`; `InvalidInput` when none does."""
        for line in self.lines:
            if line.start <= offset < line.end:
                return line
        raise InvalidInput(f"no turn of page {self.id!r} holds offset {offset}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageInfo:
    """What the log knows of a sealed page without reading its words."""

    id: PageId
    session: SessionId
    number: int
    turns: int
    tokens: int
    sealed_at: datetime
    seq: int
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTimes:
    """The number of a turn in the log, when it was recorded and when it was said, where that is known.

    `recorded_at` is unknown for turns stored before logs kept it; both are unknown for an erased turn.
    """

    seq: int
    recorded_at: datetime | None = None
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenInfo:
    """What the log knows of a page being filled without reading its words: its turns, in order."""

    id: PageId
    session: SessionId
    number: int
    turns: tuple[TurnTimes, ...]
    agent: str | None = None

    @property
    def seq(self) -> int:
        """The number of its newest turn."""
        return self.turns[-1].seq


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One line of the log that is not a turn: opaque to `pagestore` unless it wrote it."""

    seq: int
    kind: str
    at: datetime
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """What one append did: the record number of every turn given, how many were new, which pages sealed."""

    seqs: tuple[int, ...]
    new: int
    sealed: tuple[PageId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Identifies a log up to its record `seq` among all logs and all other pasts of the same one.

    Logs that hold the same up to there have the same `digest`, and no others. Erasing does not change it.
    Without arguments: nothing yet, which every log begins with.
    """

    seq: int = -1
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A commitment to everything a space's log held: every turn, whether its page is open or sealed.

    `size` and `root` are those of the Merkle tree (RFC 6962, SHA-256, hex) of its lines.
    """

    space: SpaceId
    size: int
    root: str
    format: int = 2


def checkpoint_of(fields: Mapping[str, Any]) -> Checkpoint:
    """The checkpoint that JSON describes.

    Raises `KeyError`, `TypeError` or `ValueError` for anything else.
    """
    space, size, root = fields["space"], fields["size"], fields["root"]
    if not isinstance(space, str) or type(size) is not int or not isinstance(root, str):
        raise TypeError("a checkpoint has a space, a size and a root")
    if fields.get("format") != 2:
        raise ValueError(f"a checkpoint of format 2 is read, and this one has {fields.get('format')!r}")
    return Checkpoint(space=SpaceId(space), size=size, root=root)


@dataclass(frozen=True, slots=True, kw_only=True)
class InclusionProof:
    """That one record is leaf `index` of the tree a checkpoint commits to."""

    leaf_hash: str
    index: int
    size: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedRecord:
    """One line of the log, without its line break, and the proof that it is a leaf of the tree."""

    line: str
    proof: InclusionProof


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLine:
    """One turn of a page as evidence: the hash of its line, its characters on the page, the line itself.

    `line` is `None` where the words are withheld or `erased`. Its salt keeps anyone from guessing words
    from the hash.
    """

    digest: str
    length: int
    line: str | None = None
    erased: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedPage:
    """A page as evidence: its seal, proved, and the lines of its turns, whose hashes make the page's id."""

    id: PageId
    seal: ProvedRecord
    turns: tuple[TurnLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthProof:
    """That the tree of `old` is the beginning of the tree of `new`."""

    old: Checkpoint
    new: Checkpoint
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetBack:
    """That line `seq` was recorded by a clock that said `now`, and one before it at `was`, a later time."""

    seq: int
    was: datetime
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTimes:
    """What the times that lines were recorded at say of the clock, by more than its `TOLERANCE`.

    `newest` is the latest time since the clock was last set back; `None` where no line has any.
    """

    newest: datetime | None
    set_back: tuple[SetBack, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenByOthers:
    """How much other writers appended to a log since this object opened it, as far as it was read.

    `erasures` are the erasures among the `lines`.
    """

    lines: int = 0
    erasures: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """One thing `verify` found: where, and in words what differs."""

    where: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """What `verify` re-derived and what it found. `ok` when nothing differs."""

    space: SpaceId
    records: int
    turns: int
    pages: int
    erased: int
    checkpoint: Checkpoint
    damage: tuple[Damage, ...]
    torn: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True when every hash, page and proof agreed."""
        return not self.damage

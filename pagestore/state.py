"""What a log says, folded record by record: sessions, pages, keys, the Merkle tree.

The rule: this is a pure function of the lines, in order. The same fold runs when a log is opened, after
every commit and in `verify`, so what is in memory is what the disk says.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from operator import index

from pagestore.codec import key_in, open_page_id, opened_as, times_of
from pagestore.line import TURNS, Fields, Line
from pagestore.merkle import MerkleTree
from pagestore.values import (
    Checkpoint,
    OpenInfo,
    PageId,
    PageInfo,
    SessionId,
    SetBack,
    SpaceId,
    TurnTimes,
)

TOLERANCE = timedelta(minutes=10)
"""How far recorded times may be out of order: a record waits its turn with the time it was given."""
_TIMED = frozenset({"turn", "rec", "page", "open", "seg", "ckpt", "erase"})
Thread = tuple[SessionId, str | None]
"""A session as one agent, or none, speaks in it: pages are of one thread each."""
Run = tuple[int, int]
"""Records that follow each other: the number of the first, and how many."""


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn line no page seals yet."""

    seq: int
    tokens: int
    digest: bytes
    times: TurnTimes


@dataclass(slots=True)
class Session:
    """The pages of one thread of a session, and the turns waiting for the next."""

    pages: list[PageInfo] = field(default_factory=list)
    waiting: list[OpenTurn] = field(default_factory=list)

    @property
    def next_number(self) -> int:
        """The number of the page being filled."""
        return self.pages[-1].number + 1 if self.pages else 1


class Records:
    """Number and kind of every record that is not a turn.

    Kinds the log keeps to itself are the empty string.
    """

    def __init__(self) -> None:
        self._seqs = array("q")
        self._kinds: list[str] = []
        self._known_kinds: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._seqs)

    def add(self, seq: int, kind: str) -> None:
        """Add the next record."""
        self._seqs.append(seq)
        self._kinds.append(self._known_kinds.setdefault(kind, kind))

    def seq(self, row: int) -> int:
        """The record number of a row."""
        return self._seqs[row]

    def kind(self, row: int) -> str:
        """The kind of a row, as it was folded: what was erased since may still go by its old kind."""
        return self._kinds[row]

    def row(self, seq: int) -> int | None:
        """The row of a record number."""
        row = bisect_left(self._seqs, seq)
        return row if row < len(self) and self._seqs[row] == seq else None

    def first_after(self, seq: int) -> int:
        """The first row whose record number is greater."""
        return bisect_right(self._seqs, seq)


class State:
    """The fold of one space's log."""

    def __init__(self, space: SpaceId) -> None:
        self.space = space
        self.head = -1
        self.turns = 0
        self.erased = 0
        self.sessions: dict[Thread, Session] = {}
        self.agents: dict[SessionId, dict[str | None, None]] = {}
        """Every session, in the order it first spoke, with the agents that spoke in it."""
        self.pages: dict[PageId, PageInfo] = {}
        self.turns_of: dict[PageId, tuple[Run, ...]] = {}
        self.filling: dict[PageId, Thread] = {}
        self.sealed_as: dict[PageId, PageId] = {}
        self._run_starts, self._run_ends = array("q"), array("q")
        """Of each run of turns on a sealed page, in order, the first number and that after the last."""
        self._run_pages: list[PageId] = []
        self._waiting: dict[int, Thread] = {}
        """The threads of the turns that no page seals yet, by number."""
        self._open_infos: dict[Thread, OpenInfo] = {}
        """The open pages as they were when they were last listed, in the order of `filling`."""
        self._unlisted: dict[Thread, None] = {}
        """The threads whose open pages are new since then, or got turns."""
        self.keys: dict[bytes, int] = {}
        self.salt = b""
        self.records = Records()
        self.tree = MerkleTree()
        self.erasing: dict[int, Fields] = {}
        self.last_kind = ""
        self.newest: datetime | None = None
        self.set_back: list[SetBack] = []

    def session(self, thread: Thread) -> Session:
        """The state of a thread, which is new when it never spoke."""
        known = self.sessions.get(thread)
        if known is None:
            known = self.sessions[thread] = Session()
            self.agents.setdefault(thread[0], {})[thread[1]] = None
        return known

    def threads(self, session: SessionId) -> tuple[Thread, ...]:
        """The threads of a session, in the order they first spoke."""
        return tuple((session, agent) for agent in self.agents.get(session, ()))

    def fold(self, line: Line) -> None:
        """Take in the next record; types this version does not know are kept and skipped."""
        if line.kind in TURNS:
            self._fold_turn(line)
        else:
            self.records.add(line.seq, visible_kind(line.fields))
            fold = _FOLDS.get(line.kind)
            if fold is not None:
                fold(self, line)
        self.tree.add(line.leaf)
        self._note_time(line)
        self.head = line.seq
        self.last_kind = line.kind

    def _note_time(self, line: Line) -> None:
        if line.kind not in _TIMED or "at" not in line.fields:
            return
        recorded = datetime.fromisoformat(line.fields["at"])
        at = recorded if recorded.tzinfo else recorded.replace(tzinfo=UTC)
        if self.newest is not None and at < self.newest - TOLERANCE:
            self.set_back.append(SetBack(seq=line.seq, was=self.newest, now=at))
            self.newest = at
        elif self.newest is None or at > self.newest:
            self.newest = at

    def add_page(self, info: PageInfo, turns: tuple[Run, ...]) -> None:
        """Take in a sealed page."""
        self.pages[info.id] = info
        self.turns_of[info.id] = turns
        for first, count in turns:
            at = bisect_left(self._run_starts, first)
            self._run_starts.insert(at, first)
            self._run_ends.insert(at, first + count)
            self._run_pages.insert(at, info.id)
        self.session((info.session, info.agent)).pages.append(info)
        opened = opened_as(self.space, info)
        if (thread := self.filling.pop(opened, None)) is not None:
            self._open_infos.pop(thread, None)
            self._unlisted.pop(thread, None)
        self.sealed_as[opened] = info.id

    def set_waiting(self, waiting: Iterable[tuple[Thread, list[OpenTurn]]]) -> None:
        """Replace all turns that no page seals yet."""
        for session in self.sessions.values():
            session.waiting = []
        self.filling.clear()
        self._waiting.clear()
        self._open_infos.clear()
        self._unlisted.clear()
        for thread, turns in waiting:
            self.session(thread).waiting = turns
            self._waiting |= dict.fromkeys((turn.seq for turn in turns), thread)
            self._note_filling(thread)

    def _note_filling(self, thread: Thread) -> None:
        """Make the open page of a thread, which holds turns, known by its id."""
        session, agent = thread
        number = self.sessions[thread].next_number
        self.filling[open_page_id(self.space, session, number, agent)] = thread
        self._unlisted[thread] = None

    def page_of_turn(self, seq: int) -> PageId | None:
        """The page of a turn, erased or not, by its number; `None` where no turn has that number."""
        at = bisect_right(self._run_starts, seq) - 1
        if at >= 0 and seq < self._run_ends[at]:
            return self._run_pages[at]
        thread = self._waiting.get(seq)
        if thread is None:
            return None
        session, agent = thread
        return open_page_id(self.space, session, self.sessions[thread].next_number, agent)

    def open_pages(self) -> tuple[OpenInfo, ...]:
        """The pages that hold turns and are not sealed; the caller lets no other use the state meanwhile."""
        for thread in self._unlisted:
            session, agent = thread
            known = self.sessions[thread]
            self._open_infos[thread] = OpenInfo(
                id=open_page_id(self.space, session, known.next_number, agent),
                session=session,
                number=known.next_number,
                turns=tuple(turn.times for turn in known.waiting),
                agent=agent,
            )
        self._unlisted.clear()
        return tuple(self._open_infos.values())

    def current_checkpoint(self) -> Checkpoint:
        """What commits to everything there is."""
        return Checkpoint(space=self.space, size=len(self.tree), root=self.tree.root().hex())

    def tombstone_of(self, seq: int) -> Fields | None:
        """The tombstone of a line whose erasure was begun and is not known to be done."""
        for intent in self.erasing.values():
            for tombstone in intent["e"]:
                if tombstone["q"] == seq:
                    return dict(tombstone)
        return None

    def _fold_turn(self, line: Line) -> None:
        fields = line.fields
        part, _ = fields.get("p", (1, 1))
        self.turns += part == 1
        thread = thread_of(fields)
        waiting = self.session(thread).waiting
        waiting.append(OpenTurn(line.seq, index(fields["w"]), line.digest, times_of(fields)))
        self._waiting[line.seq] = thread
        if len(waiting) == 1:
            self._note_filling(thread)
        else:
            self._unlisted[thread] = None
        key = key_in(fields, self.salt)
        if key is not None:
            self.keys[key] = line.seq

    def _fold_header(self, line: Line) -> None:
        """Take in the salt, which the first header has."""
        if "z" in line.fields:
            self.salt = bytes.fromhex(line.fields["z"])

    def _fold_page(self, line: Line) -> None:
        info = page_info(line.fields)
        thread = thread_of(line.fields)
        session = self.session(thread)
        sealed = sealed_by(line.fields["u"], session.waiting)
        self.add_page(info, runs_of(session.waiting[:sealed]))
        for turn in session.waiting[:sealed]:
            del self._waiting[turn.seq]
        del session.waiting[:sealed]
        if session.waiting:
            self._note_filling(thread)

    def _fold_erase(self, line: Line) -> None:
        self.erasing[line.seq] = line.fields
        tombstones = line.fields["e"]
        self.erased += sum(
            tombstone["t"] == "gone" and tombstone.get("p", (1, 1))[0] == 1 for tombstone in tombstones
        )

    def _fold_erased(self, line: Line) -> None:
        self.erasing.pop(line.fields["e"], None)


_FOLDS: dict[str, Callable[[State, Line], None]] = {
    "seg": State._fold_header,  # noqa: SLF001 - the table belongs to the class
    "page": State._fold_page,  # noqa: SLF001
    "erase": State._fold_erase,  # noqa: SLF001
    "erased": State._fold_erased,  # noqa: SLF001
}


def visible_kind(fields: Fields) -> str:
    """The kind under which callers see a record; empty for what the log keeps to itself."""
    if fields["t"] == "rec":
        return str(fields["n"])
    return str(fields["t"]) if fields["t"] in ("page", "void") else ""


def page_info(fields: Fields) -> PageInfo:
    """What a page seal says of its page."""
    return PageInfo(
        id=fields["id"],
        session=fields["s"],
        number=fields["p"],
        turns=sum(run[-1] for run in fields["u"]),
        tokens=fields["w"],
        sealed_at=datetime.fromisoformat(fields["at"]),
        seq=fields["q"],
        agent=fields.get("g"),
    )


def thread_of(fields: Fields) -> Thread:
    """The thread that the line of a turn, of what is left of one, or of a page seal is of."""
    return fields["s"], fields.get("g")


def runs_of(turns: Iterable[OpenTurn]) -> tuple[Run, ...]:
    """The numbers of turns, neighbours joined."""
    runs: list[Run] = []
    for turn in turns:
        if runs and sum(runs[-1]) == turn.seq:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((turn.seq, 1))
    return tuple(runs)


def sealed_by(runs: Sequence[Sequence[int]], waiting: Sequence[OpenTurn]) -> int:
    """How many of the turns waiting have a number that a page seals, or an earlier one."""
    return bisect_left(waiting, sum(runs[-1]), key=lambda turn: turn.seq)

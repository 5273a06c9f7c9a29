"""What a log says, folded record by record: sessions, pages, keys, places, the Merkle tree.

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

from pagestore.codec import key_in, open_page_id, times_of, waiting_hash
from pagestore.line import Fields, Line, Place
from pagestore.merkle import MerkleTree
from pagestore.values import Checkpoint, OpenInfo, PageId, PageInfo, SessionId, SetBack, SpaceId, TurnTimes

TOLERANCE = timedelta(minutes=10)
"""How far recorded times may be out of order: a record waits its turn with the time it was given."""
_OFFSET_BITS = 40
_TIMED = frozenset({"turn", "rec", "page", "open", "seg", "ckpt", "erase"})


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn line no page seals yet."""

    seq: int
    place: Place
    tokens: int
    digest: bytes
    times: TurnTimes


@dataclass(slots=True)
class Session:
    """The pages of one session, and the turns waiting for the next."""

    pages: list[PageInfo] = field(default_factory=list)
    waiting: list[OpenTurn] = field(default_factory=list)

    @property
    def next_number(self) -> int:
        """The number of the page being filled."""
        return self.pages[-1].number + 1 if self.pages else 1


class Records:
    """Number, place and kind of every record that is not a turn; row `i` is leaf `i` of the tree.

    Kinds the log keeps to itself are the empty string.
    """

    def __init__(self) -> None:
        self._seqs = array("q")
        self._places = array("q")
        self._lengths = array("q")
        self._kinds: list[str] = []
        self._known_kinds: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._seqs)

    def add(self, seq: int, place: Place, kind: str) -> None:
        """Add the next record."""
        self._seqs.append(seq)
        self._places.append(packed(place.segment, place.offset))
        self._lengths.append(place.length)
        self._kinds.append(self._known_kinds.setdefault(kind, kind))

    def seq(self, row: int) -> int:
        """The record number of a row."""
        return self._seqs[row]

    def place(self, row: int) -> Place:
        """Where the record of a row lies."""
        return Place(*unpacked(self._places[row]), self._lengths[row])

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
        self.sessions: dict[SessionId, Session] = {}
        self.pages: dict[PageId, PageInfo] = {}
        self.filling: dict[PageId, SessionId] = {}
        self.sealed_as: dict[PageId, PageId] = {}
        self.keys: dict[bytes, int] = {}
        self.salt = b""
        self.unsalted = 0
        self.records = Records()
        self.tree = MerkleTree()
        self.erasing: dict[int, Fields] = {}
        self.last_kind = ""
        self.newest: datetime | None = None
        self.set_back: list[SetBack] = []
        self.newest_digest = b""
        """The digest of the newest line; empty where a snapshot stands for it."""

    def session(self, session: SessionId) -> Session:
        """The state of a session, which is new when it never spoke."""
        return self.sessions.setdefault(session, Session())

    def fold(self, line: Line) -> None:
        """Take in the next record; types this version does not know are kept and skipped."""
        if line.kind in ("turn", "gone"):
            self._fold_turn(line)
        else:
            self.tree.add(line.digest)
            self.records.add(line.seq, line.place, visible_kind(line.fields))
            fold = _FOLDS.get(line.kind)
            if fold is not None:
                fold(self, line)
        self._note_time(line)
        self.head = line.seq
        self.last_kind = line.kind
        self.newest_digest = line.digest

    def _note_time(self, line: Line) -> None:
        if line.kind not in _TIMED or "at" not in line.fields:
            return
        told = datetime.fromisoformat(line.fields["at"])
        at = told if told.tzinfo else told.replace(tzinfo=UTC)
        if self.newest is not None and at < self.newest - TOLERANCE:
            self.set_back.append(SetBack(seq=line.seq, was=self.newest, now=at))
            self.newest = at
        elif self.newest is None or at > self.newest:
            self.newest = at

    def add_page(self, info: PageInfo) -> None:
        """Take in a sealed page."""
        self.pages[info.id] = info
        self.session(info.session).pages.append(info)
        opened_as = open_page_id(self.space, info.session, info.number)
        self.filling.pop(opened_as, None)
        self.sealed_as[opened_as] = info.id

    def note_filling(self, session: SessionId) -> None:
        """Make the open page of a session, which holds turns, known by its id."""
        number = self.sessions[session].next_number
        self.filling[open_page_id(self.space, session, number)] = session

    def open_pages(self) -> tuple[OpenInfo, ...]:
        """The pages that hold turns and are not sealed."""
        return tuple(
            OpenInfo(
                id=page_id,
                session=name,
                number=self.sessions[name].next_number,
                turns=tuple(turn.times for turn in self.sessions[name].waiting),
            )
            for page_id, name in self.filling.items()
        )

    def standing(self) -> Checkpoint:
        """What commits to everything there is."""
        filling = [(name, session) for name, session in self.sessions.items() if session.waiting]
        filling.sort(key=lambda named: named[1].waiting[0].seq)
        pages = (
            (name, session.next_number, ((turn.seq, turn.digest) for turn in session.waiting))
            for name, session in filling
        )
        return Checkpoint(
            space=self.space,
            size=len(self.tree),
            root=self.tree.root().hex(),
            head=self.head,
            waiting=waiting_hash(self.space, pages),
        )

    def stub_at(self, segment: int, offset: int) -> Fields | None:
        """The stub that belongs at a place where an erasure was begun and is not known to be done."""
        for intent in self.erasing.values():
            for target in intent["e"]:
                if (target["g"], target["o"]) == (segment, offset):
                    return dict(target["stub"])
        return None

    def _fold_turn(self, line: Line) -> None:
        fields = line.fields
        part, _ = fields.get("p", (1, 1))
        self.turns += part == 1
        waiting = self.session(fields["s"]).waiting
        waiting.append(OpenTurn(line.seq, line.place, index(fields["w"]), line.digest, times_of(fields)))
        if len(waiting) == 1:
            self.note_filling(fields["s"])
        key = key_in(fields, self.salt)
        if key is not None:
            self.keys[key] = packed(line.place.segment, line.place.offset)

    def _fold_open(self, line: Line) -> None:
        """The first opening that brings a salt counts; `unsalted` keys were made before it."""
        if not self.salt and "z" in line.fields:
            self.salt, self.unsalted = bytes.fromhex(line.fields["z"]), len(self.keys)

    def _fold_page(self, line: Line) -> None:
        info = page_info(line.fields)
        session = self.session(info.session)
        del session.waiting[: sealed_by(line.fields["u"], session.waiting)]
        self.add_page(info)
        if session.waiting:
            self.note_filling(info.session)

    def _fold_erase(self, line: Line) -> None:
        self.erasing[line.seq] = line.fields
        stubs = (target["stub"] for target in line.fields["e"])
        self.erased += sum(stub["t"] == "gone" and stub.get("p", (1, 1))[0] == 1 for stub in stubs)

    def _fold_erased(self, line: Line) -> None:
        self.erasing.pop(line.fields["e"], None)


_FOLDS: dict[str, Callable[[State, Line], None]] = {
    "open": State._fold_open,  # noqa: SLF001 - the table belongs to the class
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
        turns=sum(count for _, _, _, count in fields["u"]),
        tokens=fields["w"],
        sealed_at=datetime.fromisoformat(fields["at"]),
        seq=fields["q"],
    )


def runs_of(turns: Iterable[OpenTurn]) -> list[list[int]]:
    """Where turns lie, neighbours joined: `[segment, offset, length, turns]` each."""
    runs: list[list[int]] = []
    for turn in turns:
        place = turn.place
        if runs and (runs[-1][0], runs[-1][1] + runs[-1][2]) == (place.segment, place.offset):
            runs[-1][2] += place.length
            runs[-1][3] += 1
        else:
            runs.append([place.segment, place.offset, place.length, 1])
    return runs


def packed(segment: int, offset: int) -> int:
    """A place in one number."""
    return segment << _OFFSET_BITS | offset


def unpacked(place: int) -> tuple[int, int]:
    """The segment and offset of a packed place."""
    return place >> _OFFSET_BITS, place & ((1 << _OFFSET_BITS) - 1)


def sealed_by(runs: Sequence[Sequence[int]], waiting: Sequence[OpenTurn]) -> int:
    """How many of the turns waiting lie before the end of a page's runs."""
    segment, offset, length, _ = runs[-1]
    end = (segment, offset + length)
    return bisect_left(waiting, end, key=lambda turn: (turn.place.segment, turn.place.offset))

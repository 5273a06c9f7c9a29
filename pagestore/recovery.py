"""Opening a log: read what is there, tell a torn tail from damage, make what is read durable.

The rules:
- A broken line is a torn tail only if no later intact line proves that its record was durable. Then it was
  never acknowledged: it is set aside, cut off and reported. Otherwise the log is corrupt: it is not
  written to, and opened for reading only.
- Lines beyond the last evidence may exist in the page cache alone, marked clean by an fsync that failed
  before a restart. They are written again and synced before anyone builds on them.
- A turn in parts is there whole or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pagestore import snapshot
from pagestore.errors import Corrupt
from pagestore.line import MALFORMED, Line, Place, decode
from pagestore.lines.scan import Scanner, later_evidence
from pagestore.lines.segments import Segments
from pagestore.snapshot import Mark
from pagestore.state import State
from pagestore.values import Damage, SpaceId


@dataclass(slots=True, kw_only=True)
class Recovered:
    """What reading a log found, before anything is repaired.

    `active` is the segment that takes the next record (0 when there is none) and `end` its intact length;
    `began` is how much the state held where that segment begins. `unproven` are the lines beyond the last
    evidence, `torn` the places to cut off.
    """

    state: State
    began: Mark
    active: int = 0
    end: int = 0
    unproven: list[Line] = field(default_factory=list)
    torn: list[Place] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)


def recover(segments: Segments, space: SpaceId, *, read_only: bool) -> Recovered:
    """Read the log of `space`. Writes nothing but missing snapshots.

    Damage raises `Corrupt`, or, read-only, is collected while the rest of the log is read.
    """
    return _Recovery(segments, space, read_only=read_only).run()


class _Recovery:
    def __init__(self, segments: Segments, space: SpaceId, *, read_only: bool) -> None:
        self._segments = segments
        self._read_only = read_only
        state = State(space)
        self._found = Recovered(state=state, began=snapshot.mark(state))
        self._parts: list[Line] = []
        self._evidence = -1

    def run(self) -> Recovered:
        born, unborn = _by_birth(self._segments)
        for number in born:
            last = number == born[-1]
            self._found.began = snapshot.mark(self._found.state)
            if last or not self._load_snapshot(number):
                self._scan(number, last=last)
                if not last and not self._read_only:
                    self._save_snapshot(number)
        sizes = {number: self._segments.size(number) for number in unborn}
        self._found.torn += [Place(number, 0, size) for number, size in sizes.items() if size]
        return self._found

    def _load_snapshot(self, number: int) -> bool:
        data = self._segments.read_snapshot(number)
        if data is None or not snapshot.load(self._found.state, data, self._segments.size(number)):
            return False
        # The header of the next segment, which is there, proves every record of this one.
        self._found.unproven = []
        return True

    def _save_snapshot(self, number: int) -> None:
        size = self._segments.size(number)
        self._segments.write_snapshot(number, snapshot.dump(self._found.state, self._found.began, size))

    def _scan(self, number: int, *, last: bool) -> None:
        scanner = Scanner(self._segments, number, after=self._found.state.head)
        self._found.active, self._found.end = number, len(scanner.data)
        for item in scanner:
            if isinstance(item, Line):
                self._take(item)
                continue
            rest = Place(number, item.place.offset, len(scanner.data) - item.place.offset)
            if self._judge(rest, item.what, may_be_torn=last and rest.offset > 0):
                self._found.end = item.place.offset
                break
        self._drop_half_a_turn(last=last)

    def _take(self, line: Line) -> None:
        """Fold a line, the parts of a turn only once all are there."""
        part, parts = line.fields.get("p", (1, 1)) if line.kind in ("turn", "gone") else (1, 1)
        if part < parts:
            self._parts.append(line)
            return
        for whole in (*self._parts, line):
            self._fold(whole)
        self._parts = []

    def _fold(self, line: Line) -> None:
        found = self._found
        try:
            wrong = _wrong_header(line, found.state, tree_known=not found.damage)
            found.state.fold(line)
        except MALFORMED as error:
            wrong = f"record {line.seq} is no record of this format: {error!r}"
        if wrong:
            self._damaged(line.place, wrong)
        if line.evidence > self._evidence:
            self._evidence = line.evidence
            found.unproven = [u for u in found.unproven if u.seq > line.evidence]
        found.unproven.append(line)

    def _judge(self, rest: Place, what: str, *, may_be_torn: bool) -> bool:
        """Whether `rest` is a torn tail; if not, it is damage."""
        missing = self._found.state.head + len(self._parts) + 1
        if may_be_torn and later_evidence(self._segments.read(rest)) < missing:
            self._found.torn.append(rest)
            return True
        self._damaged(rest, what)
        return False

    def _damaged(self, place: Place, what: str) -> None:
        where = self._segments.where(place.segment, place.offset)
        if not self._read_only:
            raise Corrupt(f"{where}: {what}; open the store read-only and run `verify`")
        self._found.damage.append(Damage(where=where, what=what))

    def _drop_half_a_turn(self, *, last: bool) -> None:
        if not self._parts:
            return
        first = self._parts[0].place
        self._parts = []
        rest = Place(first.segment, first.offset, self._segments.size(first.segment) - first.offset)
        if last:
            self._found.torn = [torn for torn in self._found.torn if torn.segment != first.segment]
            self._found.torn.append(rest)
            self._found.end = first.offset
        else:
            self._damaged(rest, "a turn lacks some of its parts")


def _by_birth(segments: Segments) -> tuple[list[int], list[int]]:
    """Segments in use, and those at the end that a crash left without their first record.

    Nothing follows a header before it is durable: a segment with any later record was in use.
    """
    numbers = segments.numbers()
    born = len(numbers)
    while born and decode(segments.read_line(numbers[born - 1], 0)) is None:
        if later_evidence(segments.read_all(numbers[born - 1])) >= 0:
            break
        born -= 1
    return numbers[:born], numbers[born:]


def _wrong_header(line: Line, state: State, *, tree_known: bool) -> str | None:
    """What is wrong with the header where one must be."""
    fields = line.fields
    if (line.kind == "seg") != (line.place.offset == 0):
        return "a segment starts with its header, and has no other"
    if line.kind != "seg":
        return None
    if fields["space"] != state.space:
        return f"the segment belongs to space {fields['space']!r}, not {state.space!r}"
    if fields["i"] != line.place.segment:
        return f"the segment was number {fields['i']}"
    if tree_known and (fields["n"], fields["root"]) != (len(state.tree), state.tree.root().hex()):
        return "the tree so far is not the one the header names"
    return None


def repair(segments: Segments, found: Recovered) -> None:
    """Set torn tails aside, cut them off, and make every line that is left durable."""
    for torn in found.torn:
        segments.set_aside(torn.segment, torn.offset, segments.read(torn))
        segments.truncate(torn.segment, torn.offset)
    if found.active:
        rewrite(segments, found.unproven)
        for number in {found.active, *(line.place.segment for line in found.unproven)}:
            segments.sync(number)
        segments.sync_directory()
    found.torn = []
    found.unproven = []


def rewrite(segments: Segments, lines: list[Line]) -> None:
    """Write lines over themselves, so that the page cache cannot take them for clean."""
    for line in lines:
        place = line.place
        segments.write(place.segment, place.offset, segments.read(place))

"""Re-derives everything a log says from its bytes, and names what differs.

What is checked: the checksum and number of every line; the tree at every header and checkpoint; the id of
every page from the lines of its turns; that what was erased was erased by a record; that the result is the
state in memory; and, against a checkpoint kept elsewhere, that this log begins with what it commits to:
its tree, and the turns that waited on open pages then, whether these are open, sealed or erased by now.
"""

from __future__ import annotations

from pagestore.codec import page_id
from pagestore.line import MALFORMED, Fields, Line
from pagestore.lines.scan import Scanner
from pagestore.lines.segments import Segments
from pagestore.merkle import MerkleTree
from pagestore.state import State, runs_of, sealed_by
from pagestore.values import Checkpoint, Damage, VerifyReport


def verify(
    segments: Segments,
    state: State,
    sizes: dict[int, int],
    *,
    torn: tuple[str, ...] = (),
    checkpoint: Checkpoint | None = None,
) -> VerifyReport:
    """Read the first `sizes[n]` bytes of every segment again and compare with `state`."""
    check = _Check(segments, state, checkpoint)
    for number, size in sizes.items():
        check.segment(number, size)
    check.against_state()
    check.against_checkpoint()
    fresh = check.fresh
    return VerifyReport(
        space=state.space,
        records=check.records,
        turns=fresh.turns,
        pages=len(fresh.pages),
        erased=fresh.erased,
        checkpoint=fresh.standing(),
        damage=tuple(check.damage),
        torn=torn,
        unproved=tuple(check.unproved),
    )


class _Check:
    def __init__(self, segments: Segments, state: State, checkpoint: Checkpoint | None) -> None:
        self.fresh = State(state.space)
        self.records = 0
        self.damage: list[Damage] = []
        self.unproved: list[str] = []
        self._segments = segments
        self._state = state
        self._checkpoint = checkpoint
        self._then: Checkpoint | None = None
        self._complete = True
        self._gone: dict[int, Fields] = {}
        self._erased: dict[int, Fields] = {}

    def segment(self, number: int, size: int) -> None:
        if not self._segments.in_place(number):
            self._add(number, 0, "the file was removed or replaced while it was open")
        scanner = Scanner(self._segments, number, after=self.fresh.head, size=size)
        if len(scanner.data) < size:
            self._add(number, len(scanner.data), f"{size - len(scanner.data)} bytes are missing at the end")
        for item in scanner:
            if isinstance(item, Line):
                self._line(item)
            else:
                self._add(number, item.place.offset, item.what)
                self._complete = False

    def _line(self, line: Line) -> None:
        self.records += 1
        try:
            what = self._wrong(line)
            self.fresh.fold(line)
            if self._checkpoint is not None and line.seq == self._checkpoint.head:
                self._then = self.fresh.standing()
        except MALFORMED as error:
            what = f"record {line.seq} is no record of this format: {error!r}"
        if what:
            self._add(line.place.segment, line.place.offset, what)

    def _wrong(self, line: Line) -> str | None:
        fields = line.fields
        if line.kind in ("gone", "void"):
            self._gone[line.seq] = fields
        elif line.kind == "erase":
            self._erased |= {target["stub"]["q"]: target["stub"] for target in fields["e"]}
        elif line.kind == "page":
            return self._wrong_page(line)
        elif line.kind in ("seg", "ckpt") and self._complete and not _commits_to(fields, self.fresh.tree):
            return f"record {line.seq}: the tree so far is not the one it commits to"
        if line.kind == "seg" and (fields["space"], fields["i"]) != (self.fresh.space, line.place.segment):
            return f"record {line.seq}: the header of segment {fields['i']} of space {fields['space']!r}"
        return None

    def _wrong_page(self, line: Line) -> str | None:
        fields = line.fields
        waiting = self.fresh.session(fields["s"]).waiting
        turns = waiting[: sealed_by(fields["u"], waiting)]
        number = self.fresh.session(fields["s"]).next_number
        hashes = [turn.digest for turn in turns]
        if fields["id"] != page_id(self.fresh.space, fields["s"], fields["p"], hashes):
            return f"page {fields['id']!r}: its turns are not the ones it was sealed with"
        if (fields["p"], fields["u"]) != (number, runs_of(turns)):
            return f"page {fields['id']!r}: its number or places are not its own"
        return None

    def against_state(self) -> None:
        """What was believed at opening, and since, is what the bytes say."""
        for seq, stub in self._gone.items():
            if seq not in self._erased:
                self.damage.append(Damage(where=f"record {seq}", what="it is erased, and no record says so"))
            elif _content(stub) != _content(self._erased[seq]):
                what = "what is left of it is not what the record of its erasure says"
                self.damage.append(Damage(where=f"record {seq}", what=what))
        ours, theirs = self.fresh, self._state
        if ours.standing() != theirs.standing():
            self.damage.append(
                Damage(where="the whole log", what="it is not what was written and read since it was opened")
            )
        elif (ours.pages, ours.sealed_as, ours.turns) != (theirs.pages, theirs.sealed_as, theirs.turns):
            self.damage.append(Damage(where="the .idx files", what="they do not say what the segments say"))

    def against_checkpoint(self) -> None:
        """The log begins with what the checkpoint commits to, where there is one."""
        checkpoint = self._checkpoint
        if checkpoint is None:
            return
        where = f"checkpoint of {checkpoint.size} records"
        if checkpoint.space != self.fresh.space:
            self.damage.append(Damage(where=where, what=f"it is of space {checkpoint.space!r}"))
        elif checkpoint.size < 0:
            self.damage.append(Damage(where=where, what="no log has fewer records than none"))
        elif checkpoint.size > len(self.fresh.tree):
            what = f"the log has only {len(self.fresh.tree)} records in its tree: its end is gone"
            self.damage.append(Damage(where=where, what=what))
        elif self.fresh.tree.root(checkpoint.size).hex() != checkpoint.root:
            self.damage.append(Damage(where=where, what="this log does not begin with what it commits to"))
        elif checkpoint.waiting is None:
            self.unproved.append(
                f"{where}: what then waited on open pages; it was made before checkpoints committed to that"
            )
        elif checkpoint != self._then:
            what = "the turns that then waited on open pages are not the ones it commits to"
            self.damage.append(Damage(where=where, what=what))

    def _add(self, number: int, offset: int, what: str) -> None:
        self.damage.append(Damage(where=self._segments.where(number, offset), what=what))


def _content(stub: Fields) -> Fields:
    return {name: value for name, value in stub.items() if name not in ("_", "c")}


def _commits_to(fields: Fields, tree: MerkleTree) -> bool:
    return bool(fields["n"] == len(tree) and fields["root"] == tree.root().hex())

"""Re-derives everything a log says from its bytes, and names what differs.

What is checked: the checksum and number of every line; the tree at every header and checkpoint; the id of
every page from the lines of its turns; that what was erased was erased by a record; that the result is the
state in memory; and, against a checkpoint kept elsewhere, that this log begins with what it commits to.
"""

from __future__ import annotations

from pagestore.codec import page_id
from pagestore.line import MALFORMED, Fields, Line
from pagestore.lines.interface import Lines
from pagestore.recovery import wrong_header
from pagestore.state import State, runs_of, sealed_by, thread_of
from pagestore.values import Checkpoint, Damage, VerifyReport


def verify(lines: Lines, state: State, *, checkpoint: Checkpoint | None = None) -> VerifyReport:
    """Read every line again and compare with `state`."""
    check = _Check(lines, state, checkpoint)
    for part in lines.parts():
        check.part(part)
    check.against_state()
    check.against_checkpoint()
    fresh = check.fresh
    return VerifyReport(
        space=state.space,
        records=check.records,
        turns=fresh.turns,
        pages=len(fresh.pages),
        erased=fresh.erased,
        checkpoint=fresh.current_checkpoint(),
        damage=tuple(check.damage),
        torn=lines.torn(),
    )


class _Check:
    def __init__(self, lines: Lines, state: State, checkpoint: Checkpoint | None) -> None:
        self.fresh = State(state.space)
        self.records = 0
        self.damage: list[Damage] = []
        self._lines = lines
        self._state = state
        self._checkpoint = checkpoint
        self._complete = True
        self._tombstones: dict[int, Fields] = {}
        self._erased: dict[int, Fields] = {}

    def part(self, part: int) -> None:
        first = True
        for item in self._lines.scan(part, self.fresh.head):
            if isinstance(item, Line):
                self._line(item, part, first=first)
            else:
                self.damage.append(item)
                self._complete = False
            first = False

    def _line(self, line: Line, part: int, *, first: bool) -> None:
        self.records += 1
        try:
            what = self._wrong(line, part, first=first)
            self.fresh.fold(line)
        except MALFORMED as error:
            what = f"record {line.seq} is no record of this format: {error!r}"
        if what:
            self._add_damage(self._lines.where(line.seq), what)

    def _wrong(self, line: Line, part: int, *, first: bool) -> str | None:
        fields = line.fields
        if line.kind in ("gone", "void"):
            self._tombstones[line.seq] = fields
        elif line.kind == "erase":
            self._erased |= {tombstone["q"]: tombstone for tombstone in fields["e"]}
        elif line.kind == "page":
            return self._wrong_page(line)
        elif line.kind == "ckpt" and self._complete and not self._commits_to_what_is(fields):
            return f"record {line.seq}: the tree so far is not the one it commits to"
        return wrong_header(line, part, self.fresh, first=first, tree_known=self._complete)

    def _commits_to_what_is(self, fields: Fields) -> bool:
        """Whether a checkpoint says what the log was till then."""
        now = self.fresh.current_checkpoint()
        return (fields["n"], fields["root"]) == (now.size, now.root)

    def _wrong_page(self, line: Line) -> str | None:
        fields = line.fields
        thread = self.fresh.session(thread_of(fields))
        waiting = thread.waiting
        turns = waiting[: sealed_by(fields["u"], waiting)]
        hashes = [turn.digest for turn in turns]
        if fields["id"] != page_id(self.fresh.space, fields["s"], fields["p"], hashes):
            return f"page {fields['id']!r}: its turns are not the ones it was sealed with"
        if (fields["p"], [tuple(run) for run in fields["u"]]) != (thread.next_number, list(runs_of(turns))):
            return f"page {fields['id']!r}: its number, or those of its turns, are not its own"
        return None

    def against_state(self) -> None:
        """What was believed at opening, and since, is what the bytes say."""
        for seq, tombstone in self._tombstones.items():
            if seq not in self._erased:
                self._add_damage(f"record {seq}", "it is erased, and no record says so")
            elif _content(tombstone) != _content(self._erased[seq]):
                self._add_damage(
                    f"record {seq}", "what is left of it is not what the record of its erasure says"
                )
        ours, theirs = self.fresh, self._state
        if ours.current_checkpoint() != theirs.current_checkpoint():
            self._add_damage("the whole log", "it is not what was written and read since it was opened")
        elif (ours.pages, ours.sealed_as, ours.turns) != (theirs.pages, theirs.sealed_as, theirs.turns):
            self._add_damage("the .idx files", "they do not say what the segments say")

    def against_checkpoint(self) -> None:
        """The log begins with what the checkpoint commits to, where there is one."""
        checkpoint = self._checkpoint
        if checkpoint is None:
            return
        where, tree = f"checkpoint of {checkpoint.size} records", self.fresh.tree
        if checkpoint.space != self.fresh.space:
            self._add_damage(where, f"it is of space {checkpoint.space!r}")
        elif checkpoint.size < 0:
            self._add_damage(where, "no log has fewer records than none")
        elif checkpoint.size > len(tree):
            self._add_damage(where, f"the log has only {len(tree)} records in its tree: its end is gone")
        elif tree.root(checkpoint.size).hex() != checkpoint.root:
            self._add_damage(where, "this log does not begin with what it commits to")

    def _add_damage(self, where: str, what: str) -> None:
        self.damage.append(Damage(where=where, what=what))


def _content(tombstone: Fields) -> Fields:
    return {name: value for name, value in tombstone.items() if name not in ("_", "c")}

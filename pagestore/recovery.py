"""Opening a log: its lines folded, what is cached taken as it is.

The rule: a damaged log is not written to, and opened for reading only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pagestore import snapshot
from pagestore.errors import Corrupt
from pagestore.line import FORMAT, MALFORMED, Line
from pagestore.lines.interface import Lines
from pagestore.snapshot import Mark
from pagestore.state import State
from pagestore.values import Damage, SpaceId


@dataclass(slots=True, kw_only=True)
class RecoveredLog:
    """What reading a log found; `began` is how much the state held where the last part begins."""

    state: State
    began: Mark
    damage: list[Damage] = field(default_factory=list)


def recover(lines: Lines, space: SpaceId, *, read_only: bool) -> RecoveredLog:
    """Read the log of `space`. Writes nothing but missing snapshots.

    Damage raises `Corrupt`, or, read-only, is collected while the rest of the log is read.
    """
    state = State(space)
    found = RecoveredLog(state=state, began=snapshot.mark(state))
    parts = lines.parts()
    for part in parts:
        found.began = snapshot.mark(state)
        cached = lines.cached(part) if part != parts[-1] else None
        if cached is not None and snapshot.load(state, cached):
            continue
        for damage in _fold(lines, part, found):
            if not read_only:
                raise Corrupt(f"{damage.where}: {damage.what}; open the store read-only and run `verify`")
            found.damage.append(damage)
        if part != parts[-1] and not read_only:
            lines.cache(part, snapshot.dump(state, found.began))
    return found


def _fold(lines: Lines, part: int, found: RecoveredLog) -> Iterator[Damage]:
    """Fold the lines of a part; yields what is wrong with it."""
    first = True
    for item in lines.scan(part, found.state.head):
        if isinstance(item, Damage):
            yield item
        else:
            wrong = _wrong(item, part, found, first=first)
            if wrong:
                yield Damage(where=lines.where(item.seq), what=wrong)
        first = False


def _wrong(line: Line, part: int, found: RecoveredLog, *, first: bool) -> str | None:
    """Fold a line; what is wrong with it."""
    try:
        wrong = wrong_header(line, part, found.state, first=first, tree_known=not found.damage)
        found.state.fold(line)
    except MALFORMED as error:
        return f"record {line.seq} is no record of this format: {error!r}"
    return wrong


def wrong_header(line: Line, part: int, state: State, *, first: bool, tree_known: bool) -> str | None:
    """What is wrong with the header where one must be: the first line of a part is one, and no other."""
    fields = line.fields
    if (line.kind == "seg") != first:
        return "a segment starts with its header, and has no other"
    if line.kind != "seg":
        return None
    if fields["space"] != state.space:
        return f"the segment belongs to space {fields['space']!r}, not {state.space!r}"
    if fields["i"] != part:
        return f"the segment was number {fields['i']}"
    if fields["v"] != FORMAT:
        return f"the segment has format {fields['v']}, and this version reads {FORMAT}"
    if tree_known and (fields["n"], fields["root"]) != (len(state.tree), state.tree.root().hex()):
        return "the tree so far is not the one the header names"
    return None

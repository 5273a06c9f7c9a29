"""Copying the lines of a log to another place, byte for byte: ids, spans, proofs and checkpoints stay.

The rule: what is there already must be the beginning of what is copied, so a copy that was cut short goes on
where it ended. What was erased since is erased there too. At the end every hash is derived again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pagestore.errors import Conflict, Corrupt, Locked
from pagestore.line import decode, goes_on
from pagestore.lines.interface import Lines
from pagestore.recovery import recover
from pagestore.state import State
from pagestore.values import Checkpoint, SpaceId
from pagestore.verify import verify

_AT_ONCE = 500
"""Lines that are read, and written in one batch but for those of a turn in parts."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedSpace:
    """What a copy of one space holds; `new` records were copied now, and `checkpoint` commits to all."""

    space: SpaceId
    records: int
    new: int
    turns: int
    pages: int
    checkpoint: Checkpoint


def copy_lines(
    source: Lines, copy: Lines, space: SpaceId, *, progress: Progress | None = None
) -> CopiedSpace:
    """Copy what `copy` lacks of a log. `progress` is given how many lines are there, and how many in all.

    Raises `Corrupt` where either is damaged, `Conflict` where `copy` holds what `source` does not, and
    `Locked` where another process writes to `copy`.
    """
    wanted, there = _fold(source, space), _fold(copy, space)
    if wanted.erasing:
        raise Conflict(
            f"an erasing in space {space!r} is not finished: open it for writing once, and copy it"
        )
    begun = there.head + 1
    if begun > len(wanted.tree) or there.tree.leaves(0) != wanted.tree.leaves(0)[: 32 * begun]:
        raise Conflict(
            f"the copy of space {space!r} holds records that are not in what is copied: it went on, or is of "
            "another log; copy it the other way, or to another place"
        )
    copy.repair()
    _erase_again(source, copy, begun)
    for done in _append(source, copy, begun, len(wanted.tree)):
        if progress is not None:
            progress(done, len(wanted.tree))
    report = verify(copy, _fold(copy, space))
    if not report.ok or report.checkpoint != wanted.current_checkpoint():
        raise Corrupt(f"the copy of space {space!r} is not what was copied: {report.damage}; copy it again")
    return CopiedSpace(
        space=space,
        records=report.records,
        new=len(wanted.tree) - begun,
        turns=report.turns,
        pages=report.pages,
        checkpoint=report.checkpoint,
    )


def _fold(lines: Lines, space: SpaceId) -> State:
    found = recover(lines, space, read_only=True)
    for damage in found.damage:
        raise Corrupt(f"{damage.where}: {damage.what}; nothing is copied, `tiermem verify` says more")
    return found.state


def _erase_again(source: Lines, copy: Lines, count: int) -> None:
    """Replace the first lines of the copy by those that are in their place now."""
    for first in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - first)
        pairs = zip(source.read(first, size), copy.read(first, size), strict=True)
        changed = {first + at: now for at, (now, before) in enumerate(pairs) if now != before}
        if changed:
            copy.overwrite(changed)


def _append(source: Lines, copy: Lines, begun: int, count: int) -> Iterator[int]:
    """Append the lines from number `begun` on; yields how many are there after each batch."""
    batch: list[bytes] = []
    for first in range(begun, count, _AT_ONCE):
        for number, raw in enumerate(source.read(first, min(_AT_ONCE, count - first)), start=first):
            fields = decode(raw)
            if fields is None:
                raise Corrupt(f"{source.where(number)}: record {number} is unreadable; run `verify`")
            if fields["t"] == "seg":
                _write(copy, number, batch)
                batch = []
                _write(copy, number + 1, [raw], part=fields["i"])
            else:
                batch.append(raw)
            if len(batch) >= _AT_ONCE and not goes_on(fields):
                _write(copy, number + 1, batch)
                batch = []
                yield number + 1
    _write(copy, count, batch)
    yield count


def _write(copy: Lines, end: int, batch: list[bytes], *, part: int | None = None) -> None:
    """Append a batch of which the last line has number `end` - 1; as the header of a part where it begins."""
    if not batch:
        return
    try:
        if copy.begin_write(end - len(batch) - 1):
            raise Locked(
                "another process writes to the copy: make one elsewhere, or copy what it holds now back"
            )
        if part is None:
            copy.append(batch)
        else:
            copy.begin(part, batch[0])
    finally:
        copy.end_write()

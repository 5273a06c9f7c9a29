"""What the log holds of entries once some were erased: replacements of them, at their place and time.

The rule: an erased record is followed by at most one replacement that counts, the newest written for it. It
is read where the erased one stood and with that one's time, so the fold of the log, now or as of any past
moment, is the fold of what may still be known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pagestore import PageLog, Record

REPLACEMENT, TOMBSTONE = "instead", "void"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEntry:
    """An entry as it counts now: its place in the order of the log, and the record that holds its words.

    `at` is when the record at its place was recorded. `place` is `None` of a replacement that does not
    count.
    """

    place: int | None
    logged_at: int
    at: datetime
    kind: str
    body: Mapping[str, Any]


def replacement(place: int, kind: str, body: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The record (kind and body) that replaces the one at `place`."""
    return REPLACEMENT, {"for": place, "kind": kind, "body": dict(body)}


def records_left(
    entries: Iterable[LoggedEntry],
    *,
    erased: Collection[int] = (),
    instead: Iterable[tuple[int, str, Mapping[str, Any]]] = (),
) -> Iterator[Record]:
    """The records that count, in order; as they would with more `erased`, and `instead` (place, kind, body)
    of these.
    """
    copies = {place: (kind, body) for place, kind, body in instead}
    for one in entries:
        if one.place is not None and one.logged_at not in erased:
            yield Record(seq=one.place, kind=one.kind, at=one.at, body=one.body)
        elif one.place in copies:
            kind, body = copies[one.place]
            yield Record(seq=one.place, kind=kind, at=one.at, body=body)


def replacement_of(log: PageLog, seq: int) -> Record | None:
    """The replacement of an erased record, `None` when it has none."""
    found = _replacements(log).get(seq)
    if found is None:
        return None
    return Record(seq=seq, kind=found.body["kind"], at=found.at, body=found.body["body"])


def logged_entries(log: PageLog, kinds: frozenset[str] | None = None) -> Iterator[LoggedEntry]:
    """Everything but page seals, with replacements at the place of what they replace; of all kinds, or some.

    What is written while iterating is included.
    """
    instead, counting = _replacements(log), set()
    wanted = None if kinds is None else kinds | {REPLACEMENT} | ({TOMBSTONE} if instead else set())
    for record in log.records(kinds=wanted):
        if record.kind == TOMBSTONE and record.seq in instead:
            copy = instead[record.seq]
            counting.add(copy.seq)
            kind, body = copy.body["kind"], copy.body["body"]
            if kinds is None or kind in kinds:
                yield LoggedEntry(place=record.seq, logged_at=copy.seq, at=record.at, kind=kind, body=body)
        elif record.kind == REPLACEMENT and record.seq not in counting:
            yield LoggedEntry(
                place=None, logged_at=record.seq, at=record.at, kind=REPLACEMENT, body=record.body
            )
        elif record.kind not in (TOMBSTONE, REPLACEMENT, "page"):
            yield LoggedEntry(
                place=record.seq, logged_at=record.seq, at=record.at, kind=record.kind, body=record.body
            )


def _replacements(log: PageLog) -> dict[int, Record]:
    return {record.body["for"]: record for record in log.records(kinds=frozenset({REPLACEMENT}))}

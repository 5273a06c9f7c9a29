"""What the log holds of entries once some were erased: others stand in for them, at their place and time.

The rule: an erased record is followed by at most one stand-in that counts, the newest written for it. It
is read where the erased one stood and with that one's time, so the fold of the log, now or as of any past
moment, is the fold of what may still be known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pagestore import PageLog, Record

INSTEAD, VOID = "instead", "void"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An entry as it counts now: its place in the order of the log, and the record that holds its words.

    `place` is `None` for a stand-in that does not count.
    """

    place: int | None
    held_in: int
    kind: str
    body: Mapping[str, Any]


def stand_in(place: int, kind: str, body: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The record (kind and body) that stands in for the one at `place`."""
    return INSTEAD, {"for": place, "kind": kind, "body": dict(body)}


def standing(log: PageLog, kinds: frozenset[str]) -> Iterator[Record]:
    """The records of some kinds as they count, in order."""
    instead = _stand_ins(log)
    for record in log.records(kinds=kinds | ({VOID} if instead else set())):
        if record.kind != VOID:
            yield record
        elif record.seq in instead:
            copy = instead[record.seq].body
            if copy["kind"] in kinds:
                yield Record(seq=record.seq, kind=copy["kind"], at=record.at, body=copy["body"])


def standing_at(log: PageLog, seq: int) -> Record | None:
    """The stand-in for an erased record, `None` when it has none."""
    found = _stand_ins(log).get(seq)
    if found is None:
        return None
    return Record(seq=seq, kind=found.body["kind"], at=found.at, body=found.body["body"])


def held(log: PageLog) -> Iterator[Held]:
    """Everything but page seals, with stand-ins at the place of what they stand for."""
    instead, counting = _stand_ins(log), set()
    for record in log.records():
        if record.kind == VOID and record.seq in instead:
            copy = instead[record.seq]
            counting.add(copy.seq)
            kind, body = copy.body["kind"], copy.body["body"]
            yield Held(place=record.seq, held_in=copy.seq, kind=kind, body=body)
        elif record.kind == INSTEAD and record.seq not in counting:
            yield Held(place=None, held_in=record.seq, kind=INSTEAD, body=record.body)
        elif record.kind not in (VOID, INSTEAD, "page"):
            yield Held(place=record.seq, held_in=record.seq, kind=record.kind, body=record.body)


def _stand_ins(log: PageLog) -> dict[int, Record]:
    return {record.body["for"]: record for record in log.records(kinds=frozenset({INSTEAD}))}

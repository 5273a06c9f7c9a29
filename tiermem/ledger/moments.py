"""Where in the log a moment lies, by the order of its records and by the times they were recorded at.

The rule: the order is certain and times are what a clock said, so a moment lies where the fewest recorded
times contradict it, and at the earliest such place. While clocks are right that is before the first later
record. One that was wrong for a while, either way, is outvoted by the records around it; times that have
not come yet are known to be wrong and have no vote.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from pagestore import RecordedTimes

_SHOWN = 3
"""Times a clock was set back that are named; of others the number."""
_EVER = datetime.min.replace(tzinfo=UTC)
_SLACK = timedelta(minutes=10)
"""How far two clocks may differ and both be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """The numbers of the last record before a moment and the first after it; -1 and `None` without one.

    `since` is when the last record before it was recorded, a little earlier for clocks that were corrected.
    """

    before: int
    after: int | None
    since: datetime = _EVER


def around_moment(recorded: Iterable[tuple[int, datetime]], moment: datetime, *, now: datetime) -> Around:
    """Where `moment` lies among records, given in order with their numbers and times, all before `now`."""
    around = Around(before=-1, after=None)
    votes = most = 0
    for seq, at in recorded:
        if around.after is None:
            around = replace(around, after=seq)
        if at <= moment or moment >= now:
            votes += 1
        elif at <= now:
            votes -= 1
        if votes > most:
            most, around = votes, Around(before=seq, after=None, since=at - _SLACK)
    return around


def clock_problems(times: RecordedTimes, *, now: datetime) -> tuple[str, ...]:
    """What a reader of past moments must know of the clock that a log was recorded by."""
    problems = [
        f"the clock was set back from {_short(one.was)} to {_short(one.now)} before record {one.seq}: "
        "moments near these times are placed by the order of the log"
        for one in times.set_back[-_SHOWN:]
    ]
    if len(times.set_back) > _SHOWN:
        problems.insert(0, f"the clock was set back {len(times.set_back)} times; the last {_SHOWN} follow")
    if times.newest is not None and times.newest > now + _SLACK:
        problems.append(
            f"the clock is behind, or was ahead: something was recorded at {_short(times.newest)}, "
            "which has not come yet"
        )
    return tuple(problems)


def _short(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"

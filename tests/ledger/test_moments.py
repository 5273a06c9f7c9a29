"""Where a past moment lies in a log whose clock may have been wrong, ahead or behind, once or for long."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import LogOptions, RecordedTimes, SessionId, SetBack, Turn
from pagestore.log import Log
from tests.ledger.building import SPACE, distilled, unit
from tests.logs import new_log
from tiermem.ledger import Ledger
from tiermem.ledger.moments import around_moment, clock_problems

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=300)
YEARS = timedelta(days=3650)

days = st.lists(st.integers(0, 299), min_size=1, max_size=30).map(sorted)
offsets = st.lists(st.none() | st.integers(-20_000, 20_000).filter(bool), min_size=30, max_size=30)


def at_day(day: float) -> datetime:
    return START + timedelta(days=day)


def place(recorded: list[datetime], moment: datetime) -> int:
    """How many of the records, numbered 0, 1, …, lie before a moment."""
    around = around_moment(enumerate(recorded), moment, now=NOW)
    assert around.after in (around.before + 1, None)
    assert (around.after is None) == (around.before + 1 == len(recorded))
    return around.before + 1


def recorded_at(moments: list[datetime]) -> Log:
    """A log whose clock says these times, one after another."""
    said = iter(moments)
    return new_log(SPACE, options=LogOptions(clock=lambda: next(said)))


@given(days=days, moment=st.integers(-1, 300))
def test_while_the_clock_is_right_a_moment_lies_before_the_first_later_record(
    days: list[int], moment: int
) -> None:
    recorded = [at_day(day) for day in days]
    assert place(recorded, at_day(moment)) == sum(day <= moment for day in days)


@given(days=days, wrong=offsets, moment=st.integers(-1, 299))
def test_between_the_truth_and_where_a_moment_is_placed_half_the_records_had_a_wrong_clock(
    days: list[int], wrong: list[int | None], moment: int
) -> None:
    recorded = [at_day(day + (off or 0)) for day, off in zip(days, wrong, strict=False)]
    placed, true = place(recorded, at_day(moment)), sum(day <= moment for day in days)
    between = wrong[min(placed, true) : max(placed, true)]
    assert 2 * sum(off is not None for off in between) >= len(between)


@given(days=days, wrong=offsets, moments=st.tuples(st.integers(-1, 299), st.integers(-1, 299)))
def test_a_later_moment_never_holds_less(
    days: list[int], wrong: list[int | None], moments: tuple[int, int]
) -> None:
    recorded = [at_day(day + (off or 0)) for day, off in zip(days, wrong, strict=False)]
    early, late = sorted(moments)
    assert place(recorded, at_day(early)) <= place(recorded, at_day(late))


@given(ahead=st.integers(1, 50), moment=st.integers(10, 299))
def test_years_that_have_not_come_yet_have_no_vote_however_many_records_name_them(
    ahead: int, moment: int
) -> None:
    recorded = [at_day(1), at_day(2), *[at_day(3) + YEARS] * ahead, at_day(4)]
    assert place(recorded, at_day(moment)) == len(recorded)
    assert place(recorded, at_day(2)) == 2
    for later in (NOW, NOW + timedelta(days=1)):
        assert place([at_day(1), *[at_day(2) + YEARS] * ahead], later) == ahead + 1


@pytest.mark.anyio
@pytest.mark.usefixtures("logs")
async def test_a_clock_that_was_once_years_ahead_or_behind_hides_and_shows_nothing_else() -> None:
    for off in (YEARS, -YEARS, timedelta(days=40), timedelta(days=-40)):
        moments = [at_day(day) for day in range(0, 100, 10)]
        moments[4] += off
        ledger = await Ledger.open(recorded_at(moments))
        # The log records its own beginning: a header and an opening.
        for number in range(2, len(moments)):
            await ledger.write(distilled(f"p{number}", unit(f"u{number}")))
        for day in (25, 35, 65, 75, 95):
            then, _ = await ledger.as_of(at_day(day))
            shown = {u.id for u in then.units()} - {"u4"}
            assert shown == {f"u{n}" for n in range(2, 10) if n * 10 <= day and n != 4}, (off, day)


@pytest.mark.usefixtures("logs")
def test_a_log_tells_where_its_clock_was_set_back() -> None:
    moments = [at_day(0), at_day(1), at_day(2) + YEARS, at_day(3), at_day(4), at_day(5)]
    log = recorded_at(moments)
    for number in range(4):
        log.append(SessionId("s"), [Turn(speaker="Ann", text=str(number))])
    back = SetBack(seq=3, was=at_day(2) + YEARS, now=at_day(3))
    assert log.times() == RecordedTimes(newest=at_day(5), set_back=(back,))


def test_what_is_told_of_a_clock_names_both_times_and_the_record() -> None:
    back = SetBack(seq=17, was=at_day(0) + YEARS, now=at_day(3))
    (told,) = clock_problems(RecordedTimes(newest=at_day(3), set_back=(back,)), now=NOW)
    assert "from 2035-12-30 00:00 UTC to 2026-01-04 00:00 UTC before record 17" in told
    (told,) = clock_problems(RecordedTimes(newest=NOW + YEARS, set_back=()), now=NOW)
    assert "has not come yet" in told
    assert clock_problems(RecordedTimes(newest=NOW, set_back=()), now=NOW) == ()
    assert clock_problems(RecordedTimes(newest=None, set_back=()), now=NOW) == ()
    many = clock_problems(RecordedTimes(newest=NOW, set_back=(back,) * 9), now=NOW)
    assert len(many) == 4
    assert "9 times" in many[0]

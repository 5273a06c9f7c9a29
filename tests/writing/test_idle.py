"""When a session is over: by the clock, or because another one went on without it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import OpenInfo, PageId, SessionId, TurnTimes
from tiermem.writing.idle import idle_by_clock, idle_by_said_time, left_behind, next_look

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)
DAY = datetime.fromisoformat("2023-05-01T09:00:00")


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def page(name: str, *turns: tuple[int, datetime | None, datetime | None]) -> OpenInfo:
    """An open page from numbers of turns, when they were recorded, and when they were said."""
    times = tuple(TurnTimes(seq=seq, recorded_at=at, said_at=said) for seq, at, said in turns)
    return OpenInfo(id=PageId(f"o1:{name}"), session=SessionId(name), number=1, turns=times)


def said(name: str, *turns: tuple[int, datetime | None]) -> OpenInfo:
    return page(name, *((seq, NOW, moment) for seq, moment in turns))


def by_clock(*pages: OpenInfo, now: datetime = NOW, after: float = 30) -> tuple[str, ...]:
    return idle_by_clock(pages, now=now, minutes=after)


def by_said(*pages: OpenInfo, after: float = 30) -> tuple[str, ...]:
    return idle_by_said_time(pages, minutes=after)


def behind(name: str, pages: Sequence[OpenInfo], *told: tuple[int, datetime | None]) -> tuple[str, ...]:
    turns = [TurnTimes(seq=seq, said_at=moment) for seq, moment in told]
    return left_behind(pages, by=SessionId(name), turns=turns, minutes=30)


@pytest.mark.parametrize(("ago", "over"), [(0, False), (29.99, False), (30, True), (6000, True)])
def test_a_session_is_idle_so_long_after_its_last_turn_was_recorded(ago: float, over: bool) -> None:
    earlier = (1, NOW - minutes(9000), None)
    assert by_clock(page("a", earlier, (2, NOW - minutes(ago), None))) == (("a",) if over else ())


def test_a_clock_that_was_set_back_seals_nothing() -> None:
    assert by_clock(page("a", (1, NOW + timedelta(days=400), None))) == ()


def test_a_turn_from_before_times_were_kept_is_long_ago() -> None:
    assert by_clock(page("a", (1, None, DAY))) == ("a",)


def test_an_erased_last_turn_leaves_the_time_of_the_one_before() -> None:
    assert by_clock(page("a", (1, NOW - minutes(5), DAY), (2, None, None))) == ()


def test_never_is_a_length_of_time() -> None:
    old, new = said("a", (1, DAY)), said("b", (2, DAY + timedelta(days=9)))
    assert by_clock(page("a", (1, DAY.replace(tzinfo=UTC), None)), after=float("inf")) == ()
    assert by_said(old, new, after=float("inf")) == ()


@pytest.mark.parametrize(("later", "over"), [(-90, False), (29, False), (30, True), (90, True)])
def test_another_session_going_on_ends_one(later: float, over: bool) -> None:
    found = by_said(said("a", (1, DAY)), said("b", (2, DAY + minutes(later))))
    assert found == (("a",) if over else ())


def test_a_session_does_not_end_itself() -> None:
    assert by_said(said("a", (1, DAY), (2, DAY + timedelta(days=3)))) == ()


def test_only_what_was_recorded_afterwards_counts() -> None:
    ahead, behind = said("live", (1, DAY + timedelta(days=99))), said("old", (2, DAY))
    assert by_said(ahead, behind) == ()


def test_a_live_session_beside_old_dialogue_does_not_make_a_page_of_each_message() -> None:
    live = DAY + timedelta(days=300)
    turns = [(2 * n, live + minutes(n)) for n in range(10)]
    for n in range(1, 10):
        old = said("old", (2 * n - 1, DAY + minutes(n)))
        assert by_said(old, said("live", *turns[: n + 1])) == ()


def test_sessions_that_are_told_by_turns_stay_open_until_one_stops() -> None:
    first = said("a", (1, DAY), (3, DAY + minutes(10)))
    assert by_said(first, said("b", (2, DAY + minutes(5)), (4, DAY + minutes(39)))) == ()
    assert by_said(first, said("b", (2, DAY + minutes(5)), (4, DAY + minutes(41)))) == ("a",)


def test_only_the_session_written_to_leaves_others_behind() -> None:
    pages = said("a", (1, DAY)), said("b", (2, DAY + timedelta(days=1))), said("c", (3, DAY))
    assert behind("b", pages) == ("a",)
    assert behind("c", pages) == ()


def test_turns_that_sealed_their_own_page_count_as_well() -> None:
    a = said("a", (1, DAY))
    assert behind("b", [a], (2, DAY + minutes(31))) == ("a",)
    assert behind("b", [a], (2, DAY + minutes(20)), (3, DAY + minutes(29))) == ()
    assert behind("b", [a, said("b", (2, DAY + minutes(1)))], (3, DAY + minutes(50))) == ("a",)
    known_before = (0, DAY + timedelta(days=30))
    assert behind("b", [a], known_before, (3, DAY + timedelta(days=30, minutes=5))) == ()


def test_naive_and_aware_times_are_compared_by_the_clocks_on_the_wall() -> None:
    far_east = timezone(timedelta(hours=9))
    a, b = said("a", (1, DAY)), said("b", (2, (DAY + minutes(31)).replace(tzinfo=far_east)))
    assert by_said(a, b) == ("a",)
    aware = said("a", (1, DAY.replace(tzinfo=UTC)))
    assert by_said(aware, b) == ()


def test_the_next_look_is_when_the_first_page_is_idle() -> None:
    pages = page("a", (1, NOW - minutes(10), None)), page("b", (2, NOW - minutes(29), None))
    assert next_look(pages, now=NOW, minutes=30) == pytest.approx(60)
    assert next_look((), now=NOW, minutes=30) is None
    assert next_look([page("a", (1, NOW - minutes(99), None))], now=NOW, minutes=30) == 0


zones = st.sampled_from([None, UTC, timezone(timedelta(hours=-14)), timezone(timedelta(hours=14))])
moments = st.none() | st.datetimes(timezones=zones)
recorded = st.none() | st.datetimes(timezones=st.just(UTC))
pages = st.lists(
    st.lists(st.tuples(recorded, moments), min_size=1, max_size=4).map(tuple), min_size=1, max_size=4
)


@given(told=pages, now=st.datetimes(timezones=st.just(UTC)), after=st.floats(0.1, 1e6))
def test_no_times_whatever_raise(
    told: list[tuple[tuple[datetime | None, datetime | None], ...]], now: datetime, after: float
) -> None:
    opened = [
        page(f"s{n}", *((n + 10 * at, *times) for at, times in enumerate(turns)))
        for n, turns in enumerate(told)
    ]
    names = {one.session for one in opened}
    assert set(by_clock(*opened, now=now, after=after)) <= names
    assert set(by_said(*opened, after=after)) <= names
    wait = next_look(opened, now=now, minutes=after)
    assert wait is not None
    assert wait >= 0


@given(turns_of=pages, added=st.lists(moments, min_size=1, max_size=4), after=st.floats(0.1, 1e6))
def test_whoever_is_left_behind_is_so_by_each_turn_compared(
    turns_of: list[tuple[tuple[datetime | None, datetime | None], ...]],
    added: list[datetime | None],
    after: float,
) -> None:
    opened = [said(f"s{n}", *((n, last) for _, last in turns[-1:])) for n, turns in enumerate(turns_of)]
    ahead = said("new", *((1000 + n, moment) for n, moment in enumerate(added)))
    found = left_behind(opened, by=SessionId("new"), turns=ahead.turns, minutes=after)
    assert found == tuple(
        one.session for one in opened if one.session in idle_by_said_time((one, ahead), minutes=after)
    )

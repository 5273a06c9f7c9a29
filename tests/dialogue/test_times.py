"""The moments dialogue files write."""

from datetime import UTC, date, datetime, time, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiermem.dialogue import parse_time
from tiermem.dialogue.times import parse_clock
from tiermem.errors import InvalidInput

at = datetime.fromisoformat


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2023-05-08T13:56:00", at("2023-05-08T13:56")),
        ("2023-05-08 13:56", at("2023-05-08T13:56")),
        ("2023-05-08T13:56:00Z", at("2023-05-08T13:56Z")),
        ("2023-05-08T13:56:00+02:00", at("2023-05-08T13:56+02:00")),
        ("2023-05-08", at("2023-05-08")),
        ("1:56 pm on 8 May, 2023", at("2023-05-08T13:56")),
        ("12:05 am on 1 January, 2024", at("2024-01-01T00:05")),
        ("12:30 pm on 1 January, 2024", at("2024-01-01T12:30")),
        ("2023/05/28 (Sun) 21:04", at("2023-05-28T21:04")),
        ("Sunday, 28 May 2023", at("2023-05-28")),
        ("May 28th, 2023 at 9:04 p.m.", at("2023-05-28T21:04")),
        (1683554160, at("2023-05-08T13:56Z")),
        (1683554160000, at("2023-05-08T13:56Z")),
        (at("2023-05-08"), at("2023-05-08")),
    ],
)
def test_every_way_the_files_write_a_moment_is_read(written: object, moment: datetime) -> None:
    assert parse_time(written) == moment


@pytest.mark.parametrize("nothing", [None, "", "   "])
def test_no_moment_is_unknown_not_an_error(nothing: object) -> None:
    assert parse_time(nothing) is None


@pytest.mark.parametrize(
    "written",
    [
        "yesterday",
        "28.5.2023",
        "2023-13-45",
        "31 June 2023",
        "8 Brumaire 2023",
        "25:00 on 8 May, 2023",
        "13:00 pm on 8 May, 2023",
        "x" * 100_000,
        " " * 1000 + "x",
        1e30,
        float("nan"),
        True,
        ["2023"],
        {"date": "2023"},
    ],
)
def test_a_malformed_moment_is_named(written: object) -> None:
    with pytest.raises(InvalidInput, match="is not a timestamp") as raised:
        parse_time(written)
    assert len(str(raised.value)) < 200
    assert str(written).strip()[:20] in str(raised.value)


@given(moment=st.datetimes(), zone=st.sampled_from([None, UTC]))
def test_iso_moments_come_back_as_written(moment: datetime, zone: timezone | None) -> None:
    told = moment.replace(tzinfo=zone)
    assert parse_time(told.isoformat()) == told


@given(st.datetimes(min_value=at("1000-01-01")).map(lambda moment: moment.replace(second=0, microsecond=0)))
def test_locomo_and_longmemeval_moments_come_back_as_written(moment: datetime) -> None:
    half = "pm" if moment.hour >= 12 else "am"
    spoken = f"{(moment.hour - 1) % 12 + 1}:{moment:%M} {half} on {moment.day} {moment:%B}, {moment.year}"
    slashed = f"{moment.year}/{moment:%m/%d (%a) %H:%M}"
    assert parse_time(spoken) == parse_time(slashed) == moment


def test_a_time_of_day_is_told_from_a_number() -> None:
    assert parse_clock("10:30") == time(10, 30)
    assert parse_clock("1:56 pm") == time(13, 56)
    assert parse_clock("7pm") == time(19)
    assert parse_clock("7") is None
    assert parse_clock(date(2024, 5, 8).isoformat()) is None

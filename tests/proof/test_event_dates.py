"""Date expressions with the day of saying and the true day, written before the rules were read."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest

from tiermem.proof.date_parts import event_dates, without_parts
from tiermem.proof.ground import QuotedTurn, is_event_dated
from tiermem.text.date_ranges import date_ranges_in
from tiermem.text.dates import event_time, parse_iso, resolve_dates
from tiermem.text.literals import Source

SAID, NIGHT = datetime.fromisoformat("2026-05-08T14:00"), datetime.fromisoformat("2026-05-08T23:30")

Days = tuple[date | None, date | None]

ROWS = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parent / "date_expressions.tsv").read_text().splitlines()
]
"""A sentence or a question, when it was said, and an ISO day, month, year or period (`/` is an open end)."""


def true_days(written: str) -> Days | None:
    first, slash, last = written.partition("/")
    if slash and not (first and last):
        return (date.fromisoformat(first) if first else None), (date.fromisoformat(last) if last else None)
    return parse_iso(written)


def read_days(text: str, said_at: datetime) -> list[Days]:
    if text.endswith("?"):
        return [(one.first, one.last) for one in date_ranges_in(text, said_at.date())]
    return [
        (one.first, one.last) for one in event_dates(text, without_parts(text, resolve_dates(text, said_at)))
    ]


def is_within(true: Days | None, read: Days) -> bool:
    if true is None:
        return False
    first, last = (read[0] or date.min), (read[1] or date.max)
    return first <= (true[0] or date.min) and (true[1] or date.max) <= last


@pytest.mark.parametrize(("text", "said", "true"), ROWS, ids=[row[0] for row in ROWS])
def test_no_expression_is_read_as_another_day(text: str, said: str, true: str) -> None:
    said_at = datetime.fromisoformat(said)
    assert [read for read in read_days(text, said_at) if not is_within(true_days(true), read)] == []


def test_most_expressions_with_a_date_are_read() -> None:
    dated = [row for row in ROWS if row[2] != "none"]
    read = [row for row in dated if read_days(row[0], datetime.fromisoformat(row[1]))]
    assert len(ROWS) == 109
    assert len(read) >= 0.58 * len(dated)


@pytest.mark.parametrize(
    ("text", "event_at"),
    [
        ("We are in Rome until Friday.", "2026-05-15"),
        ("Send me the draft by Wednesday.", "2026-05-13"),
        ("I have had a cough since Monday.", "2026-05-04"),
        ("I start a week from tomorrow.", "2026-05-09"),
        ("She left the other day.", "2026-05-08"),
        ("I called him an hour ago.", "2026-05-08"),
        ("The concert is on Thursday 12th.", "2026-05-14"),
        ("We met on the 3rd.", "2026-05-03"),
        ("From Tuesday on I am on holiday.", "2026-05-12"),
    ],
)
def test_a_date_of_a_model_that_does_not_follow_is_refused(text: str, event_at: str) -> None:
    turn = Source(text, SAID)
    assert not is_event_dated(event_at, [QuotedTurn(quote=text, turn=turn)])


@pytest.mark.parametrize(
    ("text", "event_at"),
    [
        ("I saw the dentist yesterday.", "2026-05-07"),
        ("The concert is on Thursday 11th.", "2026-06-11"),
        ("I will pay on the 21st.", "2026-05-21"),
        ("In June the fair opens on the 3rd.", "2026-06-03"),
        ("The fair opens on the 3rd. It is in July this year.", "2026-07-03"),
        ("I lost my ring.", "2026-05-08"),
    ],
)
def test_a_date_of_a_model_that_follows_is_kept(text: str, event_at: str) -> None:
    turn = Source(text, SAID)
    assert is_event_dated(event_at, [QuotedTurn(quote=text, turn=turn)])


@pytest.mark.parametrize(
    ("event_at", "said_at", "shown"),
    [
        ("2026-05-07", SAID, "happened 2026-05-07"),
        ("2026-05-08", NIGHT, "happened 2026-05-08"),
        ("2026-05-09", NIGHT, "planned for 2026-05-09"),
        ("2026-06", SAID, "planned for 2026-06"),
        ("2026-05", SAID, "dated 2026-05"),
        ("2025", SAID, "happened 2025"),
        ("2026-05-11/2026-05-17", SAID, "planned for 2026-05-11/2026-05-17"),
        ("2026-05-07", None, "dated 2026-05-07"),
    ],
)
def test_what_lies_ahead_is_planned(event_at: str, said_at: datetime | None, shown: str) -> None:
    assert event_time(event_at, said_at) == shown

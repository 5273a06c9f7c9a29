"""Relative dates of a question are seen from the moment it is asked."""

from datetime import UTC, datetime

import pytest

from tests.api.conftest import OpenMemory

EARLY, LATE = datetime(2023, 5, 3, 18, tzinfo=UTC), datetime(2023, 5, 24, 18, tzinfo=UTC)


@pytest.mark.parametrize(
    ("asked_at", "said_at"),
    [(datetime(2023, 5, 29, 9, tzinfo=UTC), LATE), (datetime(2023, 5, 9, 9, tzinfo=UTC), EARLY)],
)
def test_last_week_means_the_week_before_the_question(
    open_memory: OpenMemory, asked_at: datetime, said_at: datetime
) -> None:
    memory = open_memory()
    for day in (EARLY, LATE):
        memory.add("I went to a concert in the park.", speaker="Ann", session=f"{day:%d}", said_at=day)
    memory.flush()
    question = "Which concert did I go to last week?"
    assert memory.search(question, kind="turns", asked_at=asked_at)[0].said_at == said_at
    first, second = (
        memory.context(question, asked_at=asked_at).text.index(f"{day:%Y-%m-%d}")
        for day in (said_at, EARLY if said_at == LATE else LATE)
    )
    assert first < second

"""Weekdays as rules dated them before: on the last one before the day of saying, whatever the tense."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tiermem.proof import derive
from tiermem.reasoning.rules import distil
from tiermem.text import literals

_REMEMBERED = (derive.mentions, literals, distil._salience)
"""What keeps the dates of the texts it read last."""


@contextmanager
def old_rules() -> Iterator[None]:
    """Have rules date every weekday back inside, so that units are made as they were then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tiermem.text.dates.date_tense", lambda *_: "past")
        _forget()
        try:
            yield
        finally:
            _forget()


def _forget() -> None:
    for remembered in _REMEMBERED:
        remembered.cache_clear()

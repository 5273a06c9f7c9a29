"""The order in which what is held is shown."""

from datetime import timedelta
from typing import Any

import pytest

from pagestore import PageId, Span
from tests.workspace.held import NOW, item, keys
from tiermem.model import UnitId
from tiermem.workspace import Item
from tiermem.workspace.assemble import order_items
from tiermem.workspace.items import faded_importance

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.mark.parametrize(("hours", "factor"), [(0, 1.0), (1, 0.5), (3, 0.25), (24, 0.04), (-5, 1.0)])
def test_importance_fades_with_the_hours(hours: float, factor: float) -> None:
    assert faded_importance(item("k", 1.0, ago=hours * HOUR), NOW) == pytest.approx(factor)


def test_the_figures_of_the_source() -> None:
    assert faded_importance(item("k", 1.0, ago=3 * DAY), NOW) == pytest.approx(
        0.0137, abs=1e-4
    )  # 10.0: .14 there
    assert faded_importance(item("k", 0.6, ago=HOUR), NOW) == pytest.approx(0.3)  # 6.0: 3.0 there
    # 7.0 of ten minutes ago is printed as 42.0 there, which no importance can come to: it is 6.0.
    assert faded_importance(item("k", 0.7, ago=HOUR / 6), NOW) == pytest.approx(0.6)


def test_the_three_orders_and_of_equal_ones_the_newest_first() -> None:
    held = (
        item("decision", 1.0, ago=3 * DAY),
        item("first", 0.6, ago=HOUR),
        item("second", 0.6, ago=HOUR),
        item("chat", 0.4, ago=timedelta()),
    )
    assert keys(order_items(held, "recent", NOW)) == ["chat", "second", "first", "decision"]
    assert keys(order_items(held, "important", NOW)) == ["decision", "second", "first", "chat"]
    assert keys(order_items(held, "balanced", NOW)) == ["chat", "second", "first", "decision"]


def test_an_item_is_a_source_with_all_that_is_known_of_it() -> None:
    spans = (Span(page_id=PageId("p1:a"), start=0, end=4),)
    known: dict[str, Any] = {
        "text": "Ann likes tea",
        "spans": spans,
        "source": "unit",
        "quote": 'Ann: "I like tea"',
        "unit_id": UnitId("u1:a"),
        "said_at": NOW,
        "event_at": "2025-10",
        "trust": "user",
    }
    source = Item(key="u1:a", tokens=3, importance=0.8, **known).evidence()
    assert {name: getattr(source, name) for name in known} == known
    assert source.score == 0.8

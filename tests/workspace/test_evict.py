"""Who gives way: each policy by its formula, and the heap against sorting."""

import math
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import total_ordering
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.workspace.held import NOW, item, keys
from tiermem.api import AsyncMemory
from tiermem.errors import InvalidInput
from tiermem.workspace import POLICIES, ActiveSet, Eviction, Item
from tiermem.workspace.evict import EvictionQueue, NamedPolicy

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
NAMES = tuple(POLICIES.own)
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "workspace.md"


def policy(name: str) -> Eviction:
    return POLICIES.load(name)()


def leaving(name: str, *items: Item) -> list[str]:
    """All items in the order in which they leave, by the heap."""
    held = ActiveSet(sum(one.tokens for one in items), policy(name), clock=lambda: NOW)
    for one in items:
        held.add(one)
    return keys(held.resize(0))


def test_each_policy_is_documented_and_called_what_it_is_chosen_by() -> None:
    for text in (AsyncMemory.workspace.__doc__ or "", GUIDE.read_text()):
        assert {f"`{name}`" for name in NAMES} <= set(re.findall(r"`\w+`", text))
    assert [policy(name).name for name in NAMES] == list(NAMES)
    assert all(isinstance(policy(name), Eviction) for name in NAMES)
    with pytest.raises(InvalidInput, match="hybrid"):
        POLICIES.load("hybird")


def test_hybrid_lets_the_least_important_go_and_of_these_the_oldest() -> None:
    # The order of the sources' example; their importance runs from 0 to 10.
    ordered = [
        item("low, 5 d", 0.1, ago=5 * DAY),
        item("low, 1 h", 0.1, ago=HOUR),
        item("middle, 5 d", 0.5, ago=5 * DAY),
        item("middle, 1 h", 0.5, ago=HOUR),
        item("high, 5 d", 1.0, ago=5 * DAY),
        item("high, 1 h", 1.0, ago=HOUR),
    ]
    shuffled = random.Random(3).sample(ordered, len(ordered))
    assert leaving("hybrid", *shuffled) == keys(tuple(ordered))


def test_lru_and_lfu_go_by_use_and_not_by_its_opposite() -> None:
    often = item("often", uses=9, ago=DAY, used=5 * HOUR)
    once = item("once", uses=1, ago=DAY, used=HOUR)
    also_once = item("also once", uses=1, ago=DAY, used=2 * HOUR)
    assert leaving("lru", once, also_once, often) == ["often", "also once", "once"]
    assert leaving("lfu", often, once, also_once) == ["also once", "once", "often"]


def test_access_and_ear_add_use_to_importance_by_their_formulas() -> None:
    used = item("used", 0.4, uses=20)
    matters = item("matters", 0.8)
    assert policy("access").rank(used, NOW)[0] == pytest.approx(0.4 * (1 + math.log(21)))
    assert policy("access").rank(matters, NOW)[0] == 0.8
    assert policy("ear").rank(used, NOW) == (pytest.approx(0.75 * 0.4 + 0.25),)
    assert policy("ear").rank(matters, NOW) == (pytest.approx(0.6),)
    assert leaving("access", used, matters) == ["matters", "used"]
    assert leaving("ear", used, matters) == ["used", "matters"]


def test_balanced_goes_by_what_an_item_matters_after_the_hours_since() -> None:
    old, new = item("old", 1.0, ago=9 * HOUR), item("new", 0.2)
    assert policy("balanced").rank(old, NOW) == (pytest.approx(0.1),)
    assert leaving("balanced", old, new) == ["old", "new"]
    clock = [NOW]
    held = ActiveSet(2, policy("balanced"), clock=lambda: clock[0])
    held.add(item("matters", 0.9, ago=timedelta()))
    clock[0] += 5 * HOUR
    held.add(item("now", 0.2))
    assert keys(held.add(item("next", 0.1)).evicted) == ["matters"]  # 0.15 by now


@pytest.mark.parametrize("name", NAMES)
def test_of_equal_ones_what_came_first_leaves_first(name: str) -> None:
    same = [item(f"k{n}", ago=HOUR) for n in range(8)]
    if name != "random":
        assert leaving(name, *same) == keys(tuple(same))


def by_sorting(items: Iterable[Item], policy: Eviction, *, needed: int) -> tuple[Item, ...]:
    """Who leaves, worked out the plain way: all sorted, the first taken until enough is free."""
    leaving: list[Item] = []
    free = 0
    for one in sorted((one for one in items if not one.pinned), key=lambda one: policy.rank(one, NOW)):
        if free >= needed:
            break
        leaving.append(one)
        free += one.tokens
    return tuple(leaving)


_ITEMS = st.lists(
    st.tuples(
        st.sampled_from((0.0, 0.1, 0.5, 0.95, 1.0)) | st.floats(0, 1),
        st.integers(0, 6),
        st.integers(0, 50),
        st.integers(0, 12),
        st.integers(0, 30),
        st.integers(0, 9).map(lambda n: n == 0),
    ),
    max_size=40,
)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60)
@given(drawn=_ITEMS, uses=st.lists(st.integers(0, 39), max_size=30), needed=st.integers(0, 120))
def test_the_heap_evicts_whom_sorting_would(
    name: str, drawn: list[tuple[float, int, int, int, int, bool]], uses: list[int], needed: int
) -> None:
    items = [
        item(f"k{n}", i, t, ago=timedelta(hours=a), uses=u, used=timedelta(hours=min(a, used)), pinned=p)
        for n, (i, t, a, u, used, p) in enumerate(drawn)
    ]
    held = ActiveSet(sum(one.tokens for one in items), policy(name), clock=lambda: NOW)
    for one in items:
        held.add(one)
    for use in uses:
        held.get(f"k{use}")
    kept = {one.key: one for one in held.items}
    came = [kept[one.key] for one in items]
    free = sum(one.tokens for one in came if not one.pinned)
    needed = min(needed, free)
    expected = by_sorting(came, policy(name), needed=needed)
    assert held.resize(held.max_tokens - needed) == expected
    assert held.tokens == sum(one.tokens for one in held.items) <= held.max_tokens


@total_ordering
@dataclass(frozen=True)
class Counted:
    """A rank that counts how often it is compared."""

    value: float
    comparisons: ClassVar[list[int]] = [0]

    def __lt__(self, other: "Counted") -> bool:
        self.comparisons[0] += 1
        return self.value < other.value


class Counting(NamedPolicy):
    def rank(self, item: Item, now: datetime) -> tuple[Any, ...]:
        return (Counted(item.importance),)


def test_evicting_k_of_n_compares_k_log_n_times_and_not_n_log_n() -> None:
    size, k = 4_000, 10
    queue, chance = EvictionQueue(Counting()), random.Random(1)
    for n in range(size):
        queue.put_item(item(f"k{n}", chance.random()), n, NOW)
    Counted.comparisons[0] = 0
    leaving = queue.leaving(NOW)
    for _ in range(k):
        next(leaving)
    # A pop sifts down (one comparison a level) and up again: 2 log n at most, and tuples ask twice, == and <.
    assert Counted.comparisons[0] < 4 * k * math.log2(size) < size


def test_what_is_used_again_and_again_does_not_make_the_heap_grow() -> None:
    held = ActiveSet(100, policy("lru"), clock=lambda: NOW)
    for n in range(20):
        held.add(item(f"k{n}"))
    for n in range(5_000):
        held.get(f"k{n % 20}")
    assert len(held._queue._heap) <= 2 * 20 + 16


def test_the_same_items_leave_in_the_same_order_in_another_process() -> None:
    script = (
        "from tests.workspace.test_evict import NAMES, leaving, item\n"
        "for name in NAMES: print(leaving(name, *(item(f'k{n}', n % 3 / 3, uses=n % 4) for n in range(30))))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


def test_an_object_of_the_callers_own_is_a_policy() -> None:
    class Longest:
        name = "longest"
        ages = False

        def rank(self, item: Item, now: datetime) -> tuple[int]:
            return (-len(item.text),)

    assert isinstance(Longest(), Eviction)
    held = ActiveSet(2, Longest(), clock=lambda: NOW)
    for key in ("short", "very, very long"):
        held.add(item(key))
    assert keys(held.add(item("new")).evicted) == ["very, very long"]

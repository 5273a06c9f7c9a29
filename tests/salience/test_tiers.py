"""A bounded tier: who leaves, when, and how many at once, as HTM-EAR has it."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiermem.salience.tiers import Tier, worth


def test_worth_is_three_quarters_importance_and_one_quarter_use_up_to_ten_times() -> None:
    assert worth(0.0, 0) == 0.0
    assert worth(1.0, 10) == worth(1.0, 99) == 1.0
    assert worth(0.5, 4) == pytest.approx(0.375 + 0.1)


def test_a_full_tier_lets_the_lowest_go_together_the_oldest_first_and_then_takes_in() -> None:
    worths = dict.fromkeys(range(21), 0.5) | {0: 0.9, 5: 0.1}
    tier = Tier[int](20, worths.__getitem__)
    assert [tier.add(key) for key in range(20)] == [()] * 20
    assert tier.add(20) == (5, 1, 2), "15 % of 20: the lowest, then of equal ones the oldest"
    assert [*tier] == [0, 3, 4, *range(6, 21)]
    assert tier.add(20) == (), "one that is held is not taken in again"


@pytest.mark.parametrize("capacity", [1, 3])
def test_a_small_tier_is_not_over_its_capacity_either(capacity: int) -> None:
    tier = Tier[int](capacity, float)
    assert [tier.add(key) for key in range(capacity)] == [()] * capacity
    assert tier.add(capacity) == (0,)
    assert len(tier) == capacity


@given(keys=st.lists(st.integers(0, 30), max_size=60), capacity=st.integers(1, 20))
def test_a_tier_is_never_over_its_capacity_and_loses_nothing_but_what_it_gives(
    keys: Sequence[int], capacity: int
) -> None:
    tier = Tier[int](capacity, lambda key: key % 3)
    held: set[int] = set()
    for key in keys:
        before, left = held, tier.add(key)
        held = (held | {key}) - set(left)
        assert set(tier) == held
        assert key in tier
        assert len(tier) <= capacity
        assert all(gone % 3 <= kept % 3 for gone in left for kept in before - set(left))


def test_two_tiers_have_the_figures_of_the_paper() -> None:
    """15,000 entries, 500 and 5,000 places, every tenth essential: pruned 9,750, none of them essential."""
    importance = {key: 0.95 if key % 10 == 0 else 0.5 for key in range(1, 15_001)}
    first, second = (Tier[int](size, lambda key: worth(importance[key], 0)) for size in (500, 5_000))
    pruned = [gone for key in importance for left in first.add(key) for gone in second.add(left)]
    assert (len(pruned), len(first), len(second)) == (9_750, 450, 4_800)
    assert all(importance[key] < 0.85 for key in pruned)
    assert len({*pruned, *first, *second}) == 15_000


def test_a_tier_of_no_keys_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 key, not 0"):
        Tier[int](0, float)

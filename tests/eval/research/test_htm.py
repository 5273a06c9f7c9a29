"""ADR-007's printed cases: the algorithm is asserted, and where the print differs from it, that it does."""

import pytest

from eval.research.htm.cases import CASES, EXAMPLE, SCORES, balanced, evicted
from eval.research.htm.cost import costs
from eval.research.htm.page import found
from tiermem.workspace import POLICIES

BY_TITLE = {case.title: case for case in CASES}


def test_the_drawing_evicts_the_three_least_important_and_keeps_the_others() -> None:
    case = BY_TITLE["the drawing, 5,000 tokens needed"]
    assert case.gone == ("random_note", "temp_calc", "debug_log")
    assert sum(one.tokens for one in evicted(case.items, case.needed)) == 5_100


def test_use_case_1_cannot_stop_where_it_is_printed_to_stop() -> None:
    """4,500 are needed and 3,500 freed at its "Stop"; the deficit or the whole 5,000, all four go."""
    case = BY_TITLE["use case 1, 4,500 tokens needed"]
    assert case.gone == ("random_note", "debug_log", "user_pref", "architecture_decision")
    assert [one.tokens for one in evicted(case.items, case.needed)] == [2_000, 1_500, 100, 3_000]
    assert evicted(case.items, 5_000) == evicted(case.items, case.needed)


def test_among_equals_the_oldest_go() -> None:
    case = BY_TITLE["use case 2, equal importance, 2,000 tokens needed"]
    assert case.gone == ("note_1", "note_2")
    assert case.holds


def test_the_order_example_is_the_algorithms() -> None:
    case = BY_TITLE["order example, all but the last"]
    assert case.holds


def test_the_drawings_tiers_are_not_the_algorithms_order() -> None:
    case = BY_TITLE["the drawing's tiers, all but the last two"]
    assert case.gone[:4] == ("1.0, 5 days", "1.0, 1 hour", "2.0, 3 days", "2.0, 30 min")
    assert case.gone[4:] == ("9.0, 30 days", "9.0, 1 hour")


def test_nothing_goes_where_nothing_is_needed_and_everything_where_that_is_not_enough() -> None:
    items = CASES[0].items
    assert evicted(items, 0) == []
    assert len(evicted(items, 10**6)) == len(items)


def test_balanced_scores_are_the_printed_ones_but_for_one_misprint() -> None:
    apart = [
        one for one in SCORES if balanced(one.importance, one.hours) != pytest.approx(one.printed, abs=5e-3)
    ]
    assert [(one.importance, one.printed) for one in apart] == [(7.0, 42.0)]
    assert balanced(7.0, 1 / 6) == pytest.approx(6.0)
    assert [one.printed for one in EXAMPLE] == [42.0, 0.14, 3.0]


def test_the_page_tells_apart_what_agrees_and_what_does_not_hold() -> None:
    verdicts = {claim.says.partition(":")[0]: claim.verdict for claim in found(sizes=[20]).claims}
    assert verdicts["the drawing, 5,000 tokens needed"] == "agrees"
    assert verdicts["use case 1, 4,500 tokens needed"] == "does not hold"
    assert verdicts["order example, all but the last"] == "agrees"
    assert verdicts["the drawing's tiers, all but the last two"] == "does not hold"


def test_every_policy_is_measured_at_every_size() -> None:
    measured = costs(sizes=[10, 30])
    assert {tuple(of) for of in measured.values()} == {(10, 30)}
    assert set(measured) == set(POLICIES.own)
    assert all(0 < cost.median <= cost.slowest for of in measured.values() for cost in of.values())

"""UOR, escalation quality and the S/R matrix against numbers worked by hand and printed in the paper."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.metrics.routing import Verdicts, counterfactual, escalation, omissions, router_errors
from eval.types import QuestionId


def verdicts(text: str) -> dict[QuestionId, bool | None]:
    """One letter a question: r(ight), w(rong), ? (undecided)."""
    return {QuestionId(str(n)): {"r": True, "w": False, "?": None}[c] for n, c in enumerate(text)}


def ids(*numbers: int) -> set[QuestionId]:
    return {QuestionId(str(n)) for n in numbers}


def test_an_omission_is_wrong_here_and_right_with_the_raw_pages() -> None:
    found = omissions(verdicts("wwrr?"), verdicts("rwrwr"))
    assert (found.omitted, found.judged, found.undecided) == (1, 4, 1)
    assert found.rate == 0.25


def test_hard_questions_are_those_only_the_pages_answer() -> None:
    summary, raw = verdicts("wwwrr?"), verdicts("rrwrwr")
    found = escalation(ids(0, 2, 3), summary, raw)
    assert (found.hard, found.caught, found.escalated, found.questions) == (2, 1, 3, 5)
    assert found.rate == pytest.approx(3 / 5)
    assert found.recall == pytest.approx(1 / 2)
    assert found.f1 == pytest.approx(2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2))


def test_always_escalating_recalls_every_hard_question() -> None:
    summary, raw = verdicts("wrw"), verdicts("rrr")
    assert escalation(ids(0, 1, 2), summary, raw).recall == 1.0
    assert escalation(ids(), summary, raw).recall == 0.0


def test_rates_of_nothing_are_unknown_and_not_zero() -> None:
    assert escalation(ids(), {}, {}).rate is None
    assert escalation(ids(), verdicts("r"), verdicts("r")).recall is None
    assert omissions({}, {}).rate is None


def test_the_matrix_of_the_papers_table_13_gives_its_rates() -> None:
    """240 / 33 / 181 / 86 questions: RepairRate 67.8 %, RegressRate 12.1 %."""
    summary = verdicts("r" * 240 + "r" * 33 + "w" * 181 + "w" * 86)
    raw = verdicts("r" * 240 + "w" * 33 + "r" * 181 + "w" * 86)
    actual = verdicts("r" * 225 + "w" * 15 + "r" * 13 + "w" * 20 + "r" * 169 + "w" * 12 + "r" * 14 + "w" * 72)
    found = counterfactual(set(summary), summary, raw, actual)
    assert (found.both.count, found.both.right) == (240, 225)
    assert (found.only_summary.count, found.only_summary.right) == (33, 13)
    assert (found.only_raw.count, found.only_raw.right) == (181, 169)
    assert (found.neither.count, found.neither.right) == (86, 14)
    assert (found.total.count, found.total.right) == (540, 421)
    assert found.repair_rate == pytest.approx(0.678, abs=5e-4)
    assert found.regress_rate == pytest.approx(0.121, abs=5e-4)


@given(st.lists(st.tuples(*[st.sampled_from([True, False, None])] * 3, st.booleans()), max_size=30))
def test_every_escalated_question_is_in_one_cell_or_undecided(
    rows: list[tuple[bool | None, bool | None, bool | None, bool]],
) -> None:
    def column(at: int) -> Verdicts:
        return {QuestionId(str(n)): row[at] for n, row in enumerate(rows)}

    escalated = {QuestionId(str(n)) for n, row in enumerate(rows) if row[3]}
    found = counterfactual(escalated, column(0), column(1), column(2))
    assert found.total.count + found.undecided == len(escalated)
    assert found.total.right <= found.total.count


def test_what_was_escalated_in_vain_is_no_false_hit() -> None:
    summary = {QuestionId(q): False for q in "abcd"}
    raw = {QuestionId("a"): True, QuestionId("b"): False, QuestionId("c"): True, QuestionId("d"): False}
    actual = {QuestionId("a"): False, QuestionId("b"): False, QuestionId("c"): False, QuestionId("d"): False}
    errors = router_errors({QuestionId("a"), QuestionId("b")}, summary, raw, actual)
    assert (errors.still_wrong, errors.false_hits, errors.beyond, errors.repaired) == (2, 1, 1, 0)

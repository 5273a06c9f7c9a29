"""What outcomes of half of the questions do for the others: judged by evidence, ranked as reading ranks."""

from __future__ import annotations

import pytest

from eval.feedback import VARIANTS, halves, halves_of, learnt, rows
from eval.report.feedback import terminal
from tests.eval import tiny
from tiermem.embedding.hashed import HashEmbedder
from tiermem.reasoning import by_rules

pytestmark = pytest.mark.anyio


def test_halves_share_no_question_and_leave_out_what_has_no_evidence() -> None:
    asked = [question for n in range(20) for question in tiny.case(f"c{n}").questions]
    first, second = halves(asked)
    assert sorted(one.id for one in (*first, *second)) == sorted(one.id for one in asked if one.evidence)
    assert min(len(first), len(second)) > 20
    assert halves(reversed(asked))[0] == first[::-1]


async def test_units_that_hold_evidence_succeed_and_the_others_fail() -> None:
    told = [
        await learnt(tiny.case(name), engine=by_rules(), embedder=HashEmbedder()) for name in ("one", "two")
    ]
    found = halves_of(told, data="0" * 64, engine="rules")
    assert found.outcomes >= found.questions > 0
    assert 0 < found.moved <= found.units
    assert [row.name for row in found.rows] == ["no signals", *(variant.name for variant in VARIANTS)]
    assert all(0 <= row.recall.mean <= 1 and row.difference.clusters == 2 for row in found.rows)
    assert found.rows[0].difference.mean == found.rows[0].changed == 0
    assert rows(told) == found.rows
    table, foot = terminal(found)
    assert not isinstance(table, str)
    assert table.row_count == len(found.rows)
    assert f"of {found.units} units moved" in str(foot)


async def test_swapped_the_half_is_looked_up_that_was_judged() -> None:
    case = tiny.case("one")
    first, second = halves(case.questions)
    one, other = [
        await learnt(case, engine=by_rules(), embedder=HashEmbedder(), swapped=swapped)
        for swapped in (False, True)
    ]
    assert (len(one.asked), len(other.asked)) == (len(second), len(first))
    assert len(first) != len(second)

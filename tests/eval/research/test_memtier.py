"""MemTier's score: what no scaling of BM25 can change, and which signals have no say, or get one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from eval.datasets import LongMemEval
from eval.research.cli import app
from eval.research.memtier.asking import ask_all
from eval.research.memtier.haystacks import haystack
from eval.research.memtier.page import found
from eval.research.memtier.published import ABLATION, implied
from eval.research.memtier.score import (
    DEFAULT,
    EQUAL,
    NORMALISED,
    by_age,
    decay,
    features,
    fused,
    ranking,
    saturated,
    z_score,
    z_scored,
)
from eval.research.reproduction import wilson
from eval.types import Case, CaseId, LabelledQuestion, Passage, QuestionId, Session
from pagestore.values import SessionId, Turn
from tests.eval.test_datasets import lme, write
from tiermem.embedding.hashed import HashEmbedder

SCORES = st.lists(st.integers(0, 2_000).map(lambda units: units / 64), min_size=1, max_size=40).map(np.array)
"""Raw BM25, at distances that no scaling rounds away."""


@given(bm25=SCORES)
@settings(max_examples=50)
def test_no_scaling_that_keeps_the_order_changes_a_ranking_by_bm25(bm25: Any) -> None:
    rankings = {name: ranking(scaled(bm25)) for name, scaled in NORMALISED.items()}
    assert all(one == rankings["N0 raw"] for one in rankings.values())
    assert ranking(saturated(bm25)) == rankings["N0 raw"]


@given(
    bm25=SCORES, weight=st.floats(-1, 1), days=st.floats(0, 100), multiplier=st.sampled_from((1.0, 1.2, 1.4))
)
@settings(max_examples=30)
def test_signals_that_are_the_same_for_all_leave_the_ranking_of_n4_as_it_is(
    bm25: Any, weight: float, days: float, multiplier: float
) -> None:
    same = features(bm25, by_age(np.full(len(bm25), days)), weight=weight, multiplier=multiplier)
    assert ranking(z_scored(same) @ EQUAL) == ranking(bm25)


@given(
    bm25=SCORES, days=st.lists(st.floats(0, 400), min_size=40, max_size=40), bm25_weighs=st.floats(0.01, 1)
)
@settings(max_examples=30)
def test_within_the_sessions_of_the_first_stage_no_weight_of_decay_changes_anything(
    bm25: Any, days: list[float], bm25_weighs: float
) -> None:
    """All of them pass the bypass: decay is 1 by definition, not because entries are recent."""
    decayed = decay(bm25, np.array(days[: len(bm25)]), scoped=np.full(len(bm25), True))
    rows = features(bm25, decayed)
    for decay_weighs in (0.0, 0.25, 0.9):
        assert ranking(rows @ (0, bm25_weighs, decay_weighs, 0.25, 0.15)) == ranking(bm25)


def test_signals_that_differ_turn_a_ranking_over_once_bm25_is_bounded_and_not_before() -> None:
    bm25, days = np.array((24.0, 22.0, 1.0)), np.array((90.0, 0.0, 0.0))
    raw = features(bm25, by_age(days))
    assert ranking(raw @ DEFAULT) == [0, 1, 2]
    assert ranking(features(saturated(bm25), by_age(days)) @ DEFAULT) == [1, 2, 0]
    assert ranking(z_scored(raw) @ EQUAL) == [1, 0, 2]


def test_decay_halves_in_a_fortnight_and_is_passed_by_strong_words_or_a_chosen_session() -> None:
    days = np.array((13.86, 13.86, 13.86, 13.86, -2.0))
    decayed = decay(np.array((1.0, 2.0, 2.01, 0.0, 0.0)), days, np.array((False, False, False, True, False)))
    assert decayed == pytest.approx((0.5, 0.5, 1.0, 1.0, 1.0), abs=1e-3)


def test_the_whole_score_is_the_papers_formula() -> None:
    rows = features(np.array((3.0,)), np.array((0.5,)), meaning=0.9, weight=0.2, multiplier=1.4)
    assert rows @ DEFAULT == pytest.approx(0.35 * 3.0 + 0.25 * 0.5 + 0.25 * 0.6 + 0.15 * 0.4)


def test_scores_that_are_all_the_same_are_scaled_to_nothing() -> None:
    assert not z_score(np.array((2.0, 2.0))).any()


def test_fusion_adds_what_each_ranking_gives() -> None:
    assert fused([1, 2, 3], [3, 4]) == [3, 1, 2, 4]
    assert fused([2, 1], [1, 2]) == [1, 2]


def test_one_column_of_the_source_counts_from_two_points_and_one_row_from_neither() -> None:
    """Table 2 of MemTier: which accuracy of the whole system each printed difference implies."""
    assert {row.name: implied(row) for row in ABLATION} == {
        "BM25 only": 0.380,
        "no retrieval": 0.380,
        "without decay": 0.382,
        "without cognitive weight": 0.382,
        "without tier": 0.382,
        "without two stages": 0.382,
        "k = 1": 0.392,
        "k = 2": 0.380,
        "k = 8": 0.380,
        "150 tokens": 0.380,
        "600 tokens": 0.380,
    }


def test_wilsons_interval_is_the_one_the_source_prints() -> None:
    assert wilson(191, 500) == pytest.approx((0.340, 0.425), abs=6e-4)
    assert wilson(0, 0) == (0, 1)


def case() -> Case:
    turns = [
        [("user", "I bought a red kayak."), ("assistant", "Nice!")],
        [("user", "A kayak, in Bergen."), ("assistant", "It cost 90 euros, you said."), ("user", "Yes.")],
    ]
    sessions = tuple(
        Session(
            id=SessionId(f"s{at}"),
            turns=tuple(Turn(speaker=role, text=text, role=role) for role, text in of),
        )
        for at, of in enumerate(turns)
    )
    question = LabelledQuestion(
        id=QuestionId("q"),
        text="What did the red kayak cost?",
        category="single-session-assistant",
        gold=("90 euros",),
        evidence=(Passage(session=SessionId("s1"), start=1, end=2),),
        evidence_sessions=(SessionId("s1"),),
    )
    return Case(id=CaseId("q"), sessions=sessions, questions=(question,))


def test_a_haystack_has_its_turns_in_order_and_knows_which_hold_the_evidence() -> None:
    hay = haystack(case())
    assert hay.texts[2:4] == ("user: A kayak, in Bergen.", "assistant: It cost 90 euros, you said.")
    assert (list(hay.session), hay.sessions) == ([0, 0, 1, 1, 1], 2)
    assert list(np.flatnonzero(hay.evidence)) == [3]
    assert hay.evidence_sessions == {1}
    assert [hay.answers(at) for at in range(5)] == [False, False, False, True, False]
    assert hay.first_stage() == [0, 1]
    assert list(hay.entries([1])) == [2, 3, 4]
    assert len(hay.entries(None)) == 5


def test_a_file_of_one_question_is_measured_and_what_it_lacks_is_told(tmp_path: Path) -> None:
    data = write(tmp_path / "lme.json", [lme()])
    result = CliRunner().invoke(app, ["memtier", "--data", str(data), "--page", str(tmp_path / "page.md")])
    assert result.exit_code == 0, result.output
    written = (tmp_path / "page.md").read_text()
    assert "python -m eval.research memtier --data lme.json\n" in written
    assert (
        "| N0 to N3 (raw, log, min-max, z-score) rank alike | the same ranking for 1 of 1 questions"
        in written
    )
    assert "| R@2, knowledge-update: .500 | no such question |" in written
    assert "see --meaning" in written


def test_a_file_without_a_question_is_refused(tmp_path: Path) -> None:
    data = write(tmp_path / "lme.json", [])
    result = CliRunner().invoke(app, ["memtier", "--data", str(data)])
    assert result.exit_code == 1
    assert "no question" in result.output


@pytest.mark.anyio
async def test_meaning_adds_what_needs_it(tmp_path: Path) -> None:
    dataset = LongMemEval(write(tmp_path / "lme.json", [lme()]))
    asked = await ask_all(dataset, HashEmbedder())
    assert {"first stage fused", "second stage fused"} <= asked.outcomes.keys()
    titles = [table.title for table in found(asked, command="", data="lme.json").tables]
    assert "BM25 and meaning, fused" in titles

"""Retrieval scores against cases worked by hand from the official definitions."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.datasets import LongMemEval
from eval.metrics.intervals import estimate
from eval.metrics.retrieval import (
    evidence_documents,
    reciprocal_rank,
    score,
    session_labels,
    turn_labels,
    vendor_sessions,
)
from eval.types import Case, CaseId, LabelledQuestion, Passage, QuestionId, Session
from pagestore.values import SessionId, Turn


def session(number: int, *roles: str) -> Session:
    turns = tuple(Turn(speaker=role, text=f"{role} {at}", role=role) for at, role in enumerate(roles))
    return Session(id=SessionId(f"s{number}"), turns=turns)


def at(number: int, start: int, end: int | None = None) -> Passage:
    return Passage(session=SessionId(f"s{number}"), start=start, end=start + 1 if end is None else end)


def question(
    *evidence: Passage, sessions: Sequence[int] | None = None, answerable: bool = True
) -> LabelledQuestion:
    named = [SessionId(f"s{n}") for n in sessions] if sessions is not None else [e.session for e in evidence]
    return LabelledQuestion(
        id=QuestionId("q"),
        text="?",
        category="multi-session",
        gold=("x",),
        evidence=evidence,
        evidence_sessions=tuple(dict.fromkeys(named)),
        answerable=answerable,
    )


def case(asked: LabelledQuestion, *sessions: Session, official: dict[str, str]) -> Case:
    return Case(
        id=CaseId("c"),
        sessions=sessions,
        questions=(asked,),
        official={SessionId(ours): theirs for ours, theirs in official.items()},
    )


def test_both_targets_within_the_cutoff_are_full_recall() -> None:
    scores = score(["a", "x", "b"], {"a", "b"}, ["a", "b", "x", "y"], k=3)
    assert (scores.recall, scores.recall_any, scores.recall_all) == (1.0, 1.0, 1.0)
    assert scores.ndcg_any == pytest.approx((1 + 1 / math.log2(3)) / 2)


def test_one_of_two_targets_is_any_but_not_all() -> None:
    scores = score(["x", "a", "b"], {"a", "b"}, ["a", "b", "x", "y"], k=2)
    assert (scores.recall, scores.recall_any, scores.recall_all) == (0.5, 1.0, 0.0)
    assert scores.ndcg_any == pytest.approx(1 / 2)


def test_of_no_targets_all_are_found_and_none_is_as_in_the_official_script() -> None:
    scores = score(["x", "y"], frozenset[str](), ["x", "y"], k=2)
    assert (scores.recall, scores.recall_any, scores.recall_all, scores.ndcg_any) == (0.0, 0.0, 1.0, 0.0)


def test_the_first_two_ranks_carry_the_same_weight_as_in_the_official_script() -> None:
    corpus = ["a", "x", "y"]
    assert score(["a", "x", "y"], {"a"}, corpus, k=3).ndcg_any == 1.0
    assert score(["x", "a", "y"], {"a"}, corpus, k=3).ndcg_any == 1.0
    assert score(["x", "y", "a"], {"a"}, corpus, k=3).ndcg_any == pytest.approx(1 / math.log2(3))


def test_more_targets_than_the_cutoff_cannot_all_be_recalled_but_ndcg_can_be_full() -> None:
    scores = score(["a", "b"], {"a", "b", "c"}, ["a", "b", "c"], k=2)
    assert (scores.recall_all, scores.ndcg_any) == (0.0, 1.0)
    assert scores.recall == pytest.approx(2 / 3)


def test_a_document_that_stands_twice_counts_twice_for_ndcg_and_once_for_recall() -> None:
    corpus = ["a", "a", "x"]
    once = score(["a", "x", "a"], {"a"}, corpus, k=2)
    assert once.recall_all == 1.0
    assert once.ndcg_any == pytest.approx(0.5)
    assert score(["a", "a", "x"], {"a"}, corpus, k=2).ndcg_any == 1.0


def test_a_session_labelled_only_on_the_assistants_side_becomes_noans() -> None:
    asked = question(at(1, 1), at(2, 0))
    both = ("user", "assistant")
    whole = case(
        asked,
        session(1, *both),
        session(2, *both),
        session(3, *both),
        official={"s1": "answer_1", "s2": "answer_2", "s3": "x"},
    )
    labels = session_labels(whole, asked)
    assert sorted(labels.corpus) == ["answer_2", "noans_1", "x"]
    assert labels.targets == {"answer_2"}
    assert labels.scored
    assert vendor_sessions(whole, asked).targets == {"answer_1", "answer_2"}


def test_a_question_with_only_noans_sessions_is_in_no_official_average() -> None:
    asked = question(at(1, 1))
    whole = case(asked, session(1, "user", "assistant"), official={"s1": "answer_1"})
    sessions = session_labels(whole, asked)
    assert (sessions.scored, sessions.targets) == (False, frozenset())
    assert not turn_labels(whole, asked).scored


def test_abstention_is_scored_by_vendors_only() -> None:
    asked = question(at(1, 0), answerable=False)
    whole = case(asked, session(1, "user"), official={"s1": "answer_1"})
    assert not session_labels(whole, asked).scored
    assert not turn_labels(whole, asked).scored
    assert vendor_sessions(whole, asked).scored


def test_only_user_turns_are_official_documents_and_unlabelled_ones_of_evidence_are_noans() -> None:
    asked = question(at(1, 2))
    whole = case(
        asked,
        session(1, "user", "assistant", "user"),
        session(2, "user"),
        official={"s1": "answer_1", "s2": "x"},
    )
    labels = turn_labels(whole, asked)
    assert labels.corpus == ["noans_1_1", "answer_1_3", "x_1"]
    assert labels.targets == {"answer_1_3"}
    assert labels.ranked([at(1, 1), at(1, 2), at(2, 0)]) == ["answer_1_3", "x_1"]


def test_a_session_that_stands_twice_is_one_target_and_two_documents() -> None:
    asked = question(at(1, 0), at(2, 0))
    whole = case(
        asked,
        session(1, "user"),
        session(2, "user"),
        session(3, "user"),
        official={"s1": "answer_1", "s2": "answer_1", "s3": "x"},
    )
    labels = session_labels(whole, asked)
    assert labels.corpus == ["answer_1", "answer_1", "x"]
    assert labels.targets == {"answer_1"}


def test_a_page_is_a_target_when_it_holds_a_turn_of_the_evidence() -> None:
    pages = [at(1, 0, 3), at(1, 3, 5), at(2, 0, 3)]
    assert evidence_documents(question(at(1, 4), at(2, 0)), pages) == {pages[1], pages[2]}


def test_reciprocal_rank_is_that_of_the_first_target() -> None:
    assert reciprocal_rank(["x", "a", "b"], {"a", "b"}) == 0.5
    assert reciprocal_rank(["x"], {"a"}) == 0.0


@given(
    ranking=st.permutations(list(range(8))),
    targets=st.frozensets(st.integers(0, 7), min_size=1),
    k=st.integers(1, 7),
)
def test_scores_lie_between_nought_and_one_and_never_fall_as_the_cutoff_grows(
    ranking: list[int], targets: frozenset[int], k: int
) -> None:
    here, next_ = (score(ranking, targets, range(8), k=cutoff) for cutoff in (k, k + 1))
    assert 0 <= here.recall_all <= here.recall <= here.recall_any <= 1
    assert 0 <= here.ndcg_any <= 1 + 1e-12
    assert here.recall <= next_.recall
    assert here.recall_all <= next_.recall_all


def test_the_interval_resamples_conversations_not_questions() -> None:
    values = [1.0] * 50 + [0.0] * 50
    two_talks = estimate(values, [0] * 50 + [1] * 50)
    alone = estimate(values, list(range(100)))
    assert two_talks.mean == alone.mean == 0.5
    assert (two_talks.low, two_talks.high) == (0.0, 1.0)
    assert 0.35 < alone.low < 0.45
    assert 0.55 < alone.high < 0.65
    assert estimate(values, list(range(100))) == alone


def test_nothing_to_average_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 values"):
        estimate([], [])


@pytest.mark.shared
def test_the_official_names_and_our_labels_pick_the_same_sessions(shared: Path) -> None:
    data = LongMemEval(shared / "data/longmemeval/longmemeval_oracle_dev100.json.xz")
    level_sizes = [0, 0]
    for each in data.cases():
        asked = each.questions[0]
        sessions, turns = session_labels(each, asked), turn_labels(each, asked)
        assert sessions.targets == {name for name in sessions.corpus if "answer" in name}
        assert turns.targets == {name for name in turns.corpus if "answer" in name}
        level_sizes[0] += sessions.scored
        level_sizes[1] += turns.scored
    assert level_sizes == [84, 84]

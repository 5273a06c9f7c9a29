"""Parts of a dataset: samples in proportion, the same every time, and names that there are not."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.datasets import Choice, Chosen, LoCoMo, LongMemEval
from eval.datasets.chosen import sample
from eval.types import Dataset, QuestionId
from tests.eval import tiny
from tiermem.errors import InvalidInput


def ids(choice: Choice, dataset: Dataset | None = None) -> list[QuestionId]:
    cases = Chosen(dataset or tiny.Tiny("one", "two", "three"), choice).cases()
    return [question.id for case in cases for question in case.questions]


def test_without_a_choice_everything_is_asked() -> None:
    assert len(ids(Choice())) == 12


def test_conversations_categories_and_the_first_of_them() -> None:
    assert ids(Choice(conversations=("three", "one"), categories=("adversarial",))) == ["one#3", "three#3"]
    assert ids(Choice(limit=1, categories=("fact",))) == ["one#0", "one#1", "one#2"]
    assert ids(Choice(conversations=("two", "three"), limit=1)) == ["two#0", "two#1", "two#2", "two#3"]


def test_a_conversation_without_a_question_left_is_not_observed() -> None:
    cases = list(Chosen(tiny.Tiny("one", "two"), Choice(questions=1)).cases())
    assert [len(case.questions) for case in cases] == [1]


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (Choice(conversations=("one", "ten")), r"no conversation 'ten'; there are: one, two, three"),
        (Choice(categories=("facts",)), r"no category 'facts'; there are: adversarial, fact"),
    ],
)
def test_what_there_is_not_is_named(choice: Choice, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        ids(choice)


@given(
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=6),
    count=st.integers(1, 60),
    seed=st.integers(0, 5),
)
def test_a_sample_has_every_category_by_its_share(sizes: list[int], count: int, seed: int) -> None:
    questions = [
        tiny.question("c", 100 * kind + n, "?", "x", category=str(kind))
        for kind, size in enumerate(sizes)
        for n in range(size)
    ]
    chosen = sample(questions, count, seed=seed)
    assert len({one.id for one in chosen}) == len(chosen) == min(count, len(questions))
    assert sample(questions[::-1], count, seed=seed) != [] or not questions
    assert {one.id for one in sample(questions[::-1], count, seed=seed)} == {one.id for one in chosen}
    per_kind = Counter(one.category for one in chosen)
    for kind, size in enumerate(sizes):
        share = len(chosen) * size / len(questions) if questions else 0
        assert abs(per_kind[str(kind)] - share) < 1


def test_another_seed_is_another_sample() -> None:
    questions = [tiny.question("c", n, "?", "x") for n in range(50)]
    assert sample(questions, 10, seed=0) != sample(questions, 10, seed=1)


def test_a_hundred_questions_of_the_data(shared: Path) -> None:
    data = LoCoMo(shared / "data/locomo/locomo_dev7.json")
    answerable = ("multi-hop", "temporal", "open-domain", "single-hop")
    cases = list(Chosen(data, Choice(questions=100, categories=answerable)).cases())
    counted = Counter(question.category for case in cases for question in case.questions)
    assert counted == {"multi-hop": 18, "temporal": 21, "open-domain": 6, "single-hop": 55}
    assert len(cases) >= 3


def test_chats_are_sampled_over_their_types(shared: Path) -> None:
    data = LongMemEval(shared / "data/longmemeval/longmemeval_oracle_dev100.json.xz")
    cases = list(Chosen(data, Choice(questions=24)).cases())
    assert sum(len(case.questions) for case in cases) == len(cases) == 24
    assert len({case.questions[0].category for case in cases}) >= 5

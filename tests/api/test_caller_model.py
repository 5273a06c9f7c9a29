"""A function that a caller gives as a model: it may fail in any way, and limits hold for it."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tiermem
from tiermem import Engine, Memory
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput, ModelUnavailable
from tiermem.model import Evidence, Search
from tiermem.reasoning import Draft
from tiermem.text.question import Question

QUESTION = "Who is the captain of the ferry?"
PART = {"answer": "Ragnar", "cited": [0], "complete": False, "missing": "his surname"}


def open_filled(model: Any = None, **given: Any) -> Memory:
    memory = tiermem.open(":memory:", model=model, embedder=HashEmbedder(), **given)
    for number in range(60):
        speaker = "Ann" if number % 2 else "Bo"
        memory.add(
            f"On day {number} Ragnar, captain of the ferry, came to pier {number}.",
            speaker=speaker, session=f"s{number // 6}",
        )  # fmt: skip
    return memory


class Failing:
    """A model that replies to the first wordings, and then raises."""

    def __init__(self, *replies: dict[str, Any], error: Exception | None = None) -> None:
        self.calls: Counter[str] = Counter()
        self._replies = list(replies)
        self._error = error or RuntimeError("context length exceeded")

    def __call__(self, call: Any) -> str:
        self.calls[call.role] += 1
        if call.role == "distil":
            return json.dumps({"facts": []})
        if not self._replies:
            raise self._error
        return json.dumps(self._replies.pop(0))


@pytest.mark.parametrize("budget", [None, {"calls": 2}, {"tokens": 3000}, {"seconds": 60}])
def test_what_it_raises_is_that_it_is_unavailable_and_nothing_is_asked_again(budget: Any) -> None:
    model = Failing()
    with (
        open_filled(model) as memory,
        pytest.raises(ModelUnavailable, match=r"'Failing' raised RuntimeError at .*: context"),
    ):
        memory.ask(QUESTION, budget=budget)
    assert model.calls["compose"] == 1


def test_a_part_of_an_answer_stays_where_it_raises_later_and_the_call_counts() -> None:
    model = Failing(PART | {"searches": ["Ragnar said his surname"]})
    with open_filled(model) as memory:
        answer = memory.ask(QUESTION)
    assert (answer.text, answer.complete) == ("Ragnar", False)
    assert model.calls["compose"] == 2
    assert (answer.usage.calls, answer.usage.failed) == (2, 1)
    assert any("context length exceeded" in one.reason for one in answer.trace.degradations)


def test_pages_wait_where_it_raises(tmp_path: Path) -> None:
    with tiermem.open(":memory:", model=Failing(), embedder=HashEmbedder()) as memory:
        memory.add("The ferry left at nine.", speaker="Ann")
        assert memory.flush().pending == 0

    def fails(call: Any) -> str:
        raise KeyError("choices")

    with tiermem.open(":memory:", model=fails, embedder=HashEmbedder()) as memory:
        memory.add("The ferry left at nine.", speaker="Ann")
        report = memory.flush()
    assert report.pending == 1
    assert any("'fails' raised KeyError" in problem for problem in report.problems)


class AwaitedModel:
    async def __call__(self, call: Any) -> str:
        return json.dumps({"answer": "Ragnar", "cited": [0]} if call.role == "compose" else {"facts": []})


def replies(answer: str, call: Any) -> str:
    return json.dumps({"answer": answer, "cited": [0]} if call.role == "compose" else {"facts": []})


@pytest.mark.parametrize(
    ("model", "name"), [(partial(replies, "Ragnar"), "replies"), (AwaitedModel(), "AwaitedModel")]
)
def test_whatever_can_be_called_is_a_model(model: Callable[[Any], Any], name: str) -> None:
    with open_filled(model) as memory:
        assert memory.ask(QUESTION).text == "Ragnar"
        assert memory.engine == f"model:{name}"


def test_a_limit_of_cost_is_refused_before_anything_is_paid() -> None:
    model = Failing(PART)
    with open_filled(model) as memory, pytest.raises(InvalidInput, match="needs the price of 'Failing'"):
        memory.ask(QUESTION, budget={"cost": 0.01})
    assert model.calls["compose"] == 0
    with pytest.raises(InvalidInput, match="needs the price of 'Failing'"):
        open_filled(model, daily_cost=1.0)
    with open_filled() as memory, pytest.raises(InvalidInput, match="budget 'cost' is for a language model"):
        memory.ask(QUESTION, budget={"cost": 0.01})


def test_one_search_may_be_named_as_a_text() -> None:
    model = Failing(PART | {"searches": "Ragnar said his surname"}, {"answer": "Ragnar Berg", "cited": [0]})
    with open_filled(model) as memory:
        (round_,) = memory.ask(QUESTION).trace.rounds
    assert round_.searches == (Search(kind="SEMANTIC", query="Ragnar said his surname"),)


def test_an_engine_that_only_words_looks_further_where_it_names_look_ups() -> None:
    asked: list[int] = []

    async def compose(question: Question, evidence: Sequence[Evidence]) -> Draft:
        asked.append(len(evidence))
        searches = (Search(kind="SEMANTIC", query="pier 41"),) if len(asked) == 1 else None
        return Draft(text="a pier", cited=(0,), abstained=False, complete=False, searches=searches)

    with open_filled(engine=Engine(name="words", compose=compose)) as memory:
        answer = memory.ask("Which pier?")
    assert len(asked) == 2
    assert [one.searches[0].query for one in answer.trace.rounds if one.searches] == ["pier 41"]

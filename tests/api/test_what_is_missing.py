"""What an answer lacks, and what a model says where it abstains, are displayed wherever the answer is."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

import tiermem
from tests.api.conftest import OpenMemory
from tests.engines import engine
from tiermem.apps.present.answers import answer_rows
from tiermem.apps.present.reading_cost import reading_cost
from tiermem.apps.present.tables import pairs
from tiermem.errors import MalformedReply, ModelError, ModelUnavailable
from tiermem.llm.meter import check_budget, pay
from tiermem.model import Evidence, Search, Usage
from tiermem.reasoning import Draft
from tiermem.reasoning.interface import Planned
from tiermem.text.question import Question

SAID = "My neighbour is called Leo and sells sesame bread."
ASKED = "What is the full name of my neighbour?"
EXPLANATION = "Nothing is told of Leo's surname;\nMila is called Berg"


def by_model(open_memory: OpenMemory, draft: Draft) -> tuple[tiermem.Memory, list[str]]:
    """A memory whose model gives this draft, and what it is asked to plan for."""
    planned_for: list[str] = []

    async def compose(question: Question, evidence: Sequence[Evidence]) -> Draft:
        return draft

    async def plan(
        question: Question, known: Sequence[Evidence], missing: str, done: Sequence[Any]
    ) -> Planned:
        planned_for.append(missing)
        return Planned(done=True, reason="enough")

    memory = open_memory(engine=engine(compose=compose, plan=plan, route=None), distil="deferred")
    memory.add(SAID, speaker="Ann")
    return memory, planned_for


def reading_on(open_memory: OpenMemory, first: Draft, error: ModelError | None = None) -> tiermem.Memory:
    """A memory whose model gives this first reply, and then fails; without an error each reply is a call."""
    replies: list[Draft] = []

    async def compose(question: Question, evidence: Sequence[Evidence]) -> Draft:
        check_budget()
        if replies and error is not None:
            raise error
        pay(Usage(calls=1))
        replies.append(first)
        return first

    async def plan(*_: Any) -> Planned:
        raise AssertionError("the wording names what to look up")

    memory = open_memory(engine=engine(compose=compose, plan=plan, route=None), distil="deferred")
    memory.add(SAID, speaker="Ann")
    memory.add([{"role": "user", "content": f"The surname of guest {n} is Berg."} for n in range(40)])
    return memory


def on_the_command_line(answer: tiermem.Answer) -> str:
    console = Console(width=200)
    with console.capture() as printed:
        console.print(pairs(answer_rows(answer, console)))
    return printed.get()


def test_an_incomplete_answer_is_displayed_with_what_is_missing(open_memory: OpenMemory) -> None:
    draft = Draft(text="Leo", cited=(0,), abstained=False, complete=False, missing="his\nsurname")
    memory, planned_for = by_model(open_memory, draft)
    answer = memory.ask(ASKED)
    assert (answer.text, answer.missing, planned_for) == ("Leo", "his\nsurname", ["his\nsurname"])
    assert str(answer).splitlines()[-1] == "  incomplete, missing: his surname"
    assert "\nMissing:  his\nsurname\n" in memory.audit(answer.id).explain()
    assert "incomplete" in on_the_command_line(answer)


def test_an_incomplete_answer_of_which_nobody_says_what_is_missing_is_displayed_as_that(
    open_memory: OpenMemory,
) -> None:
    memory, _ = by_model(open_memory, Draft(text="Leo", cited=(0,), abstained=False, complete=False))
    answer = memory.ask(ASKED)
    assert str(answer).splitlines()[-1] == "  incomplete, missing: a part of what was asked"
    assert "\nMissing:  a part of what was asked\n" in memory.audit(answer.id).explain()


def test_a_complete_answer_is_displayed_as_nothing_else(open_memory: OpenMemory) -> None:
    memory, _ = by_model(open_memory, Draft(text="Leo", cited=(0,), abstained=False))
    answer = memory.ask(ASKED)
    for shown in (str(answer), memory.audit(answer.id).explain(), on_the_command_line(answer)):
        assert "missing" not in shown.lower()
        assert "incomplete" not in shown


def test_what_a_model_says_where_it_abstains_is_displayed_as_its_words(open_memory: OpenMemory) -> None:
    draft = Draft(text=EXPLANATION, cited=(), abstained=True, complete=False, missing="his surname")
    memory, planned_for = by_model(open_memory, draft)
    answer = memory.ask(ASKED)
    assert (answer.missing, answer.explanation) == ("his surname", EXPLANATION)
    assert planned_for == [f"his surname; {EXPLANATION}"]
    assert str(answer).splitlines()[-2:] == [
        "  missing: his surname",
        f"  what the model said: “{EXPLANATION.replace(chr(10), ' ')}”",
    ]
    explained = memory.audit(answer.id).explain()
    assert "Missing:  his surname\n" in explained
    assert f"Model:    “{EXPLANATION}”, which was not checked" in explained
    shown = on_the_command_line(answer)
    assert "his surname" in shown
    assert "model said" in shown
    assert memory.get(answer.id) == answer


def test_an_abstention_that_no_search_would_change_misses_nothing(open_memory: OpenMemory) -> None:
    memory, planned_for = by_model(
        open_memory, Draft(text=EXPLANATION, cited=(), abstained=True, complete=True)
    )
    answer = memory.ask(ASKED)
    assert (answer.missing, answer.explanation, planned_for) == ("", EXPLANATION, [])
    assert "missing" not in str(answer)
    assert "what the model said: “Nothing is told" in str(answer)


def test_without_a_model_nothing_is_missing(open_memory: OpenMemory) -> None:
    memory = open_memory(engine="local")
    memory.add(SAID, speaker="Ann")
    answer = memory.ask("Which bank does Robert use?")
    assert (answer.abstained, answer.missing_part, answer.explanation) == (True, "", "")
    assert str(answer) == answer.text


LOOK_UP = (Search(kind="KEYWORD", query="surname of a guest"),)
PART = Draft(text="Leo", cited=(0,), abstained=False, complete=False, missing="his surname", searches=LOOK_UP)
SILENCE = replace(PART, text=EXPLANATION, cited=(), abstained=True)


@pytest.mark.parametrize("first", [PART, SILENCE], ids=["a part", "an abstention"])
def test_a_spent_budget_is_no_part_of_what_is_missing(open_memory: OpenMemory, first: Draft) -> None:
    memory = reading_on(open_memory, first)
    answer = memory.ask(ASKED, budget={"calls": 1})
    assert (answer.abstained, answer.missing) == (first.abstained, "his surname")
    assert answer.explanation == (EXPLANATION if first.abstained else "")
    assert answer.usage.calls == 1
    (degraded,) = answer.trace.degradations
    assert degraded.reason == "BudgetExceeded: the budget of 1 call is used up (1)"
    kept = "lines as they were said" if first.abstained else "the answer from what was read until then"
    assert degraded.fallback == kept


def test_before_any_reply_a_spent_budget_leaves_lines_and_nothing_is_known_to_be_missing(
    open_memory: OpenMemory,
) -> None:
    answer = reading_on(open_memory, PART).ask(ASKED, budget={"calls": 0})
    assert (answer.abstained, answer.missing, answer.said != ()) == (True, "", True)
    assert "the budget of 0 calls is used up (0)" in answer.trace.degradations[0].reason


@pytest.mark.parametrize("error", [None, MalformedReply("no JSON"), ModelUnavailable("down")])
def test_where_reading_on_fails_no_model_is_said_to_have_read_more(
    open_memory: OpenMemory, error: ModelError | None
) -> None:
    memory = reading_on(open_memory, PART, error)
    answer = memory.ask(ASKED, budget=None if error is not None else {"calls": 1})
    assert (answer.text, answer.route, answer.trace.way) == ("Leo", "ANSWER", "recall")
    (a_round,) = answer.trace.rounds
    assert a_round.pages
    name = "BudgetExceeded" if error is None else type(error).__name__
    assert (a_round.stop or "").startswith(name)
    explained = memory.audit(answer.id).explain()
    route = "Route:    read further, by fused: his surname; nothing came of it beyond what was recalled\n"
    assert route in explained
    assert f"stopped: {name}" in explained
    assert "lines as they were said" not in explained
    assert (memory.stats().escalated, reading_cost(memory, answer).pages) == (0, 0)


def test_where_reading_on_brings_something_it_is_said_to_have_been_read(open_memory: OpenMemory) -> None:
    memory = reading_on(open_memory, PART)
    answer = memory.ask(ASKED)
    assert (answer.route, answer.trace.way) == ("ESCALATE", "researched")
    assert "what was missing was searched for and read" in memory.audit(answer.id).explain()
    assert reading_cost(memory, answer).pages > 0

"""The steps of a question, told as they are done: parts of the trace, and nothing else."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args

import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tests.engines import quoting_engine
from tiermem.apps.present.answers import route
from tiermem.apps.present.steps import describe_step
from tiermem.errors import CallbackFailed, InvalidInput
from tiermem.model import AskMode, AskStep, Decision, Evidence
from tiermem.reading import ask as asking
from tiermem.reasoning import Draft
from tiermem.text.question import Question
from tiermem.wire import plain

ASKED = "What did Melanie paint last year?"


def named(steps: list[AskStep], name: str) -> list[AskStep]:
    return [one for one in steps if one.name == name]


@pytest.mark.parametrize("mode", get_args(AskMode))
def test_steps_tell_what_the_trace_holds(memory: tiermem.Memory, mode: AskMode) -> None:
    steps: list[AskStep] = []
    trace = memory.ask(ASKED, mode=mode, on_step=steps.append).trace
    assert steps[0].name == "recall"
    assert [one.decision for one in named(steps, "route")] == [trace.decision]
    assert {item for one in steps for item in one.candidates} <= set(trace.candidates)
    assert set(steps[0].candidates) == set(trace.candidates[: len(steps[0].candidates)])
    assert [check for one in steps for check in one.checks] == list(trace.checks)
    assert steps[-1].way == trace.way
    rounds = [one.rounds[0] for one in named(steps, "integrate")]
    assert rounds == [replace(one, stop=None) for one in trace.rounds if one.pages]
    assert [one.rounds[0].pages for one in named(steps, "read")] == [one.pages for one in trace.rounds]
    assert {one for step in steps for one in step.degradations} <= set(trace.degradations)
    assert all(describe_step(one) for one in steps)
    assert bool(rounds) == (mode == "raw")


def test_steps_are_told_while_the_question_is_under_way(memory: tiermem.Memory) -> None:
    seen: list[str] = []

    def refuse(step: AskStep) -> None:
        seen.append(step.name)
        if step.name == "route":
            raise ValueError("enough")

    with pytest.raises(CallbackFailed, match="enough"):
        memory.ask(ASKED, mode="raw", on_step=refuse)
    assert seen == ["recall", "route"]
    assert memory.ask(ASKED).text


def test_a_question_that_is_stopped_by_its_steps_leaves_no_answer(memory: tiermem.Memory) -> None:
    with pytest.raises(CallbackFailed):
        memory.ask(ASKED, on_step=lambda step: 1 / 0)  # type: ignore[arg-type]  # it raises
    assert memory.answers() == ()


@pytest.mark.parametrize("callback", [1, "step", object()])
def test_what_is_told_steps_can_be_called(memory: tiermem.Memory, callback: Any) -> None:
    with pytest.raises(InvalidInput, match="on_step"):
        memory.ask(ASKED, on_step=callback)


@pytest.mark.unexpected
def test_a_page_that_is_left_out_is_told_by_a_last_step(
    memory: tiermem.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    recall: Callable[..., Any] = vars(asking)["recall"]
    odd = memory.pages()[0].id

    async def stumbles(question: str, lookup: Any, **given: Any) -> Any:
        found = await lookup.view.fetch([odd])
        if odd in found.pages:
            raise ZeroDivisionError("odd")
        return await recall(question, lookup, **given)

    monkeypatch.setattr(asking, "recall", stumbles)
    steps: list[AskStep] = []
    answer = memory.ask(ASKED, on_step=steps.append)
    assert [one.name for one in steps] == ["fallback"]
    assert set(steps[-1].degradations) <= set(answer.trace.degradations)
    assert odd in json.dumps(plain(steps[-1]))


def test_the_route_is_told_before_the_answer_is_worded_where_it_is_decided_before(
    memory: tiermem.Memory,
) -> None:
    names: list[str] = []
    memory.ask(ASKED, mode="summary", on_step=lambda step: names.append(step.name))
    assert names == ["recall", "route", "compose"]


async def abstain(question: Question, evidence: Sequence[Evidence]) -> Draft:
    return Draft(text="", cited=(), abstained=True)


async def stop_reading(question: Question, evidence: Sequence[Evidence]) -> Decision:
    return Decision(action="ANSWER", score=0.9, reason="enough was found", router="mine")


ABSTAINING: dict[str, tuple[Any, AskMode]] = {
    "without a model": ("local", "router"),
    "without a model, in summaries": ("local", "summary"),
    "with the gate": (replace(quoting_engine(), compose=abstain), "router"),
    "without a router": (replace(quoting_engine(), route=None, compose=abstain), "router"),
    "with a router of one's own": (replace(quoting_engine(), route=stop_reading, compose=abstain), "router"),
    "in summaries": (replace(quoting_engine(), compose=abstain), "summary"),
    "in pages": (replace(quoting_engine(), compose=abstain), "raw"),
}


@pytest.mark.parametrize(("engine", "mode"), ABSTAINING.values(), ids=ABSTAINING)
def test_of_an_answer_that_abstains_nothing_says_that_answering_was_decided(
    open_memory: OpenMemory, engine: Any, mode: AskMode
) -> None:
    memory = open_memory(engine=engine)
    memory.add("The alarm is loud.", speaker="Bob")
    steps: list[AskStep] = []
    answer = memory.ask("Is the alarm loud?", mode=mode, on_step=steps.append)
    assert answer.abstained
    shown = [route(answer).plain, str(memory.audit(answer.id)), *map(describe_step, steps)]
    assert "abstained" in shown[0]
    assert "ANSWER" not in "".join(shown)
    assert "decided" not in "".join(shown)

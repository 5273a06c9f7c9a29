"""Typed questions: validated, repaired once, or an error; never a guess."""

from typing import Any, Literal

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from tests.llm.replies import generated
from tests.reasoning.reply_types import REPLIES
from tiermem.errors import BudgetExceeded, MalformedReply, ModelRefused, ModelUnavailable
from tiermem.llm.interface import Call
from tiermem.llm.meter import Meter, paid_by
from tiermem.llm.prompts import Prompt, parse_prompt
from tiermem.llm.scripted import FunctionModel, ScriptedModel
from tiermem.llm.typed import Unusable, ask_typed, read_reply, reply_schema
from tiermem.model import Budget
from tiermem.runtime.daily import DailyMeter

pytestmark = pytest.mark.anyio


class Inner(BaseModel):
    model_config = ConfigDict(strict=True)
    title: str
    note: str | None = None


class Verdict(BaseModel):
    model_config = ConfigDict(strict=True)
    action: Literal["S", "R"]
    parts: list[Inner] = []


def prompt(output: str = "Verdict") -> Prompt:
    header = f'+++\npurpose = "Try."\ninputs = ["question"]\noutput = "{output}"\n+++\n'
    return parse_prompt("try", header + "Marked $fence. $question")


async def ask(model: FunctionModel) -> Verdict:
    return await ask_typed(model, prompt(), {"question": "?"}, Verdict, role="route", max_tokens=100)


async def test_a_reply_in_form_is_the_answer() -> None:
    model = ScriptedModel(("try", {"action": "S", "parts": [{"title": "t"}], "extra": 1}))
    assert await ask(model) == Verdict(action="S", parts=[Inner(title="t")])
    (call,) = model.calls
    assert call.prompt == prompt().id
    assert call.schema == reply_schema(Verdict)
    assert call.temperature == 0.0


async def test_a_reply_out_of_form_is_shown_back_once_with_what_is_wrong() -> None:
    model = ScriptedModel(("try", '{"action": "maybe"}'), ("try", {"action": "R"}))
    assert (await ask(model)).action == "R"
    first, second = model.calls
    assert [message.role for message in second.messages] == ["user", "assistant", "user"]
    assert second.messages[0] == first.messages[0]
    assert second.messages[1].content == '{"action": "maybe"}'
    assert "action: Input should be 'S' or 'R'" in second.messages[2].content
    assert second.max_tokens == 200


async def test_a_second_reply_out_of_form_is_an_error_that_says_what_is_wrong() -> None:
    model = ScriptedModel(("try", "no idea"), ("try", '{"action": 3}'))
    with pytest.raises(MalformedReply, match="action: Input should be"):
        await ask(model)
    model.finish()


async def test_a_malformed_reply_is_quoted_in_the_error_with_what_to_check() -> None:
    model = ScriptedModel(("try", "no idea"), ("try", "<html>" + "x" * 500))
    with pytest.raises(MalformedReply) as raised:
        await ask(model)
    assert f"it replied {'<html>' + 'x' * 194!r}; check that the model can reply in JSON" in str(raised.value)
    assert "base_url, if one is named, is right (it usually ends in '/v1')" in str(raised.value)
    empty = MalformedReply("the reply is empty")
    with pytest.raises(MalformedReply, match=r"the reply is empty; check that the model can"):
        await ask(ScriptedModel(("try", empty), ("try", empty)))


async def test_a_reply_without_words_is_asked_for_again_without_breaking_the_alternation_of_roles() -> None:
    model = ScriptedModel(("try", MalformedReply("the reply is empty")), ("try", {"action": "R"}))
    assert (await ask(model)).action == "R"
    (message,) = model.calls[1].messages
    assert message.content.startswith(model.calls[0].messages[0].content)
    assert "the reply is empty" in message.content


@pytest.mark.parametrize("error", [ModelUnavailable("down"), ModelRefused("no key")])
async def test_an_endpoint_that_cannot_be_used_is_not_asked_again(error: Exception) -> None:
    model = ScriptedModel(("try", error))
    with pytest.raises(type(error)):
        await ask(model)
    model.finish()


async def test_a_prompt_that_describes_another_reply_is_a_mistake_in_the_code() -> None:
    with pytest.raises(TypeError, match="Other"):
        await ask_typed(ScriptedModel(), prompt("Other"), {"question": "?"}, Verdict, role="route")


def problem_of(text: str) -> str:
    read = read_reply(text, Verdict)
    assert isinstance(read, Unusable)
    return read.problem


def test_two_different_answers_are_none() -> None:
    assert "2 different answers" in problem_of('{"action": "S"} or {"action": "R"}')
    assert read_reply('{"action": "S"} yes {"action": "S"}', Verdict) == Verdict(action="S")


def test_what_does_not_fit_is_named_and_values_that_are_no_answer_do_not_disturb() -> None:
    assert problem_of("nothing") == "there is no JSON object in it"
    assert "parts.0.title" in problem_of('{"action": "S", "parts": [{"title": 7}]}')
    assert read_reply('For {"x": 1} I say {"action": "S"}', Verdict) == Verdict(action="S")


def test_a_long_list_of_errors_is_cut() -> None:
    parts = ", ".join('{"title": 1}' for _ in range(20))
    assert "and 15 more" in problem_of(f'{{"action": "S", "parts": [{parts}]}}')


def objects_in(schema: Any) -> list[dict[str, Any]]:
    found = [schema] if isinstance(schema, dict) and "properties" in schema else []
    children = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    return found + [inner for child in children for inner in objects_in(child)]


@pytest.mark.parametrize(
    "reply_type",
    [Verdict, *REPLIES],
)
def test_schemas_are_in_the_strict_dialect(reply_type: type[BaseModel]) -> None:
    schema = reply_schema(reply_type)
    assert schema["title"] == reply_type.__name__
    objects = objects_in(schema)
    assert objects
    for part in objects:
        assert part["additionalProperties"] is False
        assert set(part["required"]) == set(part["properties"])
        assert "default" not in str(part)


def test_a_property_may_be_called_title() -> None:
    assert "title" in reply_schema(Inner)["properties"]


async def test_of_5000_generated_replies_none_raises_anything_but_a_malformed_reply() -> None:
    outcomes = {"answered": 0, "malformed": 0}
    for text in generated(reply_schema(Verdict), count=5_000, seed=1):
        try:
            verdict = await ask(ScriptedModel(("try", text), ("try", text)))
        except MalformedReply:
            outcomes["malformed"] += 1
        else:
            assert verdict.action in ("S", "R")
            outcomes["answered"] += 1
    assert min(outcomes.values()) > 500, outcomes


LONG = {"action": "S", "parts": [{"title": "t", "note": "words " * 40}]}


async def test_a_call_that_would_pass_the_tokens_left_is_not_made() -> None:
    model = FunctionModel(lambda call: LONG)
    told = "tokens for 'route' and a reply would pass the 60"
    with paid_by(Meter(budget=Budget(tokens=60))), pytest.raises(BudgetExceeded, match=told):
        await ask(model)
    assert model.calls == []


async def test_a_reply_has_no_more_room_than_its_budget_leaves() -> None:
    model = FunctionModel(lambda call: {"action": "S"})
    with paid_by(Meter(budget=Budget(tokens=100_000))):
        await ask_typed(model, prompt(), {"question": "?"}, Verdict, role="route", max_tokens=4_000)
    with paid_by(Meter(budget=Budget(tokens=800))):
        await ask_typed(model, prompt(), {"question": "?"}, Verdict, role="route", max_tokens=4_000)
    assert model.calls[0].max_tokens == 4_000
    assert 100 <= model.calls[1].max_tokens < 800


@settings(max_examples=60, deadline=None)
@given(tokens=st.integers(1, 3_000), length=st.integers(1, 60), asked=st.integers(1, 12))
def test_a_budget_of_tokens_is_kept_whatever_is_asked_and_replied(
    tokens: int, length: int, asked: int
) -> None:
    """A model that fills the room it is given; what it takes is never more than the budget."""

    def fills(call: Call) -> dict[str, object]:
        words = min(length * 10, max(0, call.max_tokens - 60))
        return {"action": "S", "parts": [{"title": "t", "note": "a " * words}]}

    async def main() -> None:
        with paid_by(Meter(budget=Budget(tokens=tokens))) as meter:
            for number in range(asked):
                question = "why " * (7 * number)
                try:
                    await ask_typed(
                        FunctionModel(fills), prompt(), {"question": question}, Verdict, role="route"
                    )
                except BudgetExceeded:
                    break
            spent = meter.total()
            assert spent.input_tokens + spent.output_tokens <= tokens

    anyio.run(main)


async def test_the_limit_of_a_day_counts_as_well() -> None:
    daily = DailyMeter(limits=Budget(tokens=50))
    model = FunctionModel(lambda call: LONG)
    with paid_by(Meter(outer=daily)), pytest.raises(BudgetExceeded, match="would pass the 50"):
        await ask(model)

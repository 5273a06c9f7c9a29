"""Scripted models: loud off-script, and paying like real ones."""

import pytest

from tiermem.errors import BudgetExceeded, ModelUnavailable
from tiermem.llm.interface import Call, Message
from tiermem.llm.meter import Meter, paid_by
from tiermem.llm.scripted import FunctionModel, ScriptedModel
from tiermem.model import Budget

pytestmark = pytest.mark.anyio


def call(prompt: str = "route@1", text: str = "hello") -> Call:
    return Call(prompt=prompt, role="route", messages=(Message(role="user", content=text),))


async def test_lines_are_played_in_order() -> None:
    model = ScriptedModel(("route", "S"), ("plan", {"a": 1}), ("plan", [0]), name="actor")
    assert (await model.complete(call())).text == "S"
    assert (await model.complete(call("plan@9"))).text == '{"a": 1}'
    assert (await model.complete(call("plan"))).text == "[0]"
    assert [c.prompt for c in model.calls] == ["route@1", "plan@9", "plan"]
    assert model.model_for("judge") == "actor"
    model.finish()


async def test_an_exception_is_a_line_too() -> None:
    with pytest.raises(ModelUnavailable):
        await ScriptedModel(("route", ModelUnavailable("down"))).complete(call())


async def test_leaving_the_script_is_loud() -> None:
    with pytest.raises(AssertionError, match=r"expects 'plan' here, and 'route'"):
        await ScriptedModel(("plan", "x")).complete(call())
    with pytest.raises(AssertionError, match="script is over"):
        await ScriptedModel().complete(call())
    with pytest.raises(AssertionError, match=r"never asked: \['plan'\]"):
        ScriptedModel(("plan", "x")).finish()


async def test_a_function_may_answer_and_is_paid_for() -> None:
    model = FunctionModel(lambda asked: asked.messages[0].content.upper())
    with paid_by(Meter(budget=Budget(calls=1))) as meter:
        assert (await model.complete(call())).text == "HELLO"
        with pytest.raises(BudgetExceeded):
            await model.complete(call())
    assert meter.total().input_tokens == 2
    assert (list(meter.prompts), list(meter.models)) == (["route@1"], ["scripted"])

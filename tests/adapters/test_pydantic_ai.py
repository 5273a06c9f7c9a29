"""A memory in Pydantic AI: tools that a model calls, and a history that is kept and shortened."""

import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="Pydantic AI is not installed: `make test-adapters` brings it")

from pydantic_ai import Agent, ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel as CallsEveryTool

import tiermem
from tiermem.adapters.pydantic_ai import TierMemHistory, memory_toolset, said_in
from tiermem.errors import InvalidInput

pytestmark = pytest.mark.anyio


def scripted(
    *calls: tuple[str, dict[str, Any]], shown: list[list[ModelMessage]] | None = None
) -> FunctionModel:
    """A model that calls these tools, one after the other, and then says what the last one gave."""
    left = list(calls)

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if shown is not None:
            shown.append(list(messages))
        if left:
            name, arguments = left.pop(0)
            return ModelResponse([ToolCallPart(name, arguments)])
        return ModelResponse([TextPart(said_in(messages[-1]))])

    return FunctionModel(reply)


async def test_a_model_recalls_asks_and_remembers(dogs: tiermem.Memory) -> None:
    agent = Agent(scripted(("recall", {"question": "Biscuit"})), toolsets=[memory_toolset(dogs)])
    assert "| Ann: My dog Biscuit is allergic to chicken." in (await agent.run("?")).output
    agent = Agent(
        scripted(("ask", {"question": "What is Biscuit allergic to?"})), toolsets=[memory_toolset(dogs)]
    )
    answer = json.loads((await agent.run("?")).output)
    assert "“My dog Biscuit is allergic to chicken.”" in answer["text"]
    assert dogs.audit(answer["id"]).answer.text == answer["text"]
    kept = {"fact": "The red kettle stands in the cellar.", "speaker": "Bo"}
    tools = memory_toolset(dogs, session="things", as_user=True)
    agent = Agent(scripted(("remember", kept)), toolsets=[tools])
    assert "red kettle" in (await agent.run("?")).output
    assert dogs.units("things")[0].text == kept["fact"]


async def test_what_memory_refuses_is_shown_to_the_model(dogs: tiermem.Memory) -> None:
    shown: list[list[ModelMessage]] = []
    model = scripted(("ask", {"question": " "}), shown=shown)
    await Agent(model, toolsets=[memory_toolset(dogs)]).run("?")
    (refused,) = [part for part in shown[-1][-1].parts if isinstance(part, ToolReturnPart)]
    assert refused.outcome == "retried"
    assert "question must be a text" in str(refused.content)


async def test_every_tool_is_described_and_none_writes_read_only(dogs: tiermem.Memory) -> None:
    model = CallsEveryTool(call_tools=[])
    await Agent(model, toolsets=[memory_toolset(dogs)]).run("?")
    asked = model.last_model_request_parameters
    assert asked is not None
    tools = {tool.name: tool for tool in asked.function_tools}
    assert set(tools) == {"recall", "ask", "remember"}
    assert "numbered evidence" in str(tools["recall"].description)
    of_question = tools["recall"].parameters_json_schema["properties"]["question"]
    assert of_question["description"].startswith("What to look for")
    await Agent(model, toolsets=[memory_toolset(dogs, read_only=True)]).run("?")
    assert model.last_model_request_parameters is not None
    assert {tool.name for tool in model.last_model_request_parameters.function_tools} == {"recall", "ask"}


async def test_a_history_is_kept_and_goes_on_elsewhere(memory: tiermem.Memory) -> None:
    def weather(city: str) -> str:
        return f"21 degrees in {city}"

    history = TierMemHistory(memory, "rome", speakers={"user": "Ann"})
    first = await Agent(scripted(("weather", {"city": "Rome"})), tools=[weather]).run(
        "How warm is it in Rome?"
    )
    await history.add(first.new_messages())
    assert await history.messages() == first.all_messages()
    memory.flush()
    then = await Agent(scripted()).run("And in Oslo?", message_history=await history.messages())
    await history.add(then.new_messages())
    assert await TierMemHistory(memory, "rome").messages() == then.all_messages()
    said = [one.text for one in memory.recall("How warm is it?", kind="turns", speaker="Ann").items]
    assert "Ann: How warm is it in Rome?" in said
    assert memory.recall("degrees", kind="turns", role="tool").items


async def test_a_request_has_the_newest_messages_and_what_bears_on_them(dogs: tiermem.Memory) -> None:
    shown: list[list[ModelMessage]] = []
    history = TierMemHistory(dogs, "talk", keep=3, max_tokens=200)
    process = ProcessHistory(history.process)
    past: list[ModelMessage] = []
    for number in range(4):
        agent = Agent(scripted(shown=shown), system_prompt="Be brief.", capabilities=[process])
        said = "What is Biscuit allergic to?" if number == 3 else f"Number {number}?"
        result = await agent.run(said, message_history=past)
        past = result.all_messages()
        await history.add(result.new_messages())
    request = shown[-1]
    assert len(request) == 3
    assert said_in(request[0]) == "Number 2?"
    assert "Be brief." in [getattr(part, "content", "") for part in request[0].parts]
    evidence = [
        str(part.content) for message in request for part in message.parts if isinstance(part, UserPromptPart)
    ]
    assert sum("From memory." in text for text in evidence) == 1
    assert "| Ann: My dog Biscuit is allergic to chicken." in evidence[-2]
    assert evidence[-1] == "What is Biscuit allergic to?"
    kept = await history.messages()
    assert len(kept) == 8
    assert not any("From memory." in str(message) for message in kept)


async def test_a_tool_never_replies_to_a_call_that_is_not_there(dogs: tiermem.Memory) -> None:
    shown: list[list[ModelMessage]] = []
    calls = [("recall", {"question": "Biscuit"})] * 3
    process = ProcessHistory(TierMemHistory(dogs, "talk", keep=2).process)
    agent = Agent(scripted(*calls, shown=shown), toolsets=[memory_toolset(dogs)], capabilities=[process])
    await agent.run("What is Biscuit allergic to?")
    first, *rest = shown[-1]
    assert isinstance(first, ModelRequest)
    assert said_in(first) == "What is Biscuit allergic to?"
    assert sum(isinstance(part, ToolReturnPart) for message in rest for part in message.parts) == 3
    with pytest.raises(InvalidInput, match="keep"):
        TierMemHistory(dogs, "talk", keep=0)


def test_the_example_runs(example: Callable[[str], Any]) -> None:
    assert "| user: My dog Biscuit is allergic to chicken." in example("with_pydantic_ai.py")

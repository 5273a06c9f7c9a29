"""A memory as a session of the OpenAI Agents SDK: by itself, and under the SDK's runner."""

from collections.abc import Callable
from typing import Any, cast

import pytest

pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed: `make test-adapters` brings it")

from agents import Agent, RunConfig, Runner, Session, SessionSettings, TResponseInputItem, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

import tiermem
from tiermem.adapters.openai_agents import TierMemSession

pytestmark = pytest.mark.anyio
QUIET = RunConfig(tracing_disabled=True)

ITEMS: list[TResponseInputItem] = [
    {"role": "user", "content": "How warm is it in Rome?"},
    {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "gAAA"},
    {
        "type": "function_call",
        "name": "weather",
        "arguments": '{"city": "Rome"}',
        "call_id": "c1",
        "id": "f1",
    },
    {"type": "function_call_output", "call_id": "c1", "output": "21 degrees"},
    {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "status": "completed",
        "content": [
            {
                "type": "output_text",
                "text": "It is 21 degrees in Rome.",
                "annotations": [],
                "logprobs": [],
            }
        ],
    },
    {"role": "user", "content": [{"type": "input_text", "text": "How warm is it in Rome?"}]},
    {"role": "user", "content": "word " * 30_000},
]


async def test_items_come_back_as_they_were_newest_on_demand(memory: tiermem.Memory) -> None:
    session = TierMemSession("rome", memory, speakers={"user": "Ann"})
    assert isinstance(session, Session)
    assert await session.get_items() == []
    await session.add_items(ITEMS[:4])
    memory.flush()
    await session.add_items(ITEMS[4:])
    memory.add("This was said beside the agent.", session="rome")
    assert await session.get_items() == ITEMS
    assert await TierMemSession("rome", memory).get_items(3) == ITEMS[-3:]
    limited = TierMemSession("rome", memory, session_settings=SessionSettings(limit=2))
    assert await limited.get_items() == ITEMS[-2:]
    assert await limited.get_items(100) == ITEMS
    assert await TierMemSession("oslo", memory).get_items() == []


async def test_what_items_say_is_memory(memory: tiermem.Memory) -> None:
    await TierMemSession("rome", memory, speakers={"user": "Ann"}).add_items(ITEMS[:5])
    (first, *_) = memory.recall("How warm is it in Rome?", kind="turns", role="user").items
    assert "Ann: How warm is it in Rome?" in first.text
    (of_tool,) = memory.recall("degrees", kind="turns", role="tool").items
    assert "21 degrees" in of_tool.text
    assert "weather" in memory.open_pages("rome")[0].text


async def test_what_is_taken_back_or_cleared_is_erased(memory: tiermem.Memory) -> None:
    session = TierMemSession("rome", memory)
    await session.add_items(ITEMS[:5])
    assert await session.pop_item() == ITEMS[4]
    assert await session.get_items() == ITEMS[:4]
    said = [one.text for one in memory.recall("It is 21 degrees in Rome.", kind="turns").items]
    assert said
    assert not any("It is 21 degrees" in text for text in said)
    await session.clear_session()
    assert (await session.get_items(), await session.pop_item()) == ([], None)
    await session.clear_session()
    assert not memory.recall("Rome").items
    await session.add_items(ITEMS[:1])
    assert await session.get_items() == ITEMS[:1]


async def test_an_agent_goes_on_where_it_was_with_tool_calls_and_all(memory: tiermem.Memory) -> None:
    @function_tool
    def weather(city: str) -> str:
        """How warm it is."""
        return f"21 degrees in {city}"

    first = ScriptedModel(
        [[function_call("weather", {"city": "Rome"}, call_id="c1")], [assistant_message("21 degrees.")]]
    )
    agent = Agent(name="helper", model=first, tools=[weather])
    await Runner.run(agent, "How warm is it?", session=TierMemSession("rome", memory), run_config=QUIET)

    then = ScriptedModel([[assistant_message("I said 21 degrees.")]])
    agent = Agent(name="helper", model=then, tools=[weather])
    session = TierMemSession("rome", memory)
    result = await Runner.run(agent, "What did you say?", session=session, run_config=QUIET)
    assert result.final_output == "I said 21 degrees."
    assert then.last_call is not None
    shown = cast("list[Any]", then.last_call.input)
    assert [item.get("type", "message") for item in shown] == [
        "message",
        "function_call",
        "function_call_output",
        "message",
        "message",
    ]
    assert shown[2]["output"] == "21 degrees in Rome"
    assert len(await session.get_items()) == 6


def test_the_example_runs(example: Callable[[str], Any]) -> None:
    shown, reply = example("with_openai_agents.py")
    assert "| user: My dog Biscuit is allergic to chicken." in shown
    assert reply == "To chicken."

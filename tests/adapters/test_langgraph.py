"""A memory in LangGraph: nodes of a graph with a checkpointer, run, run again, and run from the past."""

from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest

pytest.importorskip("langgraph", reason="LangGraph is not installed: `make test-adapters` brings it")

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

import tiermem
from tiermem.adapters.langgraph import recall_node, remember_node
from tiermem.errors import InvalidInput

pytestmark = pytest.mark.anyio


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    memories: str


def reply(state: State) -> dict[str, Any]:
    return {"messages": [AIMessage(f"I know {len(state['memories'].splitlines())} lines.")]}


def graph(memory: tiermem.Memory, **named: Any) -> Any:
    made = StateGraph(State)
    made.add_node("recall", recall_node(memory, max_tokens=200))
    made.add_node("reply", reply)
    made.add_node("remember", remember_node(memory, **named))
    for one, then in ((START, "recall"), ("recall", "reply"), ("reply", "remember"), ("remember", END)):
        made.add_edge(one, then)
    return made.compile(checkpointer=InMemorySaver())


def texts(memory: tiermem.Memory, session: str) -> list[str]:
    return [
        line.turn.text for page in memory.open_pages(session) for line in page.lines if line.turn is not None
    ]


def thread(name: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": name}}


def test_what_one_thread_said_another_recalls(memory: tiermem.Memory) -> None:
    agent = graph(memory, speakers={"user": "Ann"})
    said = {"messages": [HumanMessage("My dog Biscuit is allergic to chicken.")]}
    assert agent.invoke(said, thread("monday"))["memories"] == ""
    asked = {"messages": [HumanMessage("What is Biscuit allergic to?")]}
    found = agent.invoke(asked, thread("tuesday"))["memories"]
    assert "| Ann: My dog Biscuit is allergic to chicken." in found
    assert texts(memory, "monday") == ["My dog Biscuit is allergic to chicken.", "I know 0 lines."]


async def test_a_message_is_stored_once_also_when_the_graph_runs_again_from_a_checkpoint(
    memory: tiermem.Memory,
) -> None:
    agent = graph(memory)
    await agent.ainvoke({"messages": [HumanMessage("Biscuit barks at night.")]}, thread("monday"))
    await agent.ainvoke({"messages": [HumanMessage("Biscuit barks at night.")]}, thread("monday"))
    stored = texts(memory, "monday")
    assert len(stored) == 4
    past = [one async for one in agent.aget_state_history(thread("monday"))]
    before = next(one for one in past if one.next == ("remember",))
    await agent.ainvoke(None, before.config)
    assert texts(memory, "monday") == stored


async def test_what_was_erased_stays_away_when_the_graph_goes_on(memory: tiermem.Memory) -> None:
    agent = graph(memory)
    await agent.ainvoke({"messages": [HumanMessage("My code is 4711.")]}, thread("monday"))
    memory.erase(session="monday", reason="asked for")
    await agent.ainvoke({"messages": [HumanMessage("And now?")]}, thread("monday"))
    assert not any("4711" in text for text in texts(memory, "monday"))
    assert "And now?" in texts(memory, "monday")


def test_a_message_with_an_id_is_stored_once_also_when_those_before_it_are_left_out(
    memory: tiermem.Memory,
) -> None:
    node = remember_node(memory, session="monday")
    said = [HumanMessage(text, id=text) for text in ("Biscuit barks.", "Pixel sleeps.")]
    node.invoke({"messages": said})
    node.invoke({"messages": said[1:]})
    assert texts(memory, "monday") == ["Biscuit barks.", "Pixel sleeps."]


def test_without_a_session_or_thread_nothing_is_stored(memory: tiermem.Memory) -> None:
    state = {"messages": [HumanMessage("Biscuit barks.")]}
    with pytest.raises(InvalidInput, match="thread_id"):
        remember_node(memory).invoke(state)
    remember_node(memory, session="named").invoke(state)
    assert texts(memory, "named") == ["Biscuit barks."]
    assert recall_node(memory).invoke({"messages": []}) == {"memories": ""}


def test_the_example_runs(example: Callable[[str], Any]) -> None:
    assert "| user: My dog Biscuit is allergic to chicken." in example("with_langgraph.py")

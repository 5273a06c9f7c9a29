"""An agent of LangGraph that recalls before it replies and remembers after, in threads with checkpoints.

pip install 'tiermem[local,langgraph]'
python examples/with_langgraph.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

import tiermem
from tiermem.adapters.langgraph import recall_node, remember_node


class State(TypedDict, total=False):
    """What a thread has: its messages, and what memory holds on the last of them."""

    messages: Annotated[list[AnyMessage], add_messages]
    memories: str


def reply(state: State) -> dict[str, Any]:
    """In place of a model: replies with what it is shown of memory."""
    return {"messages": [AIMessage(state["memories"] or "Noted.")]}


def main(folder: Path) -> str:
    """Talk in one thread, ask in another, and give the reply."""
    with tiermem.open(folder, engine="local") as memory:
        graph = StateGraph(State)
        graph.add_node("recall", recall_node(memory))
        graph.add_node("reply", reply)
        graph.add_node("remember", remember_node(memory))
        graph.add_edge(START, "recall")
        graph.add_edge("recall", "reply")
        graph.add_edge("reply", "remember")
        graph.add_edge("remember", END)
        agent: Any = graph.compile(checkpointer=InMemorySaver())
        said = ("My dog Biscuit is allergic to chicken.", "What is Biscuit allergic to?")
        for thread, text in zip(("monday", "tuesday"), said, strict=True):
            result = agent.invoke({"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": thread}})
        return str(result["messages"][-1].content)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as passing:
        print(main(Path(sys.argv[1] if len(sys.argv) > 1 else passing) / "memory"))

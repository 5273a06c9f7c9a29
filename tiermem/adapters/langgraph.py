"""A memory for LangGraph: nodes that recall and remember, and may be run again from any checkpoint.

There is no `BaseStore`: docs/decisions/0049 says why.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import tiermem
from tiermem.adapters.finding import as_filters, sources_for
from tiermem.adapters.items import Items
from tiermem.errors import InvalidInput, install_command

try:
    import langgraph.graph  # noqa: F401  (whose nodes these are; they are made of LangChain's parts)
    from langchain_core.messages import BaseMessage, HumanMessage, message_to_dict
    from langchain_core.runnables import RunnableConfig, RunnableLambda

    from tiermem.adapters.langchain import said_in
except ImportError as error:
    raise InvalidInput(f"LangGraph needs an extra: {install_command('langgraph')} ({error})") from error

__all__ = ["recall_node", "remember_node"]


def recall_node(
    memory: tiermem.Memory,
    *,
    messages: str = "messages",
    into: str = "memories",
    max_tokens: int = 1000,
    only: Mapping[str, Any] | None = None,
) -> RunnableLambda[Any, dict[str, str]]:
    """A node that puts what memory holds on what the user said last into the state, under `into`.

    It is at most `max_tokens` of evidence, fenced as data, and empty where there is none; found in all
    sessions unless `only` (filters of `Memory.context`) says otherwise. `messages` is where the state has its
    messages.
    """

    def recall(state: Any) -> dict[str, str]:
        said = [one for one in _messages(state, messages) if isinstance(one, HumanMessage)]
        question = said_in(said[-1]) if said else ""
        return {into: sources_for(memory, question, max_tokens, as_filters(only or {}))}

    return RunnableLambda(recall, name="recall")


def remember_node(
    memory: tiermem.Memory,
    *,
    messages: str = "messages",
    session: str | None = None,
    speakers: Mapping[str, str] | None = None,
) -> RunnableLambda[Any, dict[str, Any]]:
    """A node that stores the messages of the state, each as a turn, durable when it is done.

    They are said in `session`, or in the thread of the graph where none is named; `speakers` name who speaks
    in a role: `{"user": "Ann"}`. A message is stored once, also when the graph runs again from a checkpoint:
    its id and words make the id of its turn. One that was erased stays away. Raises `InvalidInput` where
    there is neither a session nor a thread.
    """

    def remember(state: Any, config: RunnableConfig) -> dict[str, Any]:
        items = Items(
            memory=memory, session=_session(session, config), key="langgraph", speakers=speakers or {}
        )
        items.add(_turn(items, message, number) for number, message in enumerate(_messages(state, messages)))
        return {}

    return RunnableLambda(remember, name="remember")


def _messages(state: Any, name: str) -> Sequence[BaseMessage]:
    """The messages of a state, which is a mapping or has fields."""
    found: Sequence[BaseMessage] = state[name] if isinstance(state, Mapping) else getattr(state, name)
    return found


def _session(named: str | None, config: RunnableConfig) -> str:
    session = named or config.get("configurable", {}).get("thread_id")
    if not session:
        raise InvalidInput(
            "remember_node needs a session to store messages in: give it session=, "
            "or run the graph with {'configurable': {'thread_id': …}}"
        )
    return str(session)


def _turn(items: Items, message: BaseMessage, number: int) -> tiermem.Turn:
    """A message as the same turn each time; one without an id is identified by its `number`."""
    written = message_to_dict(message)
    known_by = json.dumps([message.id or number, written["type"], said_in(message)])
    turn = items.turn(written, text=said_in(message), role=message.type)
    return replace(turn, turn_id=sha256(known_by.encode()).hexdigest())

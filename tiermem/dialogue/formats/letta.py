"""Letta's agent files (`.af`): the messages of each agent, and its memory blocks.

Messages are what was said; the agent's instructions (`system`) are none of it. A block is what the agent
wrote down, and so what Letta says. Both forms are read: the one with lists of `agents` and `blocks`, and the
older one, one agent with its `core_memory`. An agent file holds the last messages alone, and no archive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pagestore import Turn
from tiermem.dialogue.error_location import listing, objects, record
from tiermem.dialogue.formats.memories import fact_turn, session_name
from tiermem.dialogue.formats.source import DialogueSource, FormatReader, alone
from tiermem.dialogue.identity import identify_turns
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.messages import turn_of
from tiermem.dialogue.times import parse_time
from tiermem.errors import InvalidInput

_BY = "letta"


def _knows(source: DialogueSource) -> bool:
    first = source.first
    agents = first.get("agents")
    newer = isinstance(agents, list) and isinstance(first.get("blocks"), list)
    return newer or (isinstance(first.get("core_memory"), list) and "agent_type" in first)


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    document = source.first
    agents = listing(document, "agents") or [document]
    blocks = objects(document, "blocks")
    at = document.get("created_at")
    return alone(
        session
        for number, agent in enumerate(agents, start=1)
        for session in _agent(agent, number, blocks, at)
    )


def _agent(
    agent: object, number: int, blocks: Sequence[Mapping[str, Any]], at: object
) -> Iterator[DialogueSession]:
    with record(f"agent {number}"):
        if not isinstance(agent, Mapping):
            raise InvalidInput("not an agent")
        name = agent.get("name") or f"agent-{number}"
        ids = listing(agent, "block_ids")
        own = [block for block in blocks if block.get("id") in ids]
        written = [*own, *listing(agent, "core_memory")]
        said = [turn for turn in _messages(agent) if turn is not None]
        kept = [turn for turn in (_block(block, at) for block in written) if turn is not None]
        yield identify_turns(session_name(_BY, [name]), said)
        yield identify_turns(f"{session_name(_BY, [name])} blocks", kept)


def _messages(agent: Mapping[str, Any]) -> Iterator[Turn | None]:
    for number, message in enumerate(listing(agent, "messages"), start=1):
        with record(f"message {number}"):
            yield _message(message)


def _message(message: object) -> Turn | None:
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise InvalidInput("not a message with a 'role'")
    calls = message.get("tool_calls")
    if message["role"] == "system" or not (message.get("content") or calls):
        return None
    turn = turn_of({**{key: message.get(key) for key in ("role", "name", "content")}, "tool_calls": calls})
    if not turn.text.strip():
        return None
    said_at = parse_time(message.get("created_at"))
    return replace(turn, text=turn.text.strip(), said_at=said_at, metadata={"from": _BY})


def _block(block: object, at: object) -> Turn | None:
    if not isinstance(block, Mapping):
        raise InvalidInput("a block that is no object")
    changed = block.get("updated_at") or at
    known = {"label": block.get("label"), "description": block.get("description")}
    return fact_turn(_BY, block.get("value") or "", name=block.get("label"), at=changed, known=known)


READER = FormatReader(name="letta", knows=_knows, read=_read)

"""A memory for the OpenAI Agents SDK: the session of an agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tiermem
from tiermem.adapters.finding import in_thread
from tiermem.adapters.items import Items
from tiermem.errors import InvalidInput, install_command

try:
    from agents.items import TResponseInputItem
    from agents.memory import SessionABC, SessionSettings
except ImportError as error:
    raise InvalidInput(
        f"the OpenAI Agents SDK needs an extra: {install_command('openai-agents')} ({error})"
    ) from error

__all__ = ["TierMemSession", "said_in"]

_CALLS = ("function_call", "custom_tool_call", "mcp_call")


class TierMemSession(SessionABC):
    """The items of one session, each as a turn: as they are for the agent, and found by memory everywhere.

    An item that says nothing, like reasoning that is not shown, is kept too. `speakers` name who speaks in
    a role: `{"user": "Ann"}`. Turns of the session that were not added as items are not among them.
    `pop_item`, by which the SDK takes back what it tries again, and `clear_session` erase, with all that
    rests on the words. `session_settings.limit` is the default limit of `get_items`.
    """

    def __init__(
        self,
        session_id: str,
        memory: tiermem.Memory,
        *,
        speakers: Mapping[str, str] | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._items = Items(memory=memory, session=session_id, key="openai_agents", speakers=speakers or {})

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The newest items, oldest first: at most `limit`, all where neither that nor the settings say."""
        most = self.session_settings.limit if limit is None and self.session_settings else limit
        return [kept.item for kept in await in_thread(self._items.newest, most)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store items; durable when this returns."""
        turns = [self._items.turn(item, text=said_in(item), role=_role_of(item)) for item in items]
        await in_thread(self._items.add, turns)

    async def pop_item(self) -> TResponseInputItem | None:
        """Erase the newest item for ever, and give it; `None` where there is none."""
        popped: TResponseInputItem | None = await in_thread(self._items.pop)
        return popped

    async def clear_session(self) -> None:
        """Erase the session for ever."""
        await in_thread(self._items.clear)


def said_in(item: Mapping[str, Any]) -> str:
    """What an item says: the words of a message, a call with its arguments, or what came of one."""
    if item.get("type") in _CALLS:
        return f"{item.get('name')}({item.get('arguments', item.get('input', ''))})"
    return "\n".join(filter(str.strip, _texts(item.get("content", item.get("output")))))


def _texts(content: object) -> Iterable[str]:
    """The texts in the content of a message: itself, or those of its parts."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, Mapping):
                yield str(part.get("text", part.get("refusal", "")) or "")


def _role_of(item: Mapping[str, Any]) -> str:
    """Who an item is of: whose it says it is, a tool's where it came of one, else the assistant's."""
    came_of_a_tool = str(item.get("type", "")).endswith("_output")
    return str(item.get("role") or ("tool" if came_of_a_tool else "assistant"))

"""A memory for LangChain: a retriever over it, and the messages of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

import tiermem
from tiermem.adapters.finding import Kind, as_filters, id_of, in_thread, known_of
from tiermem.adapters.items import Items
from tiermem.errors import InvalidInput, install_command

try:
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import AIMessage, BaseMessage, message_to_dict, messages_from_dict
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise InvalidInput(f"LangChain needs an extra: {install_command('langchain')} ({error})") from error

__all__ = ["TierMemChatMessageHistory", "TierMemRetriever", "said_in"]


class TierMemRetriever(BaseRetriever):
    """The units and turns of a memory that fit a query best, as documents.

    `k` is how many at most (1 to 10,000), here or in `invoke(query, k=…)`. `kind` is `any`, `units`, `turns`
    or `pages`; `only` are filters of `Memory.recall`. A document's id is the unit's, or where its words
    are; its metadata says what is known of it. Raises what `Memory.recall` raises.
    """

    memory: tiermem.Memory
    k: int = 4
    kind: Kind = "any"
    only: Mapping[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        most = self.k if k is None else k
        found = self.memory.recall(query, limit=most, kind=self.kind, **as_filters(self.only))
        return [Document(page_content=one.text, id=id_of(one), metadata=known_of(one)) for one in found.items]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return await in_thread(self._get_relevant_documents, query, run_manager=run_manager.get_sync(), k=k)


class TierMemChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session, each as a turn: word for word here, and found by memory everywhere.

    `speakers` name who speaks in a role: `{"user": "Ann", "assistant": "Max"}`. Messages come back as they
    were, with tool calls and all. Turns of the session that were not added as messages are not among them.
    `clear` erases the session, with all that rests on its words.
    """

    def __init__(
        self,
        memory: tiermem.Memory,
        session_id: str,
        *,
        speakers: Mapping[str, str] | None = None,
    ) -> None:
        self._items = Items(memory=memory, session=session_id, key="langchain", speakers=speakers or {})

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # an attribute may be read
        """The messages, oldest first."""
        return messages_from_dict([kept.item for kept in self._items.newest()])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store messages; durable when this returns."""
        self._items.add(
            self._items.turn(message_to_dict(message), text=said_in(message), role=message.type)
            for message in messages
        )

    def clear(self) -> None:
        """Erase the session for ever."""
        self._items.clear()


def said_in(message: BaseMessage) -> str:
    """What a message says, and which tools it calls."""
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return "\n".join(filter(str.strip, [str(message.text), *(f"{c['name']}({c['args']})" for c in calls)]))

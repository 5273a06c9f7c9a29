"""A memory for LlamaIndex: a memory block, which keeps what leaves the chat, and a retriever."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

import tiermem
from tiermem.adapters.finding import Kind, as_filters, id_of, in_thread, known_of, sources_for
from tiermem.adapters.items import Items
from tiermem.errors import InvalidInput, install_command
from tiermem.model import Evidence

try:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise InvalidInput(f"LlamaIndex needs an extra: {install_command('llama-index')} ({error})") from error

__all__ = ["TierMemBlock", "TierMemRetriever"]

_SHOWN_TO_MODELS = ("said_at",)
"""What of a node's metadata a prompt shows with its text."""


class TierMemBlock(BaseMemoryBlock[str]):
    """Keeps the messages that leave a chat's short-term memory, and brings back what bears on what is said.

    Messages are turns of `session`, or of the session of the chat's `Memory` where none is named. What comes
    back, at most `max_tokens` of it, is fenced as evidence, from all sessions unless `only` (filters of
    `Memory.context`) says otherwise. `speakers` name who speaks in a role: `{"user": "Ann"}`. Where the chat
    gives the block too little room, it is left out whole.
    """

    name: str = "tiermem"
    memory: tiermem.Memory
    session: str | None = None
    max_tokens: int = 1000
    only: Mapping[str, Any] = Field(default_factory=dict)
    speakers: Mapping[str, str] = Field(default_factory=dict)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        said = _last_said(messages or [])
        return await in_thread(sources_for, self.memory, said, self.max_tokens, as_filters(self.only))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        for message in messages:
            more = dict(message.additional_kwargs)
            of_chat = more.pop("session_id", None)  # `BaseMemoryBlock.aput` puts it there
            items = Items(
                memory=self.memory,
                session=self.session or of_chat or "main",
                key="llama_index",
                speakers=self.speakers,
            )
            as_given = message.model_copy(update={"additional_kwargs": more})
            turn = items.turn(
                as_given.model_dump(mode="json"), text=message.content or "", role=message.role.value
            )
            await in_thread(items.add, [turn])


def _last_said(messages: list[ChatMessage]) -> str:
    """The words of the newest message of a user; of anybody where no user spoke."""
    by_user = [message for message in messages if message.role == MessageRole.USER]
    return next((message.content or "" for message in reversed(by_user or messages)), "")


class TierMemRetriever(BaseRetriever):
    """The units and turns of a memory that fit a query best, as nodes with their scores.

    `similarity_top_k` is how many at most. `kind` is `any`, `units`, `turns` or `pages`; `only` are filters
    of `Memory.recall`. A node's id is the unit's, or where its words are; its metadata says what is
    known of it, of which prompts show when it was said.
    """

    def __init__(
        self,
        memory: tiermem.Memory,
        *,
        similarity_top_k: int = 4,
        kind: Kind = "any",
        only: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self._memory = memory
        self._most = similarity_top_k
        self._kind = kind
        self._only = as_filters(only or {})

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._memory.recall(query_bundle.query_str, limit=self._most, kind=self._kind, **self._only)
        return [_node(one) for one in found.items]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await in_thread(self._retrieve, query_bundle)


def _node(found: Evidence) -> NodeWithScore:
    known = known_of(found)
    hidden = [name for name in known if name not in _SHOWN_TO_MODELS]
    node = TextNode(
        id_=id_of(found),
        text=found.text,
        metadata=known,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
    )
    return NodeWithScore(node=node, score=found.score)

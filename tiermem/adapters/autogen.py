"""A memory for AutoGen: what `AssistantAgent(memory=[…])` reads before it replies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

import tiermem
from tiermem.adapters.finding import Kind, as_filters, id_of, in_thread, known_of, sources_for
from tiermem.adapters.items import Items
from tiermem.errors import InvalidInput, install_command

try:
    from autogen_core import CancellationToken
    from autogen_core.memory import (
        Memory,
        MemoryContent,
        MemoryMimeType,
        MemoryQueryResult,
        UpdateContextResult,
    )
    from autogen_core.model_context import ChatCompletionContext
    from autogen_core.models import SystemMessage, UserMessage
except ImportError as error:
    raise InvalidInput(f"AutoGen needs an extra: {install_command('autogen')} ({error})") from error

__all__ = ["TierMemMemory"]


class TierMemMemory(Memory):
    """A memory in AutoGen's terms: what is added is a turn, what is found a content with its provenance.

    What is added is said in `session`, by `speaker`, or in the `role` that its metadata names: a reply of an
    agent is added with `metadata={"role": "assistant"}`. What bears on what a user said last is put into the
    context as a system message: at most `max_tokens` of evidence, fenced as data. `k` is how many `query`
    finds at most, of `kind` `any`, `units`, `turns` or `pages`; `only` are filters of `Memory.recall`.
    `clear` erases the session, and no other, with all that rests on its words. Its opener closes
    the memory: `close` does nothing.
    """

    def __init__(
        self,
        memory: tiermem.Memory,
        *,
        session: str = "main",
        speaker: str = "user",
        k: int = 5,
        kind: Kind = "any",
        max_tokens: int = 1000,
        only: Mapping[str, Any] | None = None,
    ) -> None:
        self._memory = memory
        self._items = Items(memory=memory, session=session, key="autogen", speakers={"user": speaker})
        self._most = k
        self._kind = kind
        self._max_tokens = max_tokens
        self._only = as_filters(only or {})

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Put what bears on what a user said last into the context, and say what that is."""
        messages = await model_context.get_messages()
        said = next((_words(one) for one in reversed(messages) if isinstance(one, UserMessage)), "")
        found = await in_thread(sources_for, self._memory, said, self._max_tokens, self._only)
        if not found:
            return UpdateContextResult(memories=MemoryQueryResult(results=[]))
        await model_context.add_message(SystemMessage(content=found))
        content = MemoryContent(content=found, mime_type=MemoryMimeType.TEXT)
        return UpdateContextResult(memories=MemoryQueryResult(results=[content]))

    async def query(
        self,
        query: str | MemoryContent,
        cancellation_token: CancellationToken | None = None,
        **kwargs: Any,
    ) -> MemoryQueryResult:
        """What fits a query best, with scores and where the words are; `kwargs` are more filters."""
        wanted = _text_of(query) if isinstance(query, MemoryContent) else query
        confines = as_filters({**self._only, **kwargs})
        found = await in_thread(self._memory.recall, wanted, limit=self._most, kind=self._kind, **confines)
        return MemoryQueryResult(
            results=[
                MemoryContent(
                    content=one.text,
                    mime_type=MemoryMimeType.TEXT,
                    metadata={"id": id_of(one), **known_of(one)},
                )
                for one in found.items
            ]
        )

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Store a text, Markdown or JSON; durable when this returns. Raises `InvalidInput` for all else."""
        role = (content.metadata or {}).get("role")
        turn = self._items.turn(
            content.model_dump(mode="json"),
            text=_text_of(content),
            role=role if isinstance(role, str) and role else "user",
        )
        await in_thread(self._items.add, [turn])

    async def clear(self) -> None:
        """Erase the session for ever."""
        await in_thread(self._items.clear)

    async def close(self) -> None:
        """Do nothing: the program that opened the memory closes it."""

    def _to_config(self) -> BaseModel:
        raise InvalidInput("a memory that is open has no configuration: open it, and make a TierMemMemory")


def _text_of(content: MemoryContent) -> str:
    """The words of a content; raises `InvalidInput` for what has none."""
    given = content.content
    if isinstance(given, str):
        return given
    if isinstance(given, dict):
        return json.dumps(given, ensure_ascii=False)
    raise InvalidInput(
        f"what is remembered has words, and this is {content.mime_type}: describe it in a text"
    )


def _words(message: UserMessage) -> str:
    given = message.content
    return given if isinstance(given, str) else "\n".join(one for one in given if isinstance(one, str))

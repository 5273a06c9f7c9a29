"""A memory for Pydantic AI: a toolset, and the history of a conversation with a processor of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import tiermem
from tiermem.adapters.finding import as_filters, in_thread, sources_for
from tiermem.adapters.items import Items
from tiermem.adapters.tools import INSTRUCTIONS, MemoryTools
from tiermem.errors import InvalidInput, TierMemError, install_command

try:
    from pydantic_ai import FunctionToolset, ModelRetry
    from pydantic_ai.messages import (
        ModelMessage,
        ModelMessagesTypeAdapter,
        ModelRequest,
        ModelRequestPart,
        SystemPromptPart,
        TextContent,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
except ImportError as error:
    raise InvalidInput(f"Pydantic AI needs an extra: {install_command('pydantic-ai')} ({error})") from error

__all__ = ["TierMemHistory", "memory_toolset", "said_in"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_EVIDENCE = {"tiermem": "evidence"}
"""What marks the part of a request that memory brought; no model is shown it."""


def memory_toolset(
    memory: tiermem.Memory,
    *,
    session: str = "main",
    only: Mapping[str, Any] | None = None,
    read_only: bool = False,
    as_user: bool = False,
) -> FunctionToolset[Any]:
    """The tools `recall`, `ask` and `remember` (not with `read_only`), for `Agent(toolsets=[…])`.

    What is remembered is said in `session`, by the assistant, or with `as_user` by the user or a named
    speaker. `only` are filters of `Memory.ask` that confine what is found.
    What the memory refuses is shown to the model, which may do better.
    """
    tools = MemoryTools(memory, session=session, only=as_filters(only or {}), as_user=as_user)
    offered: list[Callable[..., str]] = [tools.recall, tools.ask]
    offered += [] if read_only else [tools.remember]
    return FunctionToolset(list(map(_retry_on_error, offered)), id="tiermem", instructions=INSTRUCTIONS)


def _retry_on_error(tool: Callable[_P, _R]) -> Callable[_P, _R]:
    @wraps(tool)
    def call(*args: _P.args, **keywords: _P.kwargs) -> _R:
        try:
            return tool(*args, **keywords)
        except TierMemError as error:
            raise ModelRetry(str(error)) from error

    return call


class TierMemHistory:
    """The messages of one session, each as a turn: as they were for the agent, found by memory everywhere.

    `speakers` name who speaks in a role: `{"user": "Ann"}`. As a processor (`process`) it leaves at most the
    newest `keep` messages in a request, and no fewer than it takes to begin with a user's prompt. Before what
    the user said last it puts at most `max_tokens` of evidence on that, fenced as data, and found in all
    sessions unless `only` (filters of `Memory.context`) says otherwise.
    """

    def __init__(
        self,
        memory: tiermem.Memory,
        session: str,
        *,
        speakers: Mapping[str, str] | None = None,
        keep: int | None = None,
        max_tokens: int = 1000,
        only: Mapping[str, Any] | None = None,
    ) -> None:
        if keep is not None and keep < 1:
            raise InvalidInput(f"keep must be 1 or more messages, or None for all, and not {keep}")
        self._items = Items(memory=memory, session=session, key="pydantic_ai", speakers=speakers or {})
        self._keep = keep
        self._max_tokens = max_tokens
        self._only = as_filters(only or {})

    async def messages(self) -> list[ModelMessage]:
        """The messages, oldest first, for `agent.run(message_history=…)`."""
        kept = await in_thread(self._items.newest)
        return ModelMessagesTypeAdapter.validate_python([one.item for one in kept])

    async def add(self, messages: Sequence[ModelMessage]) -> None:
        """Store messages, those of `result.new_messages()` say, without what memory brought to them."""
        own = list(map(_without_evidence, messages))
        written = ModelMessagesTypeAdapter.dump_python(own, mode="json")
        turns = [
            self._items.turn(item, text=said_in(message), role=_role_of(message))
            for item, message in zip(written, own, strict=True)
        ]
        await in_thread(self._items.add, turns)

    async def process(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        """The messages as a request is to have them, for `ProcessHistory(history.process)`."""
        own = list(map(_without_evidence, messages))
        prompts = [number for number, message in enumerate(own) if _user_said(message)]
        if not prompts:
            return own
        newest = prompts[-1]
        said = _user_said(own[newest])
        found = await in_thread(sources_for, self._items.memory, said, self._max_tokens, self._only)
        if found:
            own[newest] = _with_evidence(own[newest], found)
        return self._cut_history(own, prompts)

    def _cut_history(self, messages: list[ModelMessage], prompts: list[int]) -> list[ModelMessage]:
        """From a user's prompt on, so that no tool replies to a call left out; system prompts stay."""
        if self._keep is None or len(messages) <= self._keep:
            return messages
        earliest = len(messages) - self._keep
        start = next((prompt for prompt in prompts if prompt >= earliest), prompts[-1])
        system: list[ModelRequestPart] = [
            part
            for message in messages[:start]
            for part in message.parts
            if isinstance(part, SystemPromptPart)
        ]
        first = messages[start]
        if system and isinstance(first, ModelRequest):
            first = replace(first, parts=[*system, *first.parts])
        return [first, *messages[start + 1 :]]


def said_in(message: ModelMessage) -> str:
    """What a message says: words of a user or a model, calls with their arguments, what came of them."""
    return "\n".join(filter(str.strip, map(_words_of, message.parts)))


def _words_of(part: object) -> str:
    if isinstance(part, UserPromptPart):
        content = [part.content] if isinstance(part.content, str) else part.content
        return "\n".join(_texts(content))
    if isinstance(part, TextPart):
        return part.content
    if isinstance(part, ToolCallPart):
        return f"{part.tool_name}({part.args_as_json_str()})"
    return part.model_response_str() if isinstance(part, ToolReturnPart) else ""


def _texts(content: Iterable[object]) -> Iterable[str]:
    for one in content:
        if isinstance(one, str):
            yield one
        elif isinstance(one, TextContent) and one.metadata != _EVIDENCE:
            yield one.content


def _user_said(message: ModelMessage) -> str:
    """The words of a user in a message; empty where there are none."""
    return "\n".join(_words_of(part) for part in message.parts if isinstance(part, UserPromptPart)).strip()


def _role_of(message: ModelMessage) -> str:
    if not isinstance(message, ModelRequest):
        return "assistant"
    if any(isinstance(part, UserPromptPart) for part in message.parts):
        return "user"
    return "tool" if any(isinstance(part, ToolReturnPart) for part in message.parts) else "system"


def _with_evidence(message: ModelMessage, found: str) -> ModelMessage:
    evidence = UserPromptPart([TextContent(f"<memory>\n{found}\n</memory>", metadata=_EVIDENCE)])
    at = next(n for n, part in enumerate(message.parts) if isinstance(part, UserPromptPart))
    assert isinstance(message, ModelRequest)  # noqa: S101  (a user's prompt is in a request)
    return replace(message, parts=[*message.parts[:at], evidence, *message.parts[at:]])


def _without_evidence(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelRequest):
        return message
    return replace(message, parts=[part for part in message.parts if not _is_evidence(part)])


def _is_evidence(part: ModelRequestPart) -> bool:
    return (
        isinstance(part, UserPromptPart)
        and not isinstance(part.content, str)
        and [one.metadata for one in part.content if isinstance(one, TextContent)] == [_EVIDENCE]
    )

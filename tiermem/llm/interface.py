"""One protocol for language models: a call goes in, text and its cost come out.

Everything typed (schemas, repair, prompts) is built on this in the other files of the package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from tiermem.model import Usage

Role = Literal["distil", "route", "integrate", "plan", "compose", "select", "reconcile", "judge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One question to a model. `prompt` is `name@hash`; `schema` the JSON schema of the wanted reply."""

    prompt: str
    role: Role
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 2048
    temperature: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back, untouched, and what it cost."""

    text: str
    usage: Usage
    model: str


@runtime_checkable
class Forgets(Protocol):
    """A model that keeps what it was asked, and can be made to forget some of it."""

    async def forget(self, holds: Callable[[str], bool]) -> int:
        """Destroy the recorded calls with a text for which `holds` is true; return how many there were."""
        ...


@runtime_checkable
class CountsKept(Protocol):
    """A model that also counts the calls that `Forgets.forget` would destroy."""

    async def count_kept(self, holds: Callable[[str], bool]) -> int:
        """Count the recorded calls with a text for which `holds` is true. Nothing is destroyed."""
        ...


@runtime_checkable
class TellsPrices(Protocol):
    """A model that lists the names it has no price for."""

    def unpriced_models(self) -> tuple[str, ...]:
        """The names of the models without a price; a limit of cost cannot be kept with them."""
        ...


class LanguageModel(Protocol):
    """Answers calls. Never returns an error, or half a reply, as text.

    Raises `ModelUnavailable` (try later), `ModelRefused` (this call will never work),
    `MalformedReply` (empty, cut short or declined: asking again may help) or `BudgetExceeded`.
    """

    def model_for(self, role: Role) -> str:
        """The model name that serves this role."""
        ...

    async def complete(self, call: Call) -> Reply:
        """Answer one call; every request it takes is paid on the current meter."""
        ...

    async def close(self) -> None:
        """Close connections; idempotent."""
        ...

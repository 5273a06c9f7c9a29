"""What the judgements of a model share: asking, and reading numbers back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from pydantic import BaseModel

from tiermem.llm.interface import LanguageModel, Role
from tiermem.llm.meter import step
from tiermem.llm.prompts import load
from tiermem.llm.typed import ask_typed

T = TypeVar("T", bound=BaseModel)

UNSTATED = 0.5
"""Importance where the model gave none."""

_ROOM_FOR_A_PAGE = 4096
"""Tokens of a reply that quotes one page: the facts of a full page can be longer than the page."""
_ROOM_FOR_ANOTHER = 2048
"""Tokens more for each further page."""
_MOST_ROOM = 16_384
"""What nearly every endpoint lets a reply take."""


async def ask(
    model: LanguageModel,
    role: Role,
    reply_type: type[T],
    *,
    prompt: str | None = None,
    max_tokens: int = 2048,
    **values: str,
) -> T:
    """The reply to the prompt of this role, or of another name, paid as a step of the role's name.

    Raises what `ask_typed` raises.
    """
    with step(role):
        return await ask_typed(
            model, load(prompt or role), values, reply_type, role=role, max_tokens=max_tokens
        )


def room_for(pages: int) -> int:
    """Tokens for a reply that quotes so many pages."""
    return min(_ROOM_FOR_A_PAGE + _ROOM_FOR_ANOTHER * max(0, pages - 1), _MOST_ROOM)


def shown_numbers(numbers: Iterable[int], count: int) -> tuple[int, ...]:
    """The numbers that were shown, each once, in the order given."""
    return tuple(dict.fromkeys(number for number in numbers if 0 <= number < count))

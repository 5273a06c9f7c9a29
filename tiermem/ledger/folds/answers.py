"""The answers that were given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from tiermem.model import Action, AnswerId


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerInfo:
    """What Tier 1 keeps of an answer: enough to list it, to count it and to find its record."""

    id: AnswerId
    question: str
    at: datetime
    route: Action
    abstained: bool
    read_tokens: int
    raw_tokens: int
    seq: int
    summary_tokens: int = 0
    agent: str | None = None
    """Who asked; `None` where it was no agent."""
    text: str = ""
    """The answer, or of lines as they were said the first one; of a longer one the first 200 characters."""


class AnswersFold:
    """Every answer in the order they were given; the first record of one counts."""

    def __init__(self) -> None:
        super().__init__()
        self._answers: dict[AnswerId, AnswerInfo] = {}

    @property
    def answers(self) -> Mapping[AnswerId, AnswerInfo]:
        """Every answer given, oldest first."""
        return MappingProxyType(self._answers)

    def put_answer(self, answer: AnswerInfo) -> None:
        """An answer was given."""
        self._answers[answer.id] = answer

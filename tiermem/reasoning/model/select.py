"""Which facts are worth keeping, asked of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import model_validator

from pagestore import Page
from tiermem.llm.interface import LanguageModel
from tiermem.model import LinkedFact
from tiermem.reasoning.model import prompt_text
from tiermem.reasoning.model.asking import ask, shown_numbers
from tiermem.reasoning.model.fields import CheckedReply


class SelectReply(CheckedReply):
    """The facts worth keeping; a bare array of numbers is taken for this object."""

    selected: list[int]

    @model_validator(mode="before")
    @classmethod
    def _bare_array(cls, value: Any) -> Any:
        return {"selected": value} if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class SelectByModel:
    """Indices of the facts worth keeping."""

    model: LanguageModel

    async def __call__(
        self, question: str, facts: Sequence[LinkedFact], pages: Sequence[Page]
    ) -> tuple[int, ...]:
        """One call that shows each fact with the turns that hold its words; none without a fact."""
        if not facts:
            return ()
        reply = await ask(
            self.model,
            "select",
            SelectReply,
            question=question,
            facts=prompt_text.facts_in_context(facts, pages),
        )
        return shown_numbers(reply.selected, len(facts))

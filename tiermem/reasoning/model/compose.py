"""The answer in words, asked of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, model_validator

from tiermem.llm.interface import LanguageModel
from tiermem.model import Evidence, Search
from tiermem.reasoning.interface import Draft
from tiermem.reasoning.model import prompt_text
from tiermem.reasoning.model.asking import ask, shown_numbers
from tiermem.reasoning.model.fields import CheckedReply, KnownTexts, Texts, Words
from tiermem.text.question import Question


class ComposeReply(CheckedReply):
    """The answer in words, and what of it is missing."""

    answer: str
    cited: list[int]
    inferred: bool = False
    abstained: bool = False
    complete: bool | None = None
    missing: Words = None
    counted: Texts = Field(default_factory=list)
    statement: Words = None
    searches: KnownTexts = None

    @model_validator(mode="after")
    def _an_answer_has_words(self) -> ComposeReply:
        if not self.abstained and not self.answer.strip():
            raise ValueError("an answer needs words; set abstained when there is none")
        return self


@dataclass(frozen=True, slots=True)
class ComposeByModel:
    """Words the answer from the evidence alone, or abstains.

    `prompt` is `compose`, or `compose_always`, which never abstains, as published.
    """

    model: LanguageModel
    prompt: Literal["compose", "compose_always"] = "compose"

    async def __call__(self, question: Question, evidence: Sequence[Evidence]) -> Draft:
        """One call; without evidence there is nothing to ask a model."""
        if not evidence:
            return Draft(text="Nothing in memory tells.", cited=(), abstained=True, complete=False)
        reply = await ask(
            self.model,
            "compose",
            ComposeReply,
            prompt=self.prompt,
            question=question.text,
            evidence=prompt_text.evidence(evidence),
            asked_at=prompt_text.moment(question.asked_at),
        )
        return _draft(reply, len(evidence))


def _draft(reply: ComposeReply, shown_pieces: int) -> Draft:
    """An abstention cites and states nothing; what is complete misses nothing.

    A reply that does not say whether it is complete is, unless it abstains.
    """
    text = reply.answer.strip()
    complete = not reply.abstained if reply.complete is None else reply.complete
    missing = "" if complete else reply.missing or ""
    named = reply.searches
    searches = None if named is None else tuple(Search(kind="SEMANTIC", query=words) for words in named)
    if reply.abstained:
        return Draft(
            text=text, cited=(), abstained=True, complete=complete, missing=missing, searches=searches
        )
    return Draft(
        text=text,
        cited=shown_numbers(reply.cited, shown_pieces),
        abstained=False,
        complete=complete,
        missing=missing,
        statement=reply.statement or "",
        inferred=reply.inferred,
        searches=searches,
    )

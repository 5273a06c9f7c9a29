"""What pages tell for a question, asked of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tiermem.llm.interface import LanguageModel
from tiermem.model import Claim, Evidence
from tiermem.reasoning.interface import Integrated, PageView
from tiermem.reasoning.model import prompt_text
from tiermem.reasoning.model.asking import ask, room_for
from tiermem.reasoning.model.fields import CheckedReply, Date, Quotes, quotes_of
from tiermem.text.question import Question


class FoundFact(CheckedReply):
    """One fact that helps to answer the question."""

    fact: str
    evidence_quotes: Quotes
    event_at: Date = None


class IntegrateReply(CheckedReply):
    """What pages give for a question."""

    linked_facts: list[FoundFact]
    coverage_assessment: str


@dataclass(frozen=True, slots=True)
class IntegrateByModel:
    """Facts of these pages that help to answer, each with exact quotes."""

    model: LanguageModel

    async def __call__(
        self, question: Question, pages: Sequence[PageView], known: Sequence[Evidence]
    ) -> Integrated:
        """One call for all of the pages; none without a page."""
        if not pages:
            return Integrated(claims=(), coverage="no page was read")
        reply = await ask(
            self.model,
            "integrate",
            IntegrateReply,
            question=question.text,
            pages=prompt_text.views(pages),
            known=prompt_text.known_list(known),
            asked_at=prompt_text.moment(question.asked_at),
            max_tokens=room_for(len(pages)),
        )
        return Integrated(
            claims=tuple(_claim(found) for found in reply.linked_facts if found.fact.strip()),
            coverage=reply.coverage_assessment.strip(),
        )


def _claim(found: FoundFact) -> Claim:
    return Claim(text=found.fact.strip(), quotes=quotes_of(found.evidence_quotes), event_at=found.event_at)

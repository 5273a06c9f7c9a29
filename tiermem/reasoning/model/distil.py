"""What pages tell, asked of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pagestore import Page
from tiermem.llm.interface import LanguageModel
from tiermem.model import Claim
from tiermem.reasoning.model import prompt_text
from tiermem.reasoning.model.asking import UNSTATED, ask, room_for
from tiermem.reasoning.model.fields import CheckedReply, Date, Quotes, Share, Words, quotes_of


class DistilledFact(CheckedReply):
    """One fact of a page."""

    fact: str
    evidence_quotes: Quotes
    scene: Words = None
    event_at: Date = None
    importance: Share = None


class DistilReply(CheckedReply):
    """What pages tell."""

    facts: list[DistilledFact]


@dataclass(frozen=True, slots=True)
class DistilByModel:
    """Self-contained facts of pages. `MalformedReply` leaves the pages for a later try."""

    model: LanguageModel

    async def __call__(self, pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
        """One call for all of the pages; none without a page."""
        if not pages:
            return ()
        reply = await ask(
            self.model,
            "distil",
            DistilReply,
            pages=prompt_text.pages(pages),
            hints=prompt_text.bullet_list(hints),
            max_tokens=room_for(len(pages)),
        )
        return tuple(_claim(fact) for fact in reply.facts if fact.fact.strip())


def _claim(fact: DistilledFact) -> Claim:
    return Claim(
        text=fact.fact.strip(),
        quotes=quotes_of(fact.evidence_quotes),
        scene=fact.scene,
        event_at=fact.event_at,
        importance=UNSTATED if fact.importance is None else fact.importance,
    )

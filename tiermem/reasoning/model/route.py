"""Whether what was recalled answers the question, asked of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tiermem.errors import MalformedReply
from tiermem.llm.interface import LanguageModel
from tiermem.model import Decision, Evidence
from tiermem.reasoning.model import prompt_text
from tiermem.reasoning.model.asking import ask
from tiermem.reasoning.model.fields import CheckedReply, Share, Words
from tiermem.text.question import Question

_ROUTER = "llm"


class RouteReply(CheckedReply):
    """S: the summaries hold the answer. R: read the pages."""

    thinking: Words = None
    action: Literal["S", "R"]
    confidence: Share = None


@dataclass(frozen=True, slots=True)
class RouteByModel:
    """Whether the evidence states the answer. A reply that cannot be used escalates.

    `prompt` is `route`, or `route_action` for a reply that is the action alone, as published.
    """

    model: LanguageModel
    prompt: Literal["route", "route_action"] = "route"

    async def __call__(self, question: Question, evidence: Sequence[Evidence]) -> Decision:
        """ANSWER only where the model says so in form; with nothing recalled it is not asked."""
        if not evidence:
            return _escalate("nothing was recalled")
        try:
            reply = await ask(
                self.model,
                "route",
                RouteReply,
                prompt=self.prompt,
                question=question.text,
                recalled=prompt_text.evidence(evidence),
                asked_at=prompt_text.moment(question.asked_at),
            )
        except MalformedReply as error:
            return _escalate(f"the reply could not be used: {error}")
        return _decision(reply)


def _decision(reply: RouteReply) -> Decision:
    return Decision(
        action="ANSWER" if reply.action == "S" else "ESCALATE",
        score=reply.confidence,
        reason=reply.thinking or f"the model chose {reply.action}",
        router=_ROUTER,
    )


def _escalate(reason: str) -> Decision:
    return Decision(action="ESCALATE", score=None, reason=reason, router=_ROUTER)

"""What becomes of a fact, given its nearest units: asked of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field, field_validator

from tiermem.llm.interface import LanguageModel
from tiermem.model import LinkedFact, SummaryUnit
from tiermem.reasoning.interface import Operation
from tiermem.reasoning.model import prompt_text
from tiermem.reasoning.model.asking import ask, shown_numbers
from tiermem.reasoning.model.fields import CheckedReply, Words


class ReconcileReply(CheckedReply):
    """What to do with a fact, given its nearest entries."""

    operation: str = Field(json_schema_extra={"enum": ["ADD", "UPDATE", "SKIP"]})
    reason: Words = None
    target: int | None = None
    text: Words = None
    contradicts: list[int] = Field(default_factory=list)

    @field_validator("operation")
    @classmethod
    def _in_capitals(cls, value: str) -> str:
        return value.strip().upper()


@dataclass(frozen=True, slots=True)
class ReconcileByModel:
    """ADD, UPDATE or SKIP a fact, given its nearest units."""

    model: LanguageModel

    async def __call__(self, fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
        """One call; the model names units by the numbers they were shown with."""
        reply = await ask(
            self.model,
            "reconcile",
            ReconcileReply,
            fact=prompt_text.fact(fact),
            entries=prompt_text.units(neighbours),
        )
        return _operation(reply, neighbours)


def _operation(reply: ReconcileReply, neighbours: Sequence[SummaryUnit]) -> Operation:
    """The operation a reply asks for. An unknown one, or an unknown target, leaves memory as it is.

    A merge into what the fact contradicts would blend two truths: it becomes an ADD.
    """
    contradicted = tuple(neighbours[n].id for n in shown_numbers(reply.contradicts, len(neighbours)))
    reason = reply.reason or f"the model chose {reply.operation!r}"
    match reply.operation:
        case "ADD":
            return Operation(op="ADD", reason=reason, supersedes=contradicted)
        case "UPDATE" if contradicted:
            return Operation(op="ADD", reason=reason, supersedes=contradicted)
        case "UPDATE" if reply.text and reply.target is not None and 0 <= reply.target < len(neighbours):
            return Operation(op="UPDATE", reason=reason, target=neighbours[reply.target].id, text=reply.text)
        case "UPDATE":
            return Operation(op="SKIP", reason="UPDATE of an entry that was not shown, or without a text")
        case "SKIP":
            return Operation(op="SKIP", reason=reason)
        case _:
            return Operation(op="SKIP", reason=f"unknown operation {reply.operation[:40]!r}")

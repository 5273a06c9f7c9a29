"""Whether what is known is enough, and what to look up next, asked of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from tiermem.llm.interface import LanguageModel
from tiermem.model import Evidence, Search
from tiermem.reasoning.interface import Planned
from tiermem.reasoning.model import prompt_text
from tiermem.reasoning.model.asking import ask
from tiermem.reasoning.model.fields import CheckedReply, Words
from tiermem.text.question import Question


class SearchCommand(CheckedReply):
    """One look-up. MEM0_SEARCH is the published name of SEMANTIC_SEARCH."""

    type: str = Field(json_schema_extra={"enum": ["SEMANTIC_SEARCH", "KEYWORD_SEARCH"]})
    query: str | None = None
    keywords: list[str] | None = None


class PlanReply(CheckedReply):
    """Stop, or look further."""

    decision: Literal["DONE", "SEARCH"]
    reasoning: Words = None
    search_commands: list[SearchCommand] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PlanByModel:
    """Is this enough? If not, what to look up next; look-ups made before are left out."""

    model: LanguageModel

    async def __call__(
        self, question: Question, known: Sequence[Evidence], missing: str, done: Sequence[Search]
    ) -> Planned:
        """One call; commands that are unknown, empty or made before are left out."""
        reply = await ask(
            self.model,
            "plan",
            PlanReply,
            question=question.text,
            known=prompt_text.known_list(known),
            missing=missing.strip() or "(not told)",
            searched=prompt_text.searches(done),
            asked_at=prompt_text.moment(question.asked_at),
        )
        reason = reply.reasoning or reply.decision
        if reply.decision == "DONE":
            return Planned(done=True, reason=reason)
        return Planned(done=False, reason=reason, searches=_new_searches(reply.search_commands, done))


def _new_searches(commands: Sequence[SearchCommand], done: Sequence[Search]) -> tuple[Search, ...]:
    seen = {_same(search) for search in done}
    wanted: list[Search] = []
    for command in commands:
        search = _search(command)
        if search is not None and _same(search) not in seen:
            seen.add(_same(search))
            wanted.append(search)
    return tuple(wanted)


def _same(search: Search) -> tuple[str, str]:
    return search.kind, " ".join(search.query.casefold().split())


def _search(command: SearchCommand) -> Search | None:
    """The look-up a command asks for; `None` for an unknown type or no words."""
    match command.type:
        case "SEMANTIC_SEARCH" | "MEM0_SEARCH":
            query = (command.query or "").strip()
            return Search(kind="SEMANTIC", query=query) if query else None
        case "KEYWORD_SEARCH":
            words = " ".join(word.strip() for word in command.keywords or () if word.strip())
            return Search(kind="KEYWORD", query=words) if words else None
        case _:
            return None

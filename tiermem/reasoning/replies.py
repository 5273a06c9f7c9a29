"""The replies a model may give to the typed questions: the border where untrusted text enters.

What a reply asserts (facts, actions, numbers) is validated strictly. Ornaments of a fact (scene, date,
importance) that do not fit count as unknown: a fact is not lost because its importance was "high".
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?(?:T.*)?")


def _date_or_unknown(value: Any) -> str | None:
    found = _DATE.fullmatch(value) if isinstance(value, str) and value.isascii() else None
    if found is None:
        return None
    parts = [part for part in found.groups() if part is not None]
    try:
        date(*(int(part) for part in (*parts, "1", "1")[:3]))
    except ValueError:
        return None
    return "-".join(parts)


def _share_or_unknown(value: Any) -> float | None:
    is_share = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if is_share else None


def _words_or_unknown(value: Any) -> str | None:
    return (value.strip() or None) if isinstance(value, str) else None


_Date = Annotated[str | None, BeforeValidator(_date_or_unknown)]
_Share = Annotated[float | None, BeforeValidator(_share_or_unknown)]
_Words = Annotated[str | None, BeforeValidator(_words_or_unknown)]


class _Reply(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class DistilledFact(_Reply):
    """One fact of a page."""

    fact: str
    evidence_quote: str
    scene: _Words = None
    event_at: _Date = None
    importance: _Share = None


class DistilReply(_Reply):
    """What a page tells."""

    facts: list[DistilledFact]


class RouteReply(_Reply):
    """S: the summaries hold the answer. R: read the pages."""

    thinking: _Words = None
    action: Literal["S", "R"]
    confidence: _Share = None


class FoundFact(_Reply):
    """One fact that helps to answer the question."""

    fact: str
    evidence_quote: str
    event_at: _Date = None


class IntegrateReply(_Reply):
    """What pages give for a question."""

    linked_facts: list[FoundFact]
    coverage_assessment: str


class SearchCommand(_Reply):
    """One look-up. MEM0_SEARCH is the published name of SEMANTIC_SEARCH."""

    type: str = Field(json_schema_extra={"enum": ["SEMANTIC_SEARCH", "KEYWORD_SEARCH"]})
    query: str | None = None
    keywords: list[str] | None = None


class PlanReply(_Reply):
    """Stop, or look further."""

    decision: Literal["DONE", "SEARCH"]
    reasoning: _Words = None
    search_commands: list[SearchCommand] = []


class ComposeReply(_Reply):
    """The answer in words."""

    answer: str
    cited: list[int]
    abstained: bool = False

    @model_validator(mode="after")
    def _an_answer_has_words(self) -> ComposeReply:
        if not self.abstained and not self.answer.strip():
            raise ValueError("an answer needs words; set abstained when there is none")
        return self


class SelectReply(_Reply):
    """The facts worth keeping; a bare array of numbers is taken for this object."""

    selected: list[int]

    @model_validator(mode="before")
    @classmethod
    def _bare_array(cls, value: Any) -> Any:
        return {"selected": value} if isinstance(value, list) else value


class ReconcileReply(_Reply):
    """What to do with a fact beside its nearest entries."""

    operation: str = Field(json_schema_extra={"enum": ["ADD", "UPDATE", "SKIP"]})
    reason: _Words = None
    target: int | None = None
    text: _Words = None
    contradicts: list[int] = []

    @field_validator("operation")
    @classmethod
    def _in_capitals(cls, value: str) -> str:
        return value.strip().upper()

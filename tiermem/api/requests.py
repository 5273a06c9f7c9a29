"""The keywords that several methods take, each set of them written once: a type checker knows every one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, get_type_hints

from pydantic import SecretStr

from pagestore import Turn
from tiermem.dialogue import TimeLike
from tiermem.embedding.interface import Embedder
from tiermem.index.interface import Index
from tiermem.llm.endpoint import Price
from tiermem.llm.interface import LanguageModel
from tiermem.llm.scripted import ModelFunction
from tiermem.model import Unproved, WriteBackVariant
from tiermem.reading import Reranker
from tiermem.settings import RouterName, When

Says = str | Turn | Mapping[str, Any]
"""Something said: a text, a `Turn`, or a message."""

_M = TypeVar("_M", bound=Callable[..., Any])


class Overrides(TypedDict, total=False):
    """What `open` takes by name: a field of `Settings`, which says what it means, or a ready part instead."""

    model: str | LanguageModel | ModelFunction | None
    base_url: str | None
    api_key: str | SecretStr | None
    role_models: dict[str, str]
    prices: dict[str, Price] | dict[str, dict[str, float]]
    model_timeout: float
    model_deadline: float | None
    model_reply_mb: float
    model_concurrency: int
    embedder: str | Embedder
    weights: str | Path | None
    index: str | Index
    index_api_key: str | SecretStr | None
    hot_units: int | None
    reranker: str | Reranker | None
    page_tokens: int
    idle_seal: float
    recall_units: int
    research_rounds: int
    research_pages: int
    daily_calls: int | None
    daily_tokens: int | None
    daily_cost: float | None
    router: RouterName | None
    reader: str
    risk: float
    recall_turns: int
    recall_tokens: int
    unproved: Unproved
    links: bool
    distil: When
    distil_concurrency: int
    write_back: When
    write_back_variant: WriteBackVariant
    consolidate: Literal["off", "idle"] | float
    trust_levels: tuple[str, ...]
    write_back_trust: str | None
    share: Literal["private", "semantic"]
    unsearched_roles: tuple[str, ...]


class Filters(TypedDict, total=False):
    """What `ask`, `search`, `recall`, `context` are confined to, as `ask` tells; `None` confines nothing."""

    session: str | None
    asked_at: TimeLike | None
    min_trust: str | None
    speaker: str | None
    role: str | None
    said_after: TimeLike | None
    said_before: TimeLike | None
    where: Mapping[str, str | float | bool] | None


class Attribution(TypedDict, total=False):
    """Who said what is stored, when, how far that is believed, what is kept with it, and how much it matters,
    as `add` tells.
    """

    speaker: str | None
    role: str | None
    said_at: TimeLike | None
    trust: str | None
    metadata: Mapping[str, Any] | None
    importance: float | None


def spelled_out(keywords: type) -> Callable[[_M], _M]:
    """Give a method that takes such keywords a signature that names each, for `help` and editors."""
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
        for name, hint in get_type_hints(keywords).items()
    ]

    def spelt(method: _M) -> _M:
        signature = inspect.signature(method)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        method.__signature__ = signature.replace(parameters=[*own, *named])  # type: ignore[attr-defined]
        return method

    return spelt

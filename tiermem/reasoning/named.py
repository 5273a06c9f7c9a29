"""Engines and routers by the names that settings use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from tiermem.errors import InvalidInput
from tiermem.llm.interface import LanguageModel
from tiermem.reasoning.fixed import always, never
from tiermem.reasoning.interface import Engine, Route

T = TypeVar("T")
LOCAL: Final = "local"
"""The engine without a model: it words and decides nothing."""


def _local(_: LanguageModel | None) -> Engine:
    return Engine(name=LOCAL, free=True)


def _model(model: LanguageModel | None) -> Engine:
    from tiermem.reasoning.model import by_model

    if model is None:
        raise InvalidInput("the engine 'model' needs a language model; pass one, or choose 'local'")
    return by_model(model)


def _auto(model: LanguageModel | None) -> Engine:
    return _local(model) if model is None else _model(model)


def _gate(_: Engine) -> Route:
    from tiermem.reasoning.rules.sufficiency import gate

    return gate


ENGINES: Mapping[str, Callable[[LanguageModel | None], Engine]] = {
    "auto": _auto,
    "local": _local,
    "model": _model,
}
"""What makes each engine, given the model there is; `auto` has none of its own where there is none."""

ROUTERS: Mapping[str, Callable[[Engine], Route | None]] = {
    "fused": lambda _: None,
    "llm": lambda engine: engine.route,
    "gate": _gate,
    "always": lambda _: always,
    "never": lambda _: never,
}
"""What makes each route: `fused` has none, `llm` has that of the engine."""


def engine_named(name: str, model: LanguageModel | None = None) -> Engine:
    """The engine of this name; `InvalidInput` for an unknown name, or where a model is needed and missing."""
    return _look_up("engine", name, ENGINES)(model)


def with_router(engine: Engine, name: str) -> Engine:
    """The engine with the router of this name in place of its own; `InvalidInput` for an unknown name."""
    return replace(engine, route=_look_up("router", name, ROUTERS)(engine))


def _look_up(what: str, name: str, known: Mapping[str, T]) -> T:
    if name not in known:
        raise InvalidInput(f"no {what} is called {name!r}; there are: {', '.join(sorted(known))}")
    return known[name]

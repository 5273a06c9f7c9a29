"""Engines and routers by the names that settings use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from tiermem.errors import InvalidInput
from tiermem.llm.interface import LanguageModel
from tiermem.reasoning.fixed import always, never
from tiermem.reasoning.interface import Engine, Route

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """What a route is made for: an engine, the name of the embedder that searches, the file of a policy, and
    whether turns are recalled beside units.
    """

    engine: Engine
    embedder: str = ""
    policy: Path | None = None
    turns: bool = True


def _local(_: LanguageModel | None) -> Engine:
    from tiermem.reasoning.rules import by_rules

    return by_rules()


def _model(model: LanguageModel | None) -> Engine:
    from tiermem.reasoning.model import by_model

    if model is None:
        raise InvalidInput("the engine 'model' needs a language model; pass one, or choose 'local'")
    return by_model(model)


def _auto(model: LanguageModel | None) -> Engine:
    return _local(model) if model is None else _model(model)


def _gate(_: Routing) -> Route:
    from tiermem.reasoning.rules.route import gate

    return gate


def _nearest(wanted: Routing) -> Route:
    from tiermem.reasoning.rules.similarity import NAME, THRESHOLDS, SimilarityEntityGate

    if wanted.embedder not in THRESHOLDS:
        raise InvalidInput(
            f"router {NAME!r}: no similarity was chosen for the embedder {wanted.embedder!r}; there are "
            f"some for {', '.join(map(repr, THRESHOLDS))}. Give an "
            f"engine whose route is a SimilarityEntityGate(tau=…)"
        )
    return SimilarityEntityGate(tau=THRESHOLDS[wanted.embedder].tau)


def _learned_route(wanted: Routing) -> Route:
    from tiermem.reasoning.policy.linear import LearnedRoute, policy_for

    return LearnedRoute(policy=policy_for(wanted.policy, embedder=wanted.embedder, turns=wanted.turns))


ENGINES: Mapping[str, Callable[[LanguageModel | None], Engine]] = {
    "auto": _auto,
    "local": _local,
    "model": _model,
}
"""What makes each engine, given the model there is; `auto` judges by rules where there is none."""

ROUTERS: Mapping[str, Callable[[Routing], Route | None]] = {
    "fused": lambda _: None,
    "llm": lambda wanted: wanted.engine.route,
    "gate": _gate,
    "nearest": _nearest,
    "learned": _learned_route,
    "always": lambda _: always,
    "never": lambda _: never,
}
"""What makes each route: `fused` has none, `llm` has that of the engine."""


def engine_named(name: str, model: LanguageModel | None = None) -> Engine:
    """The engine of this name; `InvalidInput` for an unknown name, or where a model is needed and missing."""
    return _look_up("engine", name, ENGINES)(model)


def with_router(
    engine: Engine, name: str, *, embedder: str = "", policy: Path | None = None, turns: bool = True
) -> Engine:
    """The engine with the router of this name in place of its own; `InvalidInput` for an unknown name, for
    `nearest` where no threshold was chosen for the embedder, and for `learned` without the file of a policy
    that was learned with it, from what is recalled here (`turns`: turns beside units).
    """
    wanted = Routing(engine=engine, embedder=embedder, policy=policy, turns=turns)
    return replace(engine, route=_look_up("router", name, ROUTERS)(wanted))


def as_published(engine: Engine, *, action_alone: bool, abstains: bool) -> Engine:
    """The engine with replies as the TierMem paper has them: a route that is the action alone, no abstaining.

    Raises `InvalidInput` where that is asked of an engine that does not ask a model.
    """
    from tiermem.reasoning.model.compose import ComposeByModel
    from tiermem.reasoning.model.route import RouteByModel

    if action_alone and isinstance(engine.route, RouteByModel):
        engine = replace(engine, route=replace(engine.route, prompt="route_action"))
    if abstains:
        return engine
    if not isinstance(engine.compose, ComposeByModel):
        raise InvalidInput(f"abstain=False needs an engine that asks a model; {engine.name!r} does not")
    return replace(engine, compose=replace(engine.compose, prompt="compose_always"))


def _look_up(what: str, name: str, known: Mapping[str, T]) -> T:
    if name not in known:
        raise InvalidInput(f"no {what} is called {name!r}; there are: {', '.join(sorted(known))}")
    return known[name]

"""Routers by the names that settings use."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tiermem.errors import InvalidInput
from tiermem.reasoning import Reasoner
from tiermem.routing.by_reasoner import ByReasoner
from tiermem.routing.fixed import Always, Never
from tiermem.routing.gate import Gate
from tiermem.routing.interface import Router

_MAKERS: Mapping[str, Callable[[Reasoner], Router]] = {
    "llm": ByReasoner,
    "gate": lambda _: Gate(),
    "always": lambda _: Always(),
    "never": lambda _: Never(),
}


def router(name: str, reasoner: Reasoner) -> Router:
    """The router called `name`; only `llm` asks the reasoner. Raises `InvalidInput` for an unknown name."""
    if name not in _MAKERS:
        raise InvalidInput(f"no router is called {name!r}; there are: {', '.join(sorted(_MAKERS))}")
    return _MAKERS[name](reasoner)

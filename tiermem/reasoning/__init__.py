"""The judgements, each a value that can be replaced: asked of a language model, or left out.

Names load on first use, so that a memory without a model does not pay for its code.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tiermem.reasoning.interface import Draft, Engine, PageView
from tiermem.text.question import Question

if TYPE_CHECKING:
    from tiermem.reasoning.model import by_model
    from tiermem.reasoning.named import engine_named, with_router

_HOME_OF = {
    "by_model": "model",
    "engine_named": "named",
    "with_router": "named",
}

__all__ = [
    "Draft",
    "Engine",
    "PageView",
    "Question",
    "by_model",
    "engine_named",
    "with_router",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)

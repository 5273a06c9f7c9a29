"""The judgement calls, as typed questions: answered by a language model, or by local rules.

Names load on first use, so that the local engine does not pay for the model's, nor the other way round.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tiermem.reasoning.interface import (
    Draft,
    Integrated,
    Operation,
    PageView,
    Plan,
    Reasoner,
    Sufficiency,
)

if TYPE_CHECKING:
    from tiermem.reasoning.by_model import ByModel
    from tiermem.reasoning.local import Local

_HOME_OF = {"ByModel": "by_model", "Local": "local"}

__all__ = [
    "ByModel",
    "Draft",
    "Integrated",
    "Local",
    "Operation",
    "PageView",
    "Plan",
    "Reasoner",
    "Sufficiency",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)

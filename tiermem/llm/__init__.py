"""Language models: one protocol, typed replies, prompts as files, and a meter for what it all costs.

Names load on first use: Pydantic and the vendor's client are not paid for by those who ask no model.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiermem.llm.endpoint import ModelOptions
    from tiermem.llm.interface import LanguageModel
    from tiermem.llm.openai import OpenAIModel
    from tiermem.llm.prompts import Prompt, load, read_prompt
    from tiermem.llm.typed import ask_typed

_HOMES = {
    "endpoint": ("ModelOptions",),
    "interface": ("LanguageModel",),
    "openai": ("OpenAIModel",),
    "prompts": ("Prompt", "load", "read_prompt"),
    "typed": ("ask_typed",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "LanguageModel",
    "ModelOptions",
    "OpenAIModel",
    "Prompt",
    "ask_typed",
    "load",
    "read_prompt",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)

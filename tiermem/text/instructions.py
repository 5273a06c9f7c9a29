"""Words that give orders to a model: they are kept like any others, and marked where a model reads them."""

from __future__ import annotations

import re

_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|previous|above|prompts?|rules?)\b"
    r"|\bsystem prompt\b|\byou must (?:always|now|never)\b|\bexfiltrat|\bjailbreak"
    r"|\b(?:reveal|print|output|show|send|post|leak|give|tell|share|repeat)\b.{0,40}\bapi[_ -]?keys?\b"
    r"|</?(?:system|assistant|user|instructions?)>|<\|\w++\|>|^[^\S\n]*+(?:system|assistant)\s*+:",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)


MARK = "reads like an instruction"


ASSISTANT = "assistant"
"""The speaker of messages with the role of an assistant."""


def instruction_mark(text: str, *, speaker: str = "") -> str:
    """How a context or a prompt marks a source that reads like an instruction; "" for any other."""
    return MARK if instruction_like(text, speaker=speaker) else ""


def instruction_like(text: str, *, speaker: str = "") -> bool:
    """Whether `text` tries to give orders to a model or to speak for the system.

    `speaker` is who said it: the name and a colon in front of the words is how all turns are displayed.
    """
    front = f"{speaker}: " if speaker else ""
    is_named = text[: len(front)].casefold() == front.casefold()
    return bool(_INSTRUCTION.search(text[len(front) :] if is_named else text))

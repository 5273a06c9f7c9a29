"""Words that give orders to a model, which no unit may hold."""

from __future__ import annotations

import re

_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|previous|above|prompts?|rules?)\b"
    r"|\bsystem prompt\b|\byou must (?:always|now|never)\b|\bexfiltrat|\bapi[_ -]?key\b|\bjailbreak"
    r"|</?(?:system|assistant|user|instructions?)>|<\|\w++\|>|^[^\S\n]*+(?:system|assistant)\s*+:",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)


def instruction_like(text: str) -> bool:
    """Whether `text` tries to give orders to a model or to speak for the system."""
    return bool(_INSTRUCTION.search(text))

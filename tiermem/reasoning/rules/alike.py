"""Whether one telling says what another says: shared by choosing facts and by joining them to units."""

from __future__ import annotations

from tiermem.text import is_negated, normalise, stems, unsupported_literals
from tiermem.text.readings import speech

_ENTAILED = 0.8
"""The share of a fact's words that another telling must hold to say the same."""


def speaker(text: str) -> str:
    """Who says it; "" where it is no direct speech."""
    own = speech(text)
    return own.speaker if own else ""


def share_held(part: str, whole: str) -> float:
    """Share of the content words of `part` that `whole` holds."""
    wanted = set(stems(part))
    return len(wanted & set(stems(whole))) / len(wanted) if wanted else 0.0


def is_entailed(fact: str, unit: str) -> bool:
    """Whether the unit already says what the fact says."""
    if normalise(fact).text in normalise(unit).text:
        return True
    same = speaker(fact) == speaker(unit) and is_negated(fact) == is_negated(unit)
    return same and share_held(fact, unit) >= _ENTAILED and not unsupported_literals(fact, [unit])

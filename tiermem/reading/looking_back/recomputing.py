"""Compute recorded values again, from the words that they came from."""

from __future__ import annotations

from tiermem.model import Derivation
from tiermem.proof.derive import mentions
from tiermem.text import Source


def recompute(derivation: Derivation) -> str | None:
    """Compute the date from its one term, in the precision of `derivation.value`; `None` if it gives none."""
    if len(derivation.terms) != 1:
        return None
    (term,) = derivation.terms
    values = [mention.display for mention in mentions(Source(term.text, term.said_at))]
    if derivation.value in values:
        return derivation.value
    return values[0] if values else None

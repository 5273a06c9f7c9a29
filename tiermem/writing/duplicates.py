"""Finds what Tier 1 already says the same of the same words, so that nothing is stored under two ids.

What a person stated, to be remembered word for word, is all that its turn comes to.
"""

from __future__ import annotations

from collections.abc import Sequence

from pagestore import Span
from tiermem.ledger import Tier1
from tiermem.model import SummaryUnit
from tiermem.text import fold_text


def find_duplicate(tier1: Tier1, text: str, spans: Sequence[Span]) -> SummaryUnit | None:
    """A unit, active or not, with this text and at least these words, or one stated in these very words.

    One that was superseded counts: what newer words contradicted does not come back as a new unit.
    """
    wanted = fold_text(text)
    for unit in tier1.units_of_page(spans[0].page_id, inactive=True):
        if set(spans) <= set(unit.spans) and fold_text(unit.text) == wanted:
            return unit
        if unit.kind == "stated" and all(any(one.contains(span) for one in unit.spans) for span in spans):
            return unit
    return None

"""Whether Tier 1 already says the same of the same words, so that nothing is stored twice under two ids."""

from __future__ import annotations

from collections.abc import Sequence

from pagestore import Span
from tiermem.ledger import Tier1
from tiermem.model import SummaryUnit
from tiermem.text import normalise


def known(tier1: Tier1, text: str, spans: Sequence[Span]) -> SummaryUnit | None:
    """A unit, active or not, with this text and at least these words.

    One that was superseded counts: what newer words contradicted does not come back as a new unit.
    """
    wanted = normalise(text).text
    for unit in tier1.units_of_page(spans[0].page_id, inactive=True):
        if set(spans) <= set(unit.spans) and normalise(unit.text).text == wanted:
            return unit
    return None

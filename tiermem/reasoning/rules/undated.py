"""Units of rules without the dates that rules compute: what contexts, search results and prompts show."""

from __future__ import annotations

from dataclasses import replace

from tiermem.model import SummaryUnit
from tiermem.reasoning.rules.engine import NAME, NAME_WITH_READER


def without_rule_dates(unit: SummaryUnit) -> SummaryUnit:
    """A unit of rules without its event date and the computed dates in its text; any other as it is.

    Only the recorded values are removed, so that a speaker's own "(born 1984)" stays.
    """
    if unit.made_by not in (NAME, NAME_WITH_READER):
        return unit
    text = unit.text
    for derivation in unit.derivations:
        text = text.replace(f" ({derivation.value})", "")
    return replace(unit, text=text, event_at=None)

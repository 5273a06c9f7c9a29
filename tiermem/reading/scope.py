"""What of a space one question may see: one session or all of them, now or as of a past moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from pagestore import Page, SessionId
from tiermem.ledger import Ledger, Tier1
from tiermem.model import SummaryUnit, UnitId


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A session (`None`: all) and a past moment (`None`: now), with Tier 1 as it stands or stood then."""

    tier1: Tier1
    session: SessionId | None
    as_of: datetime | None

    def unit(self, unit_id: str) -> SummaryUnit | None:
        """The unit as it read then, or `None` when it was not active, or not of this session, or unknown."""
        unit = self.tier1.unit(UnitId(unit_id))
        if unit is None or not self.tier1.is_active(unit.id):
            return None
        return unit if self.session in (None, unit.session) else None

    def holds(self, page: Page) -> bool:
        """Whether the page belongs to the session and was sealed by the moment (open pages are of now)."""
        if self.session not in (None, page.session):
            return False
        return self.as_of is None or (page.sealed_at is not None and page.sealed_at <= self.as_of)


async def scope(ledger: Ledger, session: SessionId | None, as_of: datetime | None) -> Scope:
    """What may be seen; a moment that is not past means now. A time without a zone is UTC."""
    moment = as_of if as_of is None or as_of.tzinfo else as_of.replace(tzinfo=UTC)
    if moment is None or moment >= datetime.now(UTC):
        return Scope(tier1=ledger.tier1, session=session, as_of=None)
    return Scope(tier1=await ledger.tier1_as_of(moment), session=session, as_of=moment)

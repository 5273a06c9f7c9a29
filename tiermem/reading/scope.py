"""What of a space one question may see: which session, as of when, and from which level of trust on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from pagestore import Page, SessionId
from tiermem.dialogue.trust import DEFAULT_TRUST, TrustLevels
from tiermem.ledger import Ledger, Tier1
from tiermem.model import SummaryUnit, UnitId
from tiermem.text import at_least


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A session (`None`: all), a past moment (`None`: now) with Tier 1 as it stands or stood then, and
    the level of trust below which nothing is seen (`None`: everything is).
    """

    tier1: Tier1
    session: SessionId | None
    as_of: datetime | None
    min_trust: str | None = None
    trust: TrustLevels = DEFAULT_TRUST

    def unit(self, unit_id: str) -> SummaryUnit | None:
        """The unit as it read then, or `None` when it was not active, not of this session, or not trusted."""
        unit = self.tier1.unit(UnitId(unit_id))
        if unit is None or not self.tier1.is_active(unit.id):
            return None
        if self.min_trust is not None and self.trust.rank(unit.trust) < self.trust.rank(self.min_trust):
            return None
        return unit if self.session in (None, unit.session) else None

    def holds(self, page: Page) -> bool:
        """Whether the page belongs to the session and was sealed by the moment (open pages are of now)."""
        if self.session not in (None, page.session):
            return False
        return self.as_of is None or (page.sealed_at is not None and page.sealed_at <= self.as_of)

    def seen(self, page: Page) -> Page:
        """The page with the turns withheld that are not trusted enough."""
        if self.min_trust is None:
            return page
        return at_least(page, self.trust.rank(self.min_trust), self.trust.rank_of)


async def scope(
    ledger: Ledger,
    session: SessionId | None,
    as_of: datetime | None,
    *,
    min_trust: str | None = None,
    trust: TrustLevels = DEFAULT_TRUST,
) -> Scope:
    """What may be seen; a moment that is not past means now. A time without a zone is UTC.

    Raises `InvalidInput` when `min_trust` is no level.
    """
    moment = as_of if as_of is None or as_of.tzinfo else as_of.replace(tzinfo=UTC)
    if moment is not None and moment >= datetime.now(UTC):
        moment = None
    return Scope(
        tier1=ledger.tier1 if moment is None else await ledger.tier1_as_of(moment),
        session=session,
        as_of=moment,
        min_trust=None if min_trust is None else trust.required(min_trust),
        trust=trust,
    )

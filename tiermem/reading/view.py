"""What one question may see, made once for it: Tier 1, the index, and pages, each read at most once.

A view is bounded by a session, by a past moment, by a level of trust and by what is asked of turns. Whatever
step asks, and however often: the ledger is folded once, and a page that was read is not read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pagestore import History, Page, PageId, PageLine, SessionId, SpaceId
from pagestore.codec import opened_as
from pagestore.errors import PageNotFound
from tiermem.errors import (
    IndexMismatch,
    IndexUnavailable,
    PageSetAside,
    SummaryIndexError,
    TierMemError,
    unexpected,
)
from tiermem.index.features import wanted_values
from tiermem.index.interface import Searches
from tiermem.index.values import Period, Timeframe
from tiermem.ledger import EVERYTHING_SEEN, Around, Tier1, Unread, Visibility
from tiermem.model import SummaryUnit, TakenBack, TurnFilter, UnitId
from tiermem.reading.backlog import Backlog, Waiting
from tiermem.reading.interface import ReadsLedger
from tiermem.reading.quoting import lines
from tiermem.reading.timeframe import SaidThen
from tiermem.text import parse_iso
from tiermem.text.taken_back import without
from tiermem.text.withheld import at_least, closed, withheld, without_unsearched
from tiermem.trust import DEFAULT_TRUST, TrustLevels


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a question is confined to: a session (`None`: all), a past moment (`None`: now), the level
    of trust below which nothing is seen (`None`: everything is), and the turns that alone are seen, with the
    units that rest on nothing else (`None`: all). `happened` are days: only units are seen then, of what
    happened in one of them (`None`: all is). `sees` is who asks, and what that one may see;
    turns of `unsearched` roles are not seen.
    """

    session: SessionId | None = None
    as_of: datetime | None = None
    min_trust: str | None = None
    turns: TurnFilter | None = None
    happened: tuple[Period, ...] | None = None
    sees: Visibility = EVERYTHING_SEEN
    unsearched: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it sees all that the index finds by default."""
        return self.as_of is None and self.min_trust is None and not self.filters

    @property
    def filters(self) -> bool:
        """Whether what is seen is filtered by more than session, moment and trust."""
        return self.turns is not None or self.happened is not None

    @property
    def values(self) -> tuple[int, ...]:
        """What the rows of turns must have, as an index knows it."""
        return () if self.turns is None else wanted_values(self.turns)

    @property
    def is_told_by_rows(self) -> bool:
        """Whether the rows of turns tell which of them may be seen."""
        asked = self.turns or TurnFilter()
        has_times = isinstance(asked, SaidThen) or (asked.said_after, asked.said_before) != (None, None)
        return self.as_of is None and self.min_trust is None and self.happened is None and not has_times

    @property
    def by_times_alone(self) -> bool:
        """Whether nothing but a session and a timeframe confines what is seen."""
        plain = self.turns is None or (isinstance(self.turns, SaidThen) and self.turns.by_times_alone)
        return plain and self.as_of is None and self.min_trust is None

    @property
    def within(self) -> Timeframe | None:
        """The days outside of which nothing is seen, as an index is asked for them."""
        if self.happened is not None:
            return Timeframe(periods=self.happened, about="event")
        if isinstance(self.turns, SaidThen):
            return Timeframe(periods=tuple(one.days for one in self.turns.times))
        return None


EVERYTHING = Scope()
"""All that the space holds now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPages:
    """Pages by the id they were asked for, as they may be seen, and why others cannot be read."""

    pages: Mapping[PageId, Page]
    missing: Mapping[PageId, Unread]
    closed: Mapping[PageId, Page] = field(default_factory=dict)
    """Those that may not be seen: who speaks on them and where, without a word. They are `missing` too."""

    @property
    def unread(self) -> Mapping[PageId, Unread]:
        """Why pages cannot be read that may be seen."""
        return {page_id: why for page_id, why in self.missing.items() if page_id not in self.closed}


@dataclass(kw_only=True, eq=False, repr=False)
class View:
    """What one question sees. Open it with `View.open`."""

    ledger: ReadsLedger
    unverified_index: Searches
    """The index as it is given; `index` verifies it."""
    tier1: Tier1
    backlog: Backlog
    scope: Scope
    trust: TrustLevels
    around: Around | None
    """The records around the moment that is looked back to."""
    aside: Mapping[PageId, str]
    """Pages that are not read, and why."""
    only: Set[PageId] | None = None
    """The only pages that are read; `None` for all."""
    whole: bool
    """Whether words that were taken back are seen too."""
    _read: dict[PageId, Page | Unread] = field(default_factory=dict, init=False)
    _closed: dict[PageId, Page] = field(default_factory=dict, init=False)
    _of_units: dict[PageId, None] = field(default_factory=dict, init=False)
    _waiting: Waiting | None = field(default=None, init=False)
    _mark: History | None = field(default=None, init=False)

    @classmethod
    async def open(
        cls,
        ledger: ReadsLedger,
        index: Searches,
        scope: Scope = EVERYTHING,
        *,
        backlog: Backlog | None = None,
        trust: TrustLevels = DEFAULT_TRUST,
        whole: bool = False,
    ) -> View:
        """The view of a space; a moment that is not past means now. A time without a zone is UTC.

        `backlog` is what is known already of that which waits for the index. With `whole`, what questions
        go on without is seen too: pages set aside, and words taken back; and pages are read from the log,
        where others may come as they were read before.
        Raises `InvalidInput` when `scope.min_trust` is no level.
        """
        moment = _past(scope.as_of)
        floor = None if scope.min_trust is None else trust.require_level(scope.min_trust)
        aside = {} if whole else ledger.tier1.aside_at("ask")
        tier1, around = (ledger.tier1, None) if moment is None else await ledger.as_of(moment)
        return cls(
            ledger=ledger,
            unverified_index=index,
            tier1=tier1,
            backlog=backlog or Backlog(ledger),
            scope=replace(scope, as_of=moment, min_trust=floor),
            trust=trust,
            around=around,
            aside=aside,
            whole=whole,
        )

    def without(self, aside: Mapping[PageId, str], *, only: Set[PageId] | None = None) -> View:
        """The same view with more pages set aside, or with `only` these seen; nothing of it is read yet."""
        return replace(self, aside={**self.aside, **aside}, only=only)

    @property
    def pages_touched(self) -> tuple[PageId, ...]:
        """The pages that were read so far, and those that units rest on which were, each once, in order."""
        read = (page.id for page in self._read.values() if isinstance(page, Page))
        return tuple(dict.fromkeys((*self._of_units, *read)))

    @property
    def has_read(self) -> bool:
        """Whether a page was read."""
        return any(isinstance(page, Page) for page in self._read.values())

    @property
    def odd(self) -> Mapping[PageId, str]:
        """Pages that could not be read for something unexpected, and why."""
        return {page: str(why) for page, why in self.left_out.items() if not self._hides(page)}

    @property
    def left_out(self) -> Mapping[PageId, Unread]:
        """Pages that were wanted and are set aside."""
        return {page: why for page, why in self._read.items() if isinstance(why, PageSetAside)}

    @property
    def space(self) -> SpaceId:
        """The space that is looked at."""
        return self.ledger.space

    async def units(self, ids: Sequence[str]) -> tuple[SummaryUnit | None, ...]:
        """Each as `unit` gives it, once the pages were read that it needs."""
        if self.scope.turns is not None:
            active = (self.tier1.unit(UnitId(id_)) for id_ in ids if self.tier1.is_active(UnitId(id_)))
            await self.fetch(span.page_id for unit in active if unit is not None for span in unit.spans)
        return tuple(map(self.unit, ids))

    def unit(self, unit_id: str) -> SummaryUnit | None:
        """The unit as it read then, or `None` when it was not active, not of this session, not trusted, or
        rests on a turn that may not be seen: one of a page that was not read is not known to be.
        """
        unit = self.tier1.unit(UnitId(unit_id))
        if unit is None or not self.tier1.is_active(unit.id):
            return None
        # If it rests on a turn that may not be seen, a unit merged into it that says the same may be shown.
        alike = (unit, *self.tier1.standing_behind(unit.id))
        shown = next((one for one in alike if self._shows(one)), None)
        if shown is not None:
            self._of_units |= dict.fromkeys(span.page_id for span in shown.spans)
        return shown

    def _shows(self, unit: SummaryUnit) -> bool:
        """Whether a unit is of this session and time, trusted, and rests on nothing that may not be seen."""
        if not self._trusts(unit) or not self.scope.sees.unit(unit):
            return False
        if self.scope.session not in (None, unit.session) or not self._may_have_happened(unit):
            return False
        hidden = [span.page_id for span in unit.spans if self._hides(span.page_id)]
        for page_id in hidden:
            self._read[page_id] = self._set_aside(page_id)
        return not hidden and self._sees(unit)

    def _may_have_happened(self, unit: SummaryUnit) -> bool:
        """Whether what the unit says may have happened in one of the days asked for."""
        if self.scope.happened is None:
            return True
        event_days = parse_iso(unit.event_at) if unit.event_at is not None else None
        return event_days is not None and any(
            event_days[0] <= last and first <= event_days[1] for first, last in self.scope.happened
        )

    def _sees(self, unit: SummaryUnit) -> bool:
        """Whether every turn that the unit rests on may be seen."""
        return self.scope.turns is None or all(
            isinstance(page := self._read.get(span.page_id), Page)
            and all(line.turn is not None for line in lines(page, span))
            for span in unit.spans
        )

    def _trusts(self, unit: SummaryUnit) -> bool:
        floor = self.scope.min_trust
        return floor is None or self.trust.rank(unit.trust) >= self.trust.rank(floor)

    def holds(self, page: Page) -> bool:
        """Whether the page, as it is seen, belongs to the session and has a turn that may be seen."""
        if self.scope.session not in (None, page.session):
            return False
        if not self.scope.sees.page(page):
            return False
        asked = self.scope.min_trust is not None or self.scope.turns is not None
        withholds = asked or self.scope.unsearched or self.taken_back(page)
        if withholds and all(line.turn is None for line in page.lines):
            return False
        return self.around is None or any(self._said_by_then(line) for line in page.lines)

    def has_stored(self, page: Page) -> bool:
        """Whether any turn of the page was stored by the moment that is looked back to."""
        return any(line.turn is not None and self._said_by_then(line) for line in page.lines)

    def taken_back(self, page: Page) -> tuple[TakenBack, ...]:
        """The words of the page that are no evidence, since what was made of them was taken back."""
        return () if self.whole else self.tier1.taken_back(page.id)

    def withheld(self, page_ids: Iterable[PageId]) -> set[PageId]:
        """The pages of which a turn that its row lets be seen may not be seen, or not all of it."""
        if not self.scope.is_told_by_rows or self.only is not None or self.aside:
            return set(page_ids)
        return set() if self.whole else set(filter(self.tier1.taken_back, page_ids))

    def as_visible(self, page: Page) -> Page:
        """The page without the words that were taken back, and with the turns withheld that came later, that
        are not trusted enough, or that are not asked for.
        """
        page = without(page, self.taken_back(page))
        sees = self.scope.sees
        if self.scope.unsearched:
            page = without_unsearched(page, self.scope.unsearched)
        if not sees.all:
            page = withheld(page, lambda line: line.turn is not None and sees.turn(line.turn))
        if self.around is not None and not all(map(self._said_by_then, page.lines)):
            page = withheld(page, self._said_by_then)
        turns = self.scope.turns
        if turns is not None:
            page = withheld(page, lambda line: line.turn is not None and turns.keeps(line.turn))
        if self.scope.min_trust is None:
            return page
        return at_least(page, self.trust.rank(self.scope.min_trust), self.trust.rank_of)

    def _said_by_then(self, line: PageLine) -> bool:
        """By its place among records; between two, by when it was recorded, or said if that is unknown."""
        if self.around is None or line.seq < self.around.before:
            return True
        if self.around.after is not None and line.seq > self.around.after:
            return False
        if line.recorded_at is not None and self.scope.as_of is not None:
            return self.around.since <= line.recorded_at <= self.scope.as_of
        said_at, moment = line.turn.said_at if line.turn is not None else None, self.scope.as_of
        return said_at is None or moment is None or said_at.astimezone(UTC) <= moment

    async def fetch(self, ids: Iterable[PageId]) -> FetchedPages:
        """Every page of `ids` that can be read, as it may be seen, whatever session or time it is of."""
        wanted = tuple(dict.fromkeys(ids))
        unread = [page_id for page_id in wanted if page_id not in self._read]
        shown = [page_id for page_id in unread if not self._hides(page_id)]
        self._read |= {page_id: self._set_aside(page_id) for page_id in unread if self._hides(page_id)}
        if shown:
            fetched = await self.ledger.read(shown, kept=not self.whole)
            for page_id, found in zip(shown, fetched, strict=True):
                self._keep(page_id, found)
        read = {page_id: self._read[page_id] for page_id in wanted}
        return FetchedPages(
            pages={page_id: found for page_id, found in read.items() if isinstance(found, Page)},
            missing={page_id: found for page_id, found in read.items() if not isinstance(found, Page)},
            closed={page_id: self._closed[page_id] for page_id in wanted if page_id in self._closed},
        )

    def _keep(self, page_id: PageId, found: Page | Unread) -> None:
        if isinstance(found, Page) and not self.scope.sees.page(found):
            self._closed[page_id] = closed(found)
            found = PageNotFound(f"space {found.space!r} has no page {page_id!r}")
        if isinstance(found, Page):
            known = self._read.get(found.id)
            opened = opened_as(found.space, found)
            if known is None and self._hides(found.id, opened):
                known = self._set_aside(found.id, opened)
            found = known if known is not None else self._as_seen(found)
            if isinstance(found, Page):
                self._read[found.id] = self._read[opened] = found
        self._read[page_id] = found

    async def index(self) -> Searches:
        """The index, which knows the space as `Ledger.indexed_as`.

        Raises `SummaryIndexError` where it cannot be used, `IndexMismatch` among them: where what it holds is
        of another history than the log.
        """
        if self._mark is None:
            self._mark = await self.unverified_index.mark(self.ledger.indexed_as)
        if self.ledger.is_behind(self._mark):
            raise IndexUnavailable(
                "the index has gone on since this memory was opened read-only: open it again to search by "
                "meaning too, and to see what was said since"
            )
        if not await self.ledger.begins_with(self._mark):
            raise IndexMismatch(
                f"what the index holds of space {self.space!r} is of another history than its log; "
                "it is not used until it is built again"
            )
        return self.unverified_index

    def _as_seen(self, page: Page) -> Page | Unread:
        try:
            return self.as_visible(page)
        except Exception as error:  # noqa: BLE001  # whatever a page does, the others are seen
            return PageSetAside(unexpected(error, f"showing page {page.id}"))

    def _hides(self, *ids: PageId) -> bool:
        """Whether a page, by any of its ids, is set aside or not among the only ones."""
        if any(page_id in self.aside for page_id in ids):
            return True
        return self.only is not None and self.only.isdisjoint(ids)

    def _set_aside(self, *ids: PageId) -> PageSetAside:
        why = next((self.aside[one] for one in ids if one in self.aside), "not looked at")
        # Whose page it is, only reading it would tell.
        return PageSetAside(why if self.scope.sees.all else "not looked at")

    async def waiting(self, *, usable: bool = True) -> Waiting:
        """What the index lacks of what the ledger holds: everything, where the index cannot be used.

        That is what is newer than the mark it had when it was first asked: nothing is in neither of the two.
        """
        if self._waiting is None or (not usable and self._waiting.mark >= 0):
            mark = await self.mark() if usable else None
            self._waiting = await self.backlog.after(-1 if mark is None else mark)
        return self._waiting

    async def mark(self) -> int | None:
        """Up to which record the index reflects the ledger, -1 before any; `None` where it cannot be used."""
        try:
            await self.index()
        except SummaryIndexError:
            return None
        except TierMemError:
            raise
        except Exception as error:  # noqa: BLE001  # reported when the index is searched, and logged
            unexpected(error, "asking the index for its mark")
            return None
        return -1 if self._mark is None else self._mark.seq


def _past(moment: datetime | None) -> datetime | None:
    aware = moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)
    return None if aware is None or aware >= datetime.now(UTC) else aware

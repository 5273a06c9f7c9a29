"""What the ledger holds and the index does not: all of it is found by its words.

The index says up to which record it reflects the ledger. Whatever is newer is counted word by word, in one
pass when the first question needs it, and kept: later questions add only what was said since. When the index
has moved on, what it still lacks makes a new `Waiting`; the old one stays whole for the questions that began
with it, so nothing is in neither of the two while a question runs. Cold units, which an index of limited size
holds no more, are counted once, when they are first seen to be cold.
"""

from __future__ import annotations

from collections.abc import Collection as Collection_
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

import anyio
from anyio import to_thread

from pagestore import Page, PageId, SessionId, SpaceId
from tiermem.errors import PageSetAside, unexpected
from tiermem.index.candidates import Candidates
from tiermem.index.features import RowFeatures, turn_words, unit_features
from tiermem.index.values import COLLECTIONS, Collection, Entry, Hit, turn_id
from tiermem.index.words import WordIndex
from tiermem.ledger import EVERYTHING_SEEN, Tier1, Unread, Visibility, owner_of
from tiermem.model import SummaryUnit, UnitId
from tiermem.reading.interface import ReadsLedger
from tiermem.text.placeholders import is_without_words
from tiermem.text.question import Question

_BATCH = 256
"""Pages read together."""


class _Words:
    """Turns and units of one space, found by their words alone."""

    def __init__(self, space: SpaceId) -> None:
        self._space = space
        self._index = WordIndex()
        self._units: set[str] = set()
        self._seqs: set[int] = set()

    async def find(
        self,
        collection: Collection,
        query: str,
        *,
        limit: int,
        session: SessionId | None = None,
        sees: Visibility = EVERYTHING_SEEN,
    ) -> tuple[Hit, ...]:
        """The best `limit` turns or units that may be seen and hold a word of a query."""
        if self._is_without(collection):
            return ()
        return await self._index.search(
            self._space,
            collection,
            query,
            limit=limit,
            mode="words",
            session=session,
            owners=_owners(collection, sees),
        )

    def _is_without(self, collection: Collection) -> bool:
        return not (self._seqs if collection == "turns" else self._units)

    async def put_units(self, units: Iterable[SummaryUnit], shared: Container[UnitId]) -> None:
        """Add units, in place of what they were before; those that are `shared` are everybody's."""
        rows = {
            unit.id: unit_features(
                Entry(
                    id=unit.id,
                    session=unit.session,
                    text=unit.text,
                    owner=owner_of(unit.agents) if unit.agents and unit.id not in shared else "",
                )
            )
            for unit in units
        }
        await self._index.put_rows(self._space, "units", list(rows), list(rows.values()))
        self._units.update(rows)


def _owners(collection: Collection, sees: Visibility) -> frozenset[str] | None:
    return sees.owners if collection == "turns" else sees.owners_of_units


class ColdUnits(_Words):
    """The units that an index of limited size holds no more."""

    def __init__(self, space: SpaceId, tier1: Tier1) -> None:
        super().__init__(space)
        self._tier1 = tier1
        self._upto = -1

    async def update(self) -> None:
        """Add units that went cold or changed, and remove those that are no longer cold."""
        tier1, head = self._tier1, self._tier1.head
        changed = {unit.id for unit in (tier1.changed_since(self._upto) if self._units else ())}
        ids = dict.fromkeys((*tier1.moved_since(self._upto), *changed.intersection(self._units)))
        known = (unit for unit_id in ids if (unit := tier1.unit(unit_id)) is not None)
        cold = {unit.id: unit for unit in known if tier1.is_cold(unit.id) and tier1.is_indexed(unit)}
        if ids:
            await self._index.remove(self._space, "units", [one for one in ids if one not in cold])
            self._units.difference_update(ids)
            await self.put_units(cold.values(), tier1.shared)
        # Last: what is cut short before is taken in by the next question.
        self._upto = head


class Waiting(_Words):
    """What an index that reflects the ledger up to record `mark` lacks. It only grows.

    `cold` are units that it lacks on purpose: nothing here counts them. `unread` are pages with words that it
    lacks which cannot be read, and why. Turns of `unsearched` roles are not to be found.
    """

    def __init__(
        self, space: SpaceId, mark: int, cold: ColdUnits, *, unsearched: tuple[str, ...] = ()
    ) -> None:
        super().__init__(space)
        self.mark = mark
        self.cold = cold
        self.unread: dict[PageId, Unread] = {}
        self._unsearched = unsearched

    async def count(
        self, collection: Collection, session: SessionId | None = None, sees: Visibility = EVERYTHING_SEEN
    ) -> int:
        """How many turns or units that may be seen, of one session or of all."""
        if self._is_without(collection):
            return 0
        owners = _owners(collection, sees)
        return await self._index.count(self._space, collection, session=session, owners=owners)

    async def candidates(
        self,
        question: Question,
        *,
        limit: int,
        session: SessionId | None = None,
        sees: Visibility = EVERYTHING_SEEN,
    ) -> Candidates:
        """See `Searches.turns`."""
        return await self._index.turns(
            self._space,
            question.text,
            limit=limit,
            session=session,
            periods=question.periods,
            owners=sees.owners,
        )

    async def in_words(self, session: SessionId | None = None, sees: Visibility = EVERYTHING_SEEN) -> str:
        """How many turns and units, in words; empty where there is none of either."""
        counts = [(await self.count(one, session, sees), one[:-1]) for one in reversed(COLLECTIONS)]
        return " and ".join(f"{number:,} {what}{'s' * (number != 1)}" for number, what in counts if number)

    async def put_pages(self, pages: Mapping[PageId, Page | Unread], aside: Collection_[PageId]) -> None:
        """Add the turns of pages that are newer than `mark`, or all that are new here of those set aside."""
        # By number: a page that sealed meanwhile is among them as it was and as it is.
        rows = await to_thread.run_sync(lambda: {row.seq: row for row in self._rows(pages, aside)})
        await self._index.put_rows(self._space, "turns", list(map(turn_id, rows)), list(rows.values()))
        self._seqs.update(rows)

    def _rows(
        self, pages: Mapping[PageId, Page | Unread], aside: Collection_[PageId]
    ) -> Iterator[RowFeatures]:
        for page_id, page in pages.items():
            try:
                if isinstance(page, Page):
                    yield from self._rows_of_page(page, whole=page_id in aside)
                    self.unread.pop(page_id, None)
                else:
                    self.unread[page_id] = page
            except Exception as error:  # noqa: BLE001  # whatever a page does, the others are found
                why = PageSetAside(unexpected(error, f"counting the words of page {page_id}"))
                self.unread[page_id] = why

    def _rows_of_page(self, page: Page, *, whole: bool) -> list[RowFeatures]:
        owner = "" if page.agent is None else owner_of([page.agent])
        return [
            turn_words(page, number, owner=owner)
            for number, line in enumerate(page.lines)
            if line.turn is not None
            and line.turn.role not in self._unsearched
            and not is_without_words(line.turn)
            and line.seq not in self._seqs
            and (whole or line.seq > self.mark)
        ]


class Backlog:
    """Keeps what waits for the index of one space, between questions."""

    def __init__(self, ledger: ReadsLedger, *, unsearched: tuple[str, ...] = ()) -> None:
        self._ledger = ledger
        self._unsearched = unsearched
        self._one_at_a_time = anyio.Lock()
        self._tier1: Tier1 | None = None
        self._aside: frozenset[PageId] = frozenset()
        self._upto = -1
        self._cold = ColdUnits(ledger.indexed_as, ledger.tier1)
        self._waiting = Waiting(ledger.indexed_as, -1, self._cold, unsearched=unsearched)

    async def after(self, mark: int) -> Waiting:
        """What an index lacks that reflects the ledger up to record `mark`, all that is there now."""
        async with self._one_at_a_time:
            tier1, aside = self._ledger.tier1, frozenset(self._ledger.tier1.aside_at("index"))
            begins = self._tier1 is not tier1 or self._aside != aside or self._waiting.mark != mark
            if begins:  # also after an erasing, which folds the ledger again
                if self._tier1 is not tier1:
                    self._cold = ColdUnits(self._ledger.indexed_as, tier1)
                self._tier1, self._aside, self._upto = None, aside, mark
                self._waiting = Waiting(
                    self._ledger.indexed_as, mark, self._cold, unsearched=self._unsearched
                )
            changes = await self._ledger.changes(self._upto, besides=aside if begins else ())
            await self._waiting.put_units(changes.units, tier1.shared)
            ids = [*(page.id for page in changes.pages), *(page.id for page in changes.filling)]
            # What could not be read may be readable by now.
            for some in _batches(list(dict.fromkeys((*ids, *self._waiting.unread)))):
                read = await self._ledger.read(some, kept=True)
                await self._waiting.put_pages(dict(zip(some, read, strict=True)), aside)
            await self._cold.update()
            # Set last: after a cancelled call the next one reads these changes again.
            self._tier1, self._upto = tier1, changes.head
            return self._waiting


def _batches(ids: Sequence[PageId]) -> Iterator[Sequence[PageId]]:
    return (ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH))

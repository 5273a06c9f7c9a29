"""What the ledger holds and the index does not: all of it is found by its words.

The index says up to which record it reflects the ledger. Whatever is newer is counted word by word, in one
pass when the first question needs it, and kept: later questions add only what was said since. When the index
has moved on, what it still lacks makes a new `Waiting`; the old one stays whole for the questions that began
with it, so nothing is in neither of the two while a question runs. Cold units, which an index of limited size
holds no more, are counted once, when they are first seen to be cold.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

import anyio
from anyio import to_thread

from pagestore import Page, PageId, SessionId
from tiermem.errors import PageSetAside, unexpected
from tiermem.index.values import Period, turn_id
from tiermem.ledger import EVERYTHING_SEEN, Tier1, Unread, Visibility
from tiermem.model import SummaryUnit, UnitId
from tiermem.reading.interface import ReadsLedger
from tiermem.reading.keywords import Keywords
from tiermem.reading.question import is_said_in
from tiermem.text import words
from tiermem.text.placeholders import is_without_words

_BATCH = 256
"""Pages read together."""


@dataclass(frozen=True, slots=True)
class _TurnPlace:
    """Where a turn is."""

    seq: int
    page_id: PageId
    session: SessionId
    said_at: datetime | None
    agent: str | None


class _UnitWords:
    """The words of units, each counted for those to whom it belongs."""

    def __init__(self) -> None:
        self._units: list[SummaryUnit] = []
        self._words = Keywords()

    def add(self, unit: SummaryUnit) -> None:
        """Count the words of one more unit."""
        # What a question that runs meanwhile finds by its words must have its place by then.
        self._units.append(unit)
        self._words.add(unit.text, unit.agents)

    def best(self, wanted: Iterable[str], sees: Visibility) -> list[tuple[UnitId, float]]:
        """The units that may be seen and hold one of these stems, best first."""

        def may_see(agents: tuple[str, ...]) -> bool:
            return sees.all_units or sees.of(agents)

        counted = islice(self._units, len(self._words))
        shared = {
            at for at, unit in enumerate(counted) if unit.id in sees.shared and not may_see(unit.agents)
        }
        ranked = self._words.rank(wanted, may_see, shared)
        return [(self._units[at].id, score) for at, score in ranked]


class ColdUnits:
    """The words of units that an index of limited size holds no more."""

    def __init__(self, tier1: Tier1) -> None:
        self._tier1 = tier1
        self._upto = self._looked_at = -1
        self._texts: dict[UnitId, str] = {}
        self._words = _UnitWords()

    def best(self, wanted: Iterable[str], sees: Visibility = EVERYTHING_SEEN) -> list[tuple[UnitId, float]]:
        """The units that may be seen, hold one of these stems and are cold now, best first."""
        ranked = self._words.best(wanted, sees)
        return [(unit_id, score) for unit_id, score in ranked if self._tier1.is_cold(unit_id)]

    def gone_cold(self) -> tuple[SummaryUnit, ...]:
        """The units that went cold since some were last taken in."""
        moved, self._looked_at = self._tier1.moved_since(self._upto), self._tier1.head
        found = (self._tier1.unit(unit_id) for unit_id in moved if self._tier1.is_cold(unit_id))
        units = tuple(unit for unit in found if unit is not None and self._tier1.is_indexed(unit))
        if not units:
            self._upto = self._looked_at
        return units

    def take_in(self, units: Iterable[SummaryUnit]) -> None:
        """Count the words of what went cold, of units that were not counted before."""
        for unit in units:
            if self._texts.get(unit.id) != unit.text:
                self._texts[unit.id] = unit.text
                self._words.add(unit)
        # Last: what is cut short before is taken in by the next question.
        self._upto = self._looked_at


@dataclass(slots=True, kw_only=True)
class Waiting:
    """What an index that reflects the ledger up to record `mark` lacks. It only grows.

    `cold` are units that it lacks on purpose: nothing here counts them.
    """

    mark: int
    cold: ColdUnits
    unsearched: tuple[str, ...] = ()
    """Roles whose turns are not to be found."""
    unread: dict[PageId, Unread] = field(default_factory=dict)
    """Pages with words that it lacks which cannot be read, and why."""
    _turns: list[_TurnPlace] = field(default_factory=list)
    _by_turn: Keywords = field(default_factory=Keywords)
    _taken: set[int] = field(default_factory=set)
    _speakers: dict[str | None, set[str]] = field(default_factory=dict)
    _units: set[UnitId] = field(default_factory=set)
    _by_unit: _UnitWords = field(default_factory=_UnitWords)
    _turns_of: Counter[tuple[SessionId, str | None]] = field(default_factory=Counter)
    _units_of: dict[SessionId, dict[UnitId, SummaryUnit]] = field(default_factory=dict)

    def turns(self, session: SessionId | None = None, sees: Visibility = EVERYTHING_SEEN) -> int:
        """How many turns that may be seen, of one session or of all."""
        if session is None and sees.all:
            return len(self._turns)
        counts = self._turns_of.items()
        return sum(n for (name, one), n in counts if session in (None, name) and sees.of((one,)))

    def units(self, session: SessionId | None = None, sees: Visibility = EVERYTHING_SEEN) -> int:
        """How many units that may be seen are new, or were superseded or taken back since."""
        of_sessions = self._units_of.values() if session is None else (self._units_of.get(session, {}),)
        if sees.all:
            return sum(map(len, of_sessions))
        return sum(sees.unit(unit) for units in of_sessions for unit in units.values())

    def speakers(self, sees: Visibility = EVERYTHING_SEEN) -> set[str]:
        """The words of the names of those whose turns may be seen, in lower case."""
        found = tuple(self._speakers.items())
        return {word for agent, names in found if sees.of((agent,)) for word in tuple(names)}

    def best_units(
        self, wanted: Iterable[str], sees: Visibility = EVERYTHING_SEEN
    ) -> list[tuple[UnitId, float]]:
        """The units that may be seen and hold one of these stems, best first."""
        return self._by_unit.best(wanted, sees)

    def best_pages(
        self, wanted: Iterable[str], session: SessionId | None, sees: Visibility = EVERYTHING_SEEN
    ) -> list[tuple[PageId, float]]:
        """The pages whose turns hold one of these stems, each as good as its turns together, best first."""
        scores: dict[PageId, float] = {}
        for at, score in self._by_turn.rank(wanted, _may_see(sees)):
            said = self._turns[at]
            if session in (None, said.session):
                scores[said.page_id] = scores.get(said.page_id, 0.0) + score
        return sorted(scores.items(), key=lambda pair: -pair[1])

    def best_turns(
        self,
        wanted: Iterable[str],
        session: SessionId | None,
        *,
        limit: int,
        periods: Sequence[Period] = (),
        sees: Visibility = EVERYTHING_SEEN,
    ) -> list[str]:
        """The ids of the best `limit` turns that hold one of these stems, and of those right beside them.

        With `periods`, as many again of those said in one of these periods.
        """
        found = ((at, self._turns[at]) for at, _ in self._by_turn.rank(wanted, _may_see(sees)))
        ranked = [at for at, one in found if session in (None, one.session)]
        then = [at for at in ranked if is_said_in(self._turns[at].said_at, periods)] if periods else []
        best = dict.fromkeys((*ranked[:limit], *then[:limit]))
        beside = (at for one in best for at in (one - 1, one + 1) if self._are_beside(one, at))
        places = (self._turns[at] for at in dict.fromkeys((*best, *beside)))
        return [turn_id(said.seq) for said in places]

    def in_words(self, session: SessionId | None = None, sees: Visibility = EVERYTHING_SEEN) -> str:
        """How many turns and units, in words; empty where there is none of either."""
        counts = ((self.turns(session, sees), "turn"), (self.units(session, sees), "unit"))
        return " and ".join(f"{number:,} {what}{'s' * (number != 1)}" for number, what in counts if number)

    def rarity(
        self, stem: str, *, indexed: int, known: float | None, sees: Visibility = EVERYTHING_SEEN
    ) -> float:
        """How rare a stem is among the turns that may be seen, where the index holds `indexed` of them and
        gives it `known`.

        What is said nowhere is as rare as what is said once: it would outweigh all that can be found.
        """
        may_see = _may_see(sees)
        said = self._by_turn.count_holders(stem, may_see)
        turns = indexed + self._by_turn.count_texts(may_see)
        there = (indexed + 1) / math.exp(known) - 0.5 if indexed and known is not None else 0.0
        return math.log((turns + 1) / (max(1.0, there + said) + 0.5))

    def _are_beside(self, one: int, other: int) -> bool:
        return 0 <= other < len(self._turns) and self._turns[other].page_id == self._turns[one].page_id

    def take_in_units(self, units: Iterable[SummaryUnit]) -> None:
        """Add units, those that are new here."""
        for unit in units:
            if unit.id not in self._units:
                self._units.add(unit.id)
                self._by_unit.add(unit)
                self._units_of.setdefault(unit.session, {})[unit.id] = unit

    def take_in_page(self, page: Page, *, whole: bool) -> None:
        """Add the turns of a page that are newer than `mark`, or all of them; those that are new here."""
        for line in page.lines:
            turn = line.turn
            if (
                turn is None
                or turn.role in self.unsearched
                or is_without_words(turn)
                or line.seq in self._taken
                or not (whole or line.seq > self.mark)
            ):
                continue
            # What a question that runs meanwhile finds by its words must have its place by then.
            self._turns.append(_TurnPlace(line.seq, page.id, page.session, turn.said_at, page.agent))
            self._by_turn.add(turn.text, page.agent)
            self._turns_of[page.session, page.agent] += 1
            self._taken.add(line.seq)
            if turn.speaker != turn.role:
                self._speakers.setdefault(page.agent, set()).update(words(turn.speaker))


class Backlog:
    """Keeps what waits for the index of one space, between questions."""

    def __init__(self, ledger: ReadsLedger, *, unsearched: tuple[str, ...] = ()) -> None:
        self._ledger = ledger
        self._unsearched = unsearched
        self._one_at_a_time = anyio.Lock()
        self._tier1: Tier1 | None = None
        self._aside: frozenset[PageId] = frozenset()
        self._upto = -1
        self._cold = ColdUnits(ledger.tier1)
        self._waiting = Waiting(mark=-1, cold=self._cold, unsearched=unsearched)

    async def after(self, mark: int) -> Waiting:
        """What an index lacks that reflects the ledger up to record `mark`, all that is there now."""
        async with self._one_at_a_time:
            tier1, aside = self._ledger.tier1, frozenset(self._ledger.tier1.aside_at("index"))
            begins = self._tier1 is not tier1 or self._aside != aside or self._waiting.mark != mark
            if begins:  # also after an erasing, which folds the ledger again
                if self._tier1 is not tier1:
                    self._cold = ColdUnits(tier1)
                self._tier1, self._aside, self._upto = None, aside, mark
                self._waiting = Waiting(mark=mark, cold=self._cold, unsearched=self._unsearched)
            changes = await self._ledger.changes(self._upto, besides=aside if begins else ())
            self._waiting.take_in_units(changes.units)
            ids = [*(page.id for page in changes.pages), *(page.id for page in changes.filling)]
            # What could not be read may be readable by now.
            for some in _batches(list(dict.fromkeys((*ids, *self._waiting.unread)))):
                await self._take_in(some)
            gone_cold = self._cold.gone_cold()
            if gone_cold:
                await to_thread.run_sync(self._cold.take_in, gone_cold)
            # Set last: after a cancelled call the next one reads these changes again.
            self._tier1, self._upto = tier1, changes.head
            return self._waiting

    async def _take_in(self, ids: Sequence[PageId]) -> None:
        read = await self._ledger.read(ids, kept=True)
        await to_thread.run_sync(_take_in, self._waiting, dict(zip(ids, read, strict=True)), self._aside)


def _batches(ids: Sequence[PageId]) -> Iterator[Sequence[PageId]]:
    return (ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH))


def _take_in(waiting: Waiting, pages: Mapping[PageId, Page | Unread], aside: frozenset[PageId]) -> None:
    for page_id, page in pages.items():
        try:
            if isinstance(page, Page):
                waiting.take_in_page(page, whole=page_id in aside)
                waiting.unread.pop(page_id, None)
            else:
                waiting.unread[page_id] = page
        except Exception as error:  # noqa: BLE001  # whatever a page does, the others are found
            waiting.unread[page_id] = PageSetAside(unexpected(error, f"counting the words of page {page_id}"))


def _may_see(sees: Visibility) -> Callable[[str | None], bool]:
    return lambda agent: sees.of((agent,))

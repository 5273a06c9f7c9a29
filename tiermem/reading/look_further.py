"""Looking further, round by round: look-ups are planned, what they bring is read, until it is enough.

The rules, whatever is read: no more rounds than the options allow; no look-up is made twice, and nothing is
shown as new twice; it ends when the planner is done, when nothing new turns up, or when what was read
is enough.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar

from pagestore import PageId
from tiermem.errors import BudgetExceeded, ModelError
from tiermem.llm.meter import check_budget
from tiermem.model import Degradation, Evidence, Findings, Round, Search
from tiermem.reading.compose import Composer
from tiermem.reading.request import AskRequest
from tiermem.reading.search import LookUp
from tiermem.text.question import Question
from tiermem.text.unicode import replace_surrogates

MAX_QUERY = 400
"""Characters of a look-up that are used; a planner's longer ones say nothing more."""

_Item = TypeVar("_Item")


class Rounds(ABC, Generic[_Item]):
    """The rounds of one question; a subclass says what is searched for and read in them.

    `findings` is everything found and read so far, also where that came to nothing. `is_read` says whether a
    model gave a usable reply to any of it.
    """

    numbers: range
    """The numbers of the rounds."""
    stage: ClassVar[str]
    fallback: ClassVar[str]
    """What a degradation says where they end early."""

    def __init__(self, asking: AskRequest, lookup: LookUp, composer: Composer) -> None:
        self.findings = Findings(evidence=())
        self.is_read = False
        self._asking = asking
        self._lookup = lookup
        self._composer = composer

    @abstractmethod
    async def search(self, searches: Sequence[Search]) -> Sequence[_Item]:
        """What these look-ups bring that was not read before, best first."""

    @abstractmethod
    async def read(self, found: Sequence[_Item]) -> bool:
        """Read it; whether that is enough."""

    @abstractmethod
    async def known_evidence(self) -> Sequence[Evidence]:
        """What the planner is shown."""

    @abstractmethod
    def missing(self) -> str:
        """What is not known yet, in words."""

    def coverage(self) -> str:
        """What a round that begins has as its coverage."""
        return self.missing()

    @abstractmethod
    def pages(self, found: Sequence[_Item]) -> Iterable[PageId]:
        """The pages that these are on."""

    @abstractmethod
    def is_fatal(self, error: ModelError | BudgetExceeded) -> bool:
        """Whether nothing is left to answer from, so that an error is raised."""

    def end(self, number: int, searches: tuple[Search, ...], reason: str) -> None:
        """Keep why nothing is read in the round of this number."""
        self.open(number, searches, (), stop=reason)

    async def find(self, number: int) -> tuple[tuple[Search, ...], Sequence[_Item], str]:
        """The look-ups of a round, what they bring, and why that is nothing where it is."""
        searches, reason = await self._plan()
        return searches, await self.search(searches) if searches else (), reason

    async def look(self) -> None:
        """Look until it is enough. A model that fails or a spent budget ends it early, with a degradation.

        Raises what `is_fatal`.
        """
        try:
            await self._look()
        except (ModelError, BudgetExceeded) as error:
            reason = f"{type(error).__name__}: {error}"
            self.stop(reason)
            if self.is_fatal(error):
                raise
            self.note((Degradation(stage=self.stage, reason=reason, fallback=self.fallback),))

    async def _look(self) -> None:
        for number in self.numbers:
            searches, found, reason = await self.find(number)
            if not found:
                self.end(number, searches, reason)
                return
            self.open(number, searches, found)
            if await self.read(found):
                return
        self.stop("no rounds left")

    async def _plan(self) -> tuple[tuple[Search, ...], str]:
        """What to look up next, and why nothing when there is nothing."""
        check_budget()
        done = [search for one in self.findings.rounds for search in one.searches]
        plan = self._asking.engine.plan
        assert plan is not None  # noqa: S101  (see `Engine.looks_further`)
        planned = await plan(self._asking.question, await self.known_evidence(), self.missing(), done)
        if planned.done:
            return (), "enough was found"
        new = new_searches(planned.searches, done, limit=self._asking.options.searches_per_round)
        return new, "nothing new to look up"

    def question_of(self, search: Search) -> Question:
        """A look-up as what is searched for; its relative dates are those of the question."""
        return replace(self._asking.question, text=search.query)

    def open(
        self, number: int, searches: tuple[Search, ...], found: Sequence[_Item], *, stop: str | None = None
    ) -> None:
        """Begin a round: its pages count as read from now on, whatever becomes of them."""
        opened = Round(
            number=number,
            searches=searches,
            pages=tuple(dict.fromkeys(self.pages(found))),
            facts=0,
            rejected=0,
            coverage=self.coverage(),
            stop=stop,
        )
        self.findings = replace(
            self.findings,
            rounds=(*self.findings.rounds, opened),
            pages_read=(*self.findings.pages_read, *opened.pages),
        )
        self._asking.steps.done("read", way="researched", rounds=(opened,))

    def stop(self, reason: str) -> None:
        """Keep why it ended in the last round."""
        if self.findings.rounds:
            *before, last = self.findings.rounds
            self.findings = replace(self.findings, rounds=(*before, replace(last, stop=reason)))

    def note(self, degradations: Iterable[Degradation]) -> None:
        """Keep what could not run as meant, each once."""
        known = dict.fromkeys((*self.findings.degradations, *degradations))
        self.findings = replace(self.findings, degradations=tuple(known))


def new_searches(wanted: Iterable[Search], done: Iterable[Search], *, limit: int) -> tuple[Search, ...]:
    """The look-ups that were not made before, each once; letter case and spacing make no new one."""
    seen = {_key(search) for search in done}
    new: list[Search] = []
    for search in wanted:
        cut = replace(search, query=" ".join(replace_surrogates(search.query[:MAX_QUERY]).split()))
        if len(new) < limit and cut.query and _key(cut) not in seen:
            seen.add(_key(cut))
            new.append(cut)
    return tuple(new)


def _key(search: Search) -> tuple[str, str]:
    return search.kind, " ".join(search.query[:MAX_QUERY].casefold().split())

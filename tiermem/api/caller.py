"""Who calls on an open space: the owner or one agent, and what that one may see and change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from pagestore import Page, PageId, SessionId
from pagestore.errors import ReadOnly
from tiermem.api import arguments
from tiermem.api.requests import Filters
from tiermem.api.results import SessionInfo
from tiermem.dialogue import TimeLike, chat_of, is_of_format, without_day
from tiermem.errors import InvalidInput, UnknownId, shown
from tiermem.ledger import Visibility
from tiermem.model import Answer, AnswerId, MarkedPage, SummaryUnit, UnitId
from tiermem.reading import Reader, Scope, unknown_unit
from tiermem.runtime.components import Components
from tiermem.runtime.shared_components import SharedComponents
from tiermem.trust import TrustLevels

_MOST_LISTED = 20
"""Sessions that an error lists."""


def _names_of_chat(info: SessionInfo) -> tuple[str, ...]:
    """The id of the chat of a session, its title, and the title with its day."""
    chat = chat_of(info.session)
    if info.title is None:
        return (chat,)
    return chat, info.title, info.title + info.session.removeprefix(without_day(info.session))


class SpaceCaller:
    """The open parts of one space as one caller uses them. `agent` is `None` for the owner."""

    def __init__(self, opened: SharedComponents, agent: str | None) -> None:
        self.opened = opened
        self.agent = agent

    @property
    def components(self) -> Components:
        """The parts, which background work still needs when a memory is closed and another is not."""
        return self.opened.open_components

    @property
    def writable(self) -> Components:
        """The parts; raises `ReadOnly` where they were opened read-only."""
        components = self.components
        if components.read_only:
            raise ReadOnly("this memory was opened read-only, and this leaves a record: open it for writing")
        return components

    @property
    def sees(self) -> Visibility:
        """What may be seen now."""
        components = self.components
        return components.ledger.tier1.sees(self.agent, all_units=components.shares_all)

    @property
    def reader(self) -> Reader:
        """The reader of what may be seen."""
        components = self.components
        return components.reader if self.agent is None else components.reader.seen_by(self.sees)

    @property
    def levels(self) -> TrustLevels:
        """The levels of trust of the settings."""
        return TrustLevels(names=self.components.settings.trust_levels)

    def require_owner(self, what: str) -> None:
        """Raise `InvalidInput` for an agent."""
        if self.agent is not None:
            raise InvalidInput(
                f"{what}: this is for the owner of the space, and this memory is that of agent "
                f"{self.agent!r}; ask the one it was made of"
            )

    def own_unit(self, unit_id: UnitId) -> UnitId:
        """The id of a unit that may be changed; raises `UnknownId` for any other."""
        ledger, sees = self.components.ledger, self.sees
        unit = ledger.tier1.unit(unit_id)
        if unit is None or not sees.unit(unit):
            raise unknown_unit(ledger.space, unit_id)
        if not sees.owns(unit.agents or (None,)):
            raise UnknownId(
                f"unit {unit_id!r} may be seen by agent {self.agent!r}, and is not its own: only the agent "
                "whose it is, or the owner of the space, may change or share it"
            )
        return unit_id

    def visible_units(self, units: Iterable[SummaryUnit]) -> tuple[SummaryUnit, ...]:
        """Those of some units that may be seen."""
        return tuple(filter(self.sees.unit, units))

    async def visible_pages(self, pages: Iterable[PageId]) -> tuple[PageId, ...]:
        """Those of some pages that may be seen."""
        ids = tuple(pages)
        if self.agent is None or not ids:
            return ids
        sees, read = self.sees, await self.components.ledger.read(ids)
        return tuple(page.id for page in read if isinstance(page, Page) and sees.page(page))

    async def own_pages(self) -> frozenset[PageId] | None:
        """The sealed pages of the agent; `None`, which means all, for the owner."""
        if self.agent is None:
            return None
        pages = await self.components.ledger.pages()
        return frozenset(page.id for page in pages if page.agent == self.agent)

    async def sessions(self) -> tuple[SessionInfo, ...]:
        """The sessions with pages that may be seen, in the order they first spoke, with their titles."""
        ledger, sees = self.components.ledger, self.sees
        names = {info.session for info in await ledger.filling() if sees.page(info)}
        names |= {info.session for info in await ledger.pages() if sees.page(info)}
        return tuple(
            SessionInfo(session=name, title=ledger.tier1.title(chat_of(name), sees))
            for name in await ledger.sessions()
            if name in names
        )

    async def find_session(self, named: object) -> SessionId | None:
        """The session of this id, else the one of this chat, by id, title, or title and day; `None` for all.

        A name that is none of these comes back as it is. Raises `InvalidInput` for that of several sessions.
        """
        name = arguments.any_session(named)
        ledger = self.components.ledger
        if name is None or not (ledger.tier1.titled_chats or is_of_format(name)):
            return name
        if name in await ledger.sessions():
            return name
        named_so = [one.session for one in await self.sessions() if name in _names_of_chat(one)]
        if len(named_so) > 1:
            ids = ", ".join(map(repr, named_so[:_MOST_LISTED]))
            more = f", and {len(named_so) - _MOST_LISTED:,} more" if len(named_so) > _MOST_LISTED else ""
            raise InvalidInput(
                f"session: {len(named_so):,} sessions are of {shown(name)}: name one by its id, or by title "
                f"and day: {ids}{more}"
            )
        return named_so[0] if named_so else name

    async def scope_and_time(
        self, filters: Filters, *, as_of: TimeLike | None = None
    ) -> tuple[Scope, datetime]:
        """What a question may see, and when it is asked: now by default."""
        scope = arguments.scope(filters, self.levels, as_of=as_of)
        scope = replace(scope, session=await self.find_session(scope.session))
        return scope, arguments.moment(filters.get("asked_at"), "asked_at") or self.components.clock()

    async def get(self, wanted: str) -> SummaryUnit | MarkedPage | Answer:
        """The unit, page or answer of this id; raises `UnknownId`."""
        ledger, reader, answer = self.components.ledger, self.reader, AnswerId(wanted)
        unit = ledger.tier1.unit(UnitId(wanted))
        if unit is not None and reader.sees.unit(unit):
            return unit
        try:
            if answer in ledger.tier1.answers or (reader.sees.all and ledger.tier1.was_erased(answer)):
                return await reader.answer(answer)
            return await reader.page(PageId(wanted))
        except UnknownId as error:
            if answer in ledger.tier1.answers and reader.sees.all:
                raise
            raise UnknownId(f"space {ledger.space!r} has no unit, page or answer {wanted!r}") from error

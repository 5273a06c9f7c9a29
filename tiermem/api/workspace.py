"""A workspace: what an agent holds in mind of one memory, within a budget of tokens.

The rule: nothing is held that memory does not hold. Words that are added are stored first, what is found is
looked up. So what leaves for want of room is never lost: `recall` brings it back. What memory no longer
holds, or holds otherwise, leaves the workspace: at once when it is erased, else before it is shown. A
workspace itself is kept nowhere; it ends with the object.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from datetime import date
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, Unpack

from pagestore import Page, PageLine, SessionId
from tiermem.api import arguments
from tiermem.api.caller import SpaceCaller
from tiermem.api.requests import Attribution, Filters, Says, spelled_out
from tiermem.api.storing import store_one_turn
from tiermem.dialogue.metadata import importance_in
from tiermem.errors import CallbackFailed, InvalidInput, UnknownId, shown
from tiermem.index.values import About
from tiermem.ledger import Tier1
from tiermem.llm.tokens import token_counter
from tiermem.model import Evidence, SummaryUnit
from tiermem.reading import (
    Context,
    Kind,
    KnownEvidence,
    Packing,
    Recollection,
    Strategy,
    assemble,
    shown_alone,
    turn_from_parts,
    unit_evidence,
)
from tiermem.runtime.background import Background
from tiermem.runtime.calls import Calls, cancel_on_close, finish_on_close
from tiermem.runtime.shared_components import SharedComponents
from tiermem.workspace import ActiveSet, Admitted, Item, Order

if TYPE_CHECKING:
    from tiermem.api.memory import AsyncMemory

_P = ParamSpec("_P")
_T = TypeVar("_T")

TimeframeLike = str | date | tuple[object, object] | list[object] | None
"""When: words, a day, a pair (from, to), a list of these, or `"auto"`."""


OnEvicted = Callable[[tuple[Item, ...]], None]
"""Called with the items that left for want of room."""


class WorkspaceView:
    """What is held, and what can be asked of it without asking memory. Safe to use from several threads."""

    _active: ActiveSet
    _session: SessionId
    _on_evicted: OnEvicted | None

    def __len__(self) -> int:
        return len(self._active)

    def __contains__(self, key: object) -> bool:
        return key in self._active

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} of session {self._session!r}: {len(self)} items, "
            f"{self.tokens:,} of {self.max_tokens:,} tokens>"
        )

    @property
    def session(self) -> SessionId:
        """The session in which words that are added are said."""
        return self._session

    @property
    def policy(self) -> str:
        """By which policy items give way."""
        return self._active.policy.name

    @property
    def max_tokens(self) -> int:
        """What the items may take together."""
        return self._active.max_tokens

    @property
    def tokens(self) -> int:
        """What the items take together."""
        return self._active.tokens

    @property
    def utilisation(self) -> float:
        """The share of the budget that is taken, 0 to 1."""
        return self._active.utilisation

    @property
    def items(self) -> tuple[Item, ...]:
        """All of them in the order of their use, the newest last."""
        return self._active.items

    def has_space(self, tokens: int) -> bool:
        """Whether so many tokens fit in without anybody leaving."""
        return self._active.has_space(arguments.whole(tokens, "tokens"))

    def get(self, key: str) -> Item | None:
        """The item, used now once more; `None` where it is not held."""
        return self._active.get(arguments.key(key))

    def pin(self, key: str, pinned: bool = True) -> Item | None:
        """Let an item stay whatever comes, or no longer; `None` where it is not held."""
        return self._active.pin(arguments.key(key), arguments.switch(pinned, "pinned"))

    def remove(self, key: str) -> Item | None:
        """Take an item out of mind and give it; it stays in memory. `None` where it is not held."""
        return self._active.remove(arguments.key(key))

    def clear(self) -> None:
        """Take everything out of mind, what is pinned too; it stays in memory."""
        self._active.clear()

    def resize(self, max_tokens: int) -> tuple[Item, ...]:
        """Change the budget and give who had to leave; `InvalidInput` where what is pinned takes more."""
        most = arguments.max_tokens(max_tokens)
        try:
            return self._after(self._active.resize(most))
        except ValueError as error:
            raise InvalidInput(f"max_tokens: {error}; unpin some of it first") from error

    def _after(self, result: _T) -> _T:
        """What a call gives, once `on_evicted` was called with the items that left in it."""
        evicted: tuple[Item, ...] = result if isinstance(result, tuple) else getattr(result, "evicted", ())
        if evicted and self._on_evicted is not None:
            try:
                self._on_evicted(evicted)
            except Exception as error:
                message = (
                    f"on_evicted raised {error!r}; what was asked for is done, and is the `result` of this"
                )
                raise CallbackFailed(message, result) from error
        return result


class AsyncWorkspace(WorkspaceView):
    """What is held in mind of one memory. Get it with `AsyncMemory.workspace`."""

    def __init__(
        self,
        memory: AsyncMemory,
        *,
        caller: SpaceCaller,
        background: Background,
        calls: Calls,
        active: ActiveSet,
        session: SessionId,
        on_evicted: OnEvicted | None,
    ) -> None:
        """Use `AsyncMemory.workspace`. Its calls end with those of the memory."""
        self._on_evicted = on_evicted
        self._memory = memory
        self._caller = caller
        self._background = background
        self._lock = caller.opened.lock
        self.opened = caller.opened
        """The open parts of the space, by which a memory knows its workspaces."""
        self._calls = calls
        self._active = active
        self._session = session
        self._named: dict[str, str] = {}
        """What callers call things, by the key that memory knows them by."""
        self._keys: dict[str, str] = {}
        """The key of what bears a name, by that name."""
        self._checked: tuple[Tier1, int] | None = None

    async def _catch_up(self) -> None:
        await self._background.catch_up()

    @finish_on_close
    @spelled_out(Attribution)
    async def add(
        self,
        what: Says | Evidence | SummaryUnit,
        *,
        key: str | None = None,
        pinned: bool = False,
        sources: Context | Iterable[Evidence | str] | None = None,
        **said: Unpack[Attribution],
    ) -> Admitted:
        """Hold what is said, which is stored as `memory.add` stores it, or what was found.

        Words are a text (with `speaker`), a `Turn` or a message, one at a time; what was found is an
        `Evidence` or a unit. Who has to leave for it leaves, as the policy says. Where there can be no room
        for it, it is stored and not held: `Admitted` says so. Under a `key` of yours it takes the place of
        what was held under it. `importance` runs from 0 to 1; by default it is 0.5 of words, and of
        a unit its own. What is `pinned` stays until you say otherwise. Raises `UnknownId` for what this
        memory does not hold.
        """
        hold = partial(
            self._hold,
            named=arguments.any_key(key),
            importance=importance_in(said.get("importance")),
            pinned=arguments.switch(pinned, "pinned"),
        )
        if isinstance(what, Evidence | SummaryUnit):
            if said.keys() - {"importance"} or sources is not None:
                raise InvalidInput("what was found says itself who said it, and when: give no attribution")
            return await self._looked_up(
                what if isinstance(what, Evidence) else unit_evidence(what, score=1.0), hold
            )
        if isinstance(what, Sequence | Set | Iterator) and not isinstance(what, str):
            raise InvalidInput(f"what must be one thing that was said or found, not {shown(what)}")
        seq = await store_one_turn(self._caller, self._background, what, self._session, said, sources=sources)
        if seq is None:  # words that were erased before, or none
            return Admitted(admitted=False)
        return await self._looked_up(seq, hold)

    @cancel_on_close
    @spelled_out(Filters)
    async def recall(
        self,
        topic: str,
        *,
        limit: int = 20,
        kind: Kind = "any",
        strategy: Strategy = "hybrid",
        timeframe: TimeframeLike = None,
        about: About = "said",
        **only: Unpack[Filters],
    ) -> Recollection:
        """Search memory and hold what is found, what had left for want of room too; as `memory.recall`.

        What is held already is used once more.
        """
        return await self._memory.recall(
            topic,
            limit=limit,
            kind=kind,
            strategy=strategy,
            timeframe=timeframe,
            about=about,
            into=self,
            **only,
        )

    @cancel_on_close
    async def context(
        self, order: Order = "balanced", *, max_tokens: int | None = None, packing: Packing = "skip"
    ) -> Context:
        """What is held as numbered sources for a prompt, fenced as data, in at most `max_tokens`.

        `order` is `"recent"` (used last comes first), `"important"` or `"balanced"` (importance that halves
        in an hour). What does not fit is passed over, or with `packing="stop"` the end of it. Nothing is used
        by being shown.
        """
        order, packing = arguments.order(order), arguments.packing(packing)
        most = self.max_tokens if max_tokens is None else arguments.max_tokens(max_tokens)
        async with self._lock.shared():
            await self.drop_revoked_items()
        shown = (item.evidence() for item in self._active.ordered_items(order))
        return assemble(shown, max_tokens=most, count=token_counter().count, packing=packing)

    async def drop_revoked_items(self) -> None:
        """Drop what memory no longer holds, or holds otherwise; quick where nothing changed since."""
        tier1 = self._caller.components.ledger.tier1
        head, items = tier1.head, self._active.items  # what changes from here on is looked at the next time
        if self._checked is not None and self._checked[0] is tier1 and self._checked[1] == head:
            return
        there = await self._look_up([item.evidence() for item in items])
        going = {(item.key, item.text) for item, at in zip(items, there, strict=True) if at is None}
        self._active.remove_those(lambda item: (item.key, item.text) in going)
        self._checked = (tier1, head)

    async def hold_all(self, recollection: Recollection) -> Recollection:
        """Hold what a search brought, the best of it as the newest, and say who left for it."""
        evicted: list[Item] = []
        refused: list[Evidence] = []
        async with self._lock.shared():
            found = {at.key: (one, at) for one, at in reversed(await self._whole(recollection.items))}
            for key, (evidence, at) in found.items():
                if self._active.get(self._named.get(key, key)) is not None:
                    continue
                admitted = self._hold(evidence, at, named=self._named.get(key), from_recall=True)
                evicted += admitted.evicted
                if not admitted.admitted:
                    refused.append(evidence)
        return self._after(replace(recollection, evicted=tuple(evicted), refused=tuple(reversed(refused))))

    async def _looked_up(
        self, what: Evidence | int, hold: Callable[[Evidence, KnownEvidence], Admitted]
    ) -> Admitted:
        """What comes of holding evidence, or a turn by its record, once memory says that it is so."""
        async with self._lock.shared():
            evidence = what if isinstance(what, Evidence) else await self._evidence(what)
            found = await self._whole([evidence])
            if not found:
                raise UnknownId(
                    f"space {self._memory.space!r} does not hold {shown(evidence.text)} so, in these words "
                    "where it says that they stand, of that time: search for it again"
                )
            admitted = hold(*found[0])
        return self._after(admitted)

    async def _whole(self, items: Sequence[Evidence]) -> list[tuple[Evidence, KnownEvidence]]:
        """What memory holds of these, with what it knows of it: of a part of a turn the whole turn."""
        found: list[tuple[Evidence, KnownEvidence]] = []
        for evidence, at in zip(items, await self._look_up(items), strict=True):
            if at is not None and at.part_of is not None:
                whole = await self._evidence(at.part_of)
                (known,) = await self._look_up([whole])
                found.append((evidence, at) if known is None else (whole, known))
            elif at is not None:
                found.append((evidence, at))
        return found

    def _hold(
        self,
        evidence: Evidence,
        at: KnownEvidence,
        *,
        named: str | None,
        importance: float | None = None,
        pinned: bool = False,
        from_recall: bool = False,
    ) -> Admitted:
        admitted = self._active.add(
            Item(
                key=named if named is not None else at.key,
                text=evidence.text,
                tokens=token_counter().count(shown_alone(evidence)),
                importance=at.importance if importance is None else importance,
                from_recall=from_recall,
                pinned=pinned,
                spans=evidence.spans,
                source=evidence.source,
                quote=evidence.quote,
                unit_id=evidence.unit_id,
                trust=at.trust,
                said_at=evidence.said_at,
                event_at=evidence.event_at,
            )
        )
        if named is not None and admitted.admitted:
            before = self._keys.get(named)
            if before is not None and self._named.get(before) == named:
                del self._named[before]
            self._named[at.key], self._keys[named] = named, at.key
        return admitted

    async def _look_up(self, items: Sequence[Evidence]) -> tuple[KnownEvidence | None, ...]:
        return await self._caller.reader.look_up(items)

    async def _evidence(self, seq: int) -> Evidence:
        """The turn that begins with this record, as it is in memory."""
        placed: list[tuple[Page, PageLine]] = []
        while not placed or len(placed) < placed[0][1].parts:
            placed.append(await self._place(seq + len(placed)))
        return turn_from_parts(placed)

    async def _place(self, seq: int) -> tuple[Page, PageLine]:
        ledger = self._caller.components.ledger
        ids = await ledger.locate_turns([seq])
        read = await ledger.read([page_id for page_id in ids if page_id is not None])
        pages = (page for page in read if isinstance(page, Page))
        found = next(((page, line) for page in pages for line in page.lines if line.seq == seq), None)
        if found is None:
            raise UnknownId(f"space {self._memory.space!r} has no turn {seq} that can be read")
        return found


def _blocking(
    method: Callable[Concatenate[AsyncWorkspace, _P], Awaitable[_T]],
) -> Callable[Concatenate[Workspace, _P], _T]:
    """The same method, with the same words and signature, for code that does not await."""

    @wraps(method)
    def call(self: Workspace, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        result: _T = self._call(partial(method, self.awaited, *args, **kwargs))
        return self._after(result)

    call.__qualname__ = f"Workspace.{method.__name__}"
    return call


class Workspace(WorkspaceView):
    """What is held in mind of one memory, for code that does not await. Get it with `Memory.workspace`."""

    def __init__(
        self,
        awaited: AsyncWorkspace,
        call: Callable[[Callable[[], Awaitable[Any]]], Any],
        on_evicted: OnEvicted | None,
    ) -> None:
        """Use `Memory.workspace`."""
        self.awaited = awaited
        self._on_evicted = on_evicted
        self._active = awaited._active  # noqa: SLF001
        self._session = awaited.session
        self._call = call

    add = _blocking(AsyncWorkspace.add)
    recall = _blocking(AsyncWorkspace.recall)
    context = _blocking(AsyncWorkspace.context)


def as_async_workspace(into: object, opened: SharedComponents) -> AsyncWorkspace | None:
    """The workspace into which something is recalled, of this memory; `None` for none."""
    found = into.awaited if isinstance(into, Workspace) else into
    if found is None:
        return None
    if not isinstance(found, AsyncWorkspace):
        raise InvalidInput(f"into must be a workspace of this memory, not {shown(into)}")
    if found.opened is not opened:
        raise InvalidInput(
            f"into must be a workspace of this memory, and this is one of another: {shown(into)}"
        )
    return found

"""`AsyncMemory` for code that does not await: same methods, no logic of its own.

Each memory has one background event loop; calls from many threads run on it side by side.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Condition
from types import TracebackType
from typing import IO, ParamSpec, Self, TypeVar, Unpack
from weakref import finalize

from pagestore import Checkpoint, GrowthProof, Page, SpaceId, Store, VerifyReport
from pagestore.bundle import Bundle
from tiermem.api import arguments
from tiermem.api.memory import AsyncMemory, Says, opened_as
from tiermem.api.requests import Attribution, Filters, Overrides, spelled_out
from tiermem.api.residual import ResidualScan
from tiermem.api.results import Added, BackedUp, Exported, Flushed, Receipt, Reindexed
from tiermem.api.stats import Stats
from tiermem.dialogue import TimeLike
from tiermem.errors import MemoryClosed
from tiermem.index.interface import Collection
from tiermem.ledger import AnswerInfo, Redistilled
from tiermem.model import (
    Answer,
    AskMode,
    Budget,
    Evidence,
    MarkedPage,
    MarkedPageInfo,
    SummaryUnit,
    WriteBack,
)
from tiermem.reading import Audit, Context, OmissionReport, Replay, Standpoint
from tiermem.reasoning import Engine
from tiermem.runtime.calls import CLOSED
from tiermem.runtime.components import EngineName
from tiermem.runtime.loop import Loop, SharedLoops
from tiermem.runtime.opened import end_all
from tiermem.settings import Settings
from tiermem.writing import Progress, Remembered, Restored, Withdrawn

_P = ParamSpec("_P")
_T = TypeVar("_T")


_FORKED = (
    "this memory was opened by the process that this one was forked from, and works there alone: "
    "open it in this process (a space can be open for writing in one of them)"
)


_loops = SharedLoops()


def _close_what_is_open() -> None:
    """Close what was never closed, when the program ends."""
    with ExitStack() as each:
        for loop in _loops.all():
            each.callback(loop.call, end_all)


class Memory:
    """One space's memory, for code that does not await. Open it with `tiermem.open`.

    One that is still open when the program ends is closed then. A process forked from the one that opened it
    cannot use it: every call is `MemoryClosed` there, and closing it does nothing.
    """

    def __init__(self, awaited: AsyncMemory, loop: Loop, key: Hashable, user: object) -> None:
        """Use `Memory.open`."""
        self._async = awaited
        self._loop = loop
        self._let_go = partial(_loops.let_go, key, user, end_all)
        self._closed = False
        self._inside = 0
        self._changed = Condition()
        self._process = os.getpid()
        finalize(self, _loops.forget, key, user).atexit = False

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        space: str = "default",
        engine: EngineName | Engine = "auto",
        read_only: bool = False,
        create: bool = True,
        reindex: bool = False,
        settings: Settings | None = None,
        **overrides: Unpack[Overrides],
    ) -> Memory:
        """See `AsyncMemory.open`."""
        opening = arguments.opening(
            path,
            space=space,
            engine=engine,
            read_only=read_only,
            create=create,
            reindex=reindex,
            settings=settings,
            overrides=overrides,
        )
        user = object()
        key = opening.shared_as or user
        loop = _loops.take(key, user)
        try:
            memory = cls(loop.call(partial(opened_as, opening)), loop, key, user)
        except BaseException:
            _loops.let_go(key, user, end_all)
            raise
        # Anew each time: what is registered last is called first, before what was imported to open it ends.
        atexit.unregister(_close_what_is_open)
        atexit.register(_close_what_is_open)
        return memory

    def __repr__(self) -> str:
        return repr(self._async).replace("<Async", "<", 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def space(self) -> SpaceId:
        """See `AsyncMemory.space`."""
        return self._async.space

    @property
    def engine(self) -> str:
        """See `AsyncMemory.engine`."""
        return self._async.engine

    @spelled_out(Attribution)
    def add(
        self,
        turns: Says | Iterable[Says],
        *,
        session: str = "main",
        **said: Unpack[Attribution],
    ) -> Added:
        """See `AsyncMemory.add`."""
        return self._call(
            self._async.add,
            turns,
            session=session,
            **said,
        )

    def flush(self, session: str | None = None, *, progress: Progress | None = None) -> Flushed:
        """See `AsyncMemory.flush`."""
        return self._call(self._async.flush, session, progress=progress)

    def index_pending(self, *, progress: Progress | None = None) -> Flushed:
        """See `AsyncMemory.index_pending`."""
        return self._call(self._async.index_pending, progress=progress)

    @spelled_out(Filters)
    def ask(
        self,
        question: str,
        *,
        as_of: TimeLike | None = None,
        budget: Budget | Mapping[str, float] | None = None,
        mode: AskMode = "router",
        **only: Unpack[Filters],
    ) -> Answer:
        """See `AsyncMemory.ask`."""
        return self._call(
            self._async.ask,
            question,
            as_of=as_of,
            budget=budget,
            mode=mode,
            **only,
        )

    @spelled_out(Filters)
    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        kind: Collection = "units",
        **only: Unpack[Filters],
    ) -> tuple[Evidence, ...]:
        """See `AsyncMemory.search`."""
        return self._call(
            self._async.search,
            query,
            limit=limit,
            kind=kind,
            **only,
        )

    @spelled_out(Filters)
    def context(
        self,
        question: str,
        *,
        max_tokens: int = 1000,
        **only: Unpack[Filters],
    ) -> Context:
        """See `AsyncMemory.context`."""
        return self._call(
            self._async.context,
            question,
            max_tokens=max_tokens,
            **only,
        )

    def audit(self, answer_id: str) -> Audit:
        """See `AsyncMemory.audit`."""
        return self._call(self._async.audit, answer_id)

    def answers(self) -> tuple[AnswerInfo, ...]:
        """See `AsyncMemory.answers`."""
        return self._call(self._async.answers)

    def page(self, page_id: str) -> MarkedPage:
        """See `AsyncMemory.page`."""
        return self._call(self._async.page, page_id)

    def pages(self, session: str | None = None) -> Sequence[MarkedPageInfo]:
        """See `AsyncMemory.pages`."""
        return self._call(self._async.pages, session)

    def open_pages(self, session: str | None = None) -> tuple[Page, ...]:
        """See `AsyncMemory.open_pages`."""
        return self._call(self._async.open_pages, session)

    def units(self, session: str | None = None, *, as_of: TimeLike | None = None) -> tuple[SummaryUnit, ...]:
        """See `AsyncMemory.units`."""
        return self._call(self._async.units, session, as_of=as_of)

    def get(self, id: str) -> SummaryUnit | MarkedPage | Answer:  # noqa: A002  (the name people use)
        """See `AsyncMemory.get`."""
        return self._call(self._async.get, id)

    def apply_findings(self) -> tuple[WriteBack, ...]:
        """See `AsyncMemory.apply_findings`."""
        return self._call(self._async.apply_findings)

    def reindex(self) -> Reindexed:
        """See `AsyncMemory.reindex`."""
        return self._call(self._async.reindex)

    def checkpoint(self) -> Checkpoint:
        """See `AsyncMemory.checkpoint`."""
        return self._call(self._async.checkpoint)

    def verify(self, checkpoint: Checkpoint | None = None) -> VerifyReport:
        """See `AsyncMemory.verify`."""
        return self._call(self._async.verify, checkpoint)

    def bundle(
        self, answer_id: str, *, checkpoint: Checkpoint | None = None, whole_pages: bool = False
    ) -> Bundle:
        """See `AsyncMemory.bundle`."""
        return self._call(self._async.bundle, answer_id, checkpoint=checkpoint, whole_pages=whole_pages)

    def backup(
        self,
        to: str | Path,
        *,
        all_spaces: bool = False,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> BackedUp:
        """See `AsyncMemory.backup`."""
        return self._call(self._async.backup, to, all_spaces=all_spaces, replace=replace, progress=progress)

    def export(
        self,
        to: str | Path | IO[bytes],
        *,
        session: str | None = None,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> Exported:
        """See `AsyncMemory.export`."""
        return self._call(self._async.export, to, session=session, replace=replace, progress=progress)

    def prove_growth(self, old: Checkpoint, new: Checkpoint | None = None) -> GrowthProof:
        """See `AsyncMemory.prove_growth`."""
        return self._call(self._async.prove_growth, old, new)

    def replay(self, answer_id: str, *, rerun: bool = False) -> Replay:
        """See `AsyncMemory.replay`."""
        return self._call(self._async.replay, answer_id, rerun=rerun)

    def omissions(self, page: str | None = None, *, session: str | None = None) -> OmissionReport:
        """See `AsyncMemory.omissions`."""
        return self._call(self._async.omissions, page, session=session)

    def redistil(self, page_id: str) -> Redistilled:
        """See `AsyncMemory.redistil`."""
        return self._call(self._async.redistil, page_id)

    def withdraw(self, unit_id: str, *, reason: str) -> Withdrawn:
        """See `AsyncMemory.withdraw`."""
        return self._call(self._async.withdraw, unit_id, reason=reason)

    def restore(self, unit_id: str, *, reason: str) -> Restored:
        """See `AsyncMemory.restore`."""
        return self._call(self._async.restore, unit_id, reason=reason)

    @spelled_out(Attribution)
    def remember(
        self,
        fact: str,
        *,
        session: str = "main",
        **said: Unpack[Attribution],
    ) -> Remembered:
        """See `AsyncMemory.remember`."""
        return self._call(
            self._async.remember,
            fact,
            session=session,
            **said,
        )

    @spelled_out(Attribution)
    def correct(
        self,
        unit_id: str,
        text: str,
        *,
        session: str | None = None,
        **said: Unpack[Attribution],
    ) -> Remembered:
        """See `AsyncMemory.correct`."""
        return self._call(
            self._async.correct,
            unit_id,
            text,
            session=session,
            **said,
        )

    def trail(self, unit_id: str) -> tuple[Standpoint, ...]:
        """See `AsyncMemory.trail`."""
        return self._call(self._async.trail, unit_id)

    history = trail

    def erase(
        self,
        *,
        turn: int | str | None = None,
        page: str | None = None,
        session: str | None = None,
        space: bool = False,
        reason: str,
    ) -> Receipt:
        """See `AsyncMemory.erase`."""
        return self._call(
            self._async.erase, turn=turn, page=page, session=session, space=space, reason=reason
        )

    delete = erase

    def residual_scan(self, words: Sequence[str]) -> ResidualScan:
        """See `AsyncMemory.residual_scan`."""
        return self._call(self._async.residual_scan, words)

    def stats(self) -> Stats:
        """See `AsyncMemory.stats`."""
        return self._call(self._async.stats)

    def close(self) -> None:
        """See `AsyncMemory.close`."""
        if self._process != os.getpid():
            return
        with self._changed:
            if self._closed:
                return
            self._closed = True
        try:
            self._loop.call(self._async.close)
        finally:
            with self._changed:
                # A call that the loop takes no more would wait for ever.
                self._changed.wait_for(lambda: not self._inside)
            self._let_go()

    def _call(self, method: Callable[_P, Awaitable[_T]], /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        if self._process != os.getpid():
            raise MemoryClosed(_FORKED)
        with self._changed:
            if self._closed:
                raise MemoryClosed(CLOSED)
            self._inside += 1
        try:
            return self._loop.call(partial(method, *args, **kwargs))
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()


def _as_awaited() -> None:
    """Give each method the words of its awaited twin, for `help` and editors."""
    for name, own in vars(Memory).items():
        if (own.__doc__ or "").startswith("See `AsyncMemory."):
            own.__doc__ = getattr(AsyncMemory, name).__doc__


_as_awaited()

open = Memory.open  # noqa: A001  (users write `tiermem.open`)


def spaces(path: str | Path) -> tuple[str, ...]:
    """The spaces of the store in directory `path`; raises `NotAStore` when it is none."""
    return tuple(Store(arguments.place(path, "path"), read_only=True).spaces())

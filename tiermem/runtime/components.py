"""What one open memory works with, and how it was to be opened: values that are set once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pagestore import SpaceId
from pagestore.files import possible_path
from tiermem.embedding import Embedder
from tiermem.index.interface import Index
from tiermem.ledger import Ledger
from tiermem.llm import LanguageModel
from tiermem.llm.meter import Meter, paid_by, require_prices
from tiermem.reading import Reader, Reranker
from tiermem.reasoning import Engine
from tiermem.runtime.daily import DailyMeter
from tiermem.settings import Settings
from tiermem.storage import IN_MEMORY, SpaceStore, StorePlace
from tiermem.writing import Consolidator, Writer

EngineName = Literal["auto", "local", "model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Ready-made parts a caller brings along, in place of what the settings would make."""

    model: LanguageModel | None = None
    embedder: Embedder | None = None
    index: Index | None = None
    reranker: Reranker | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a memory is to be opened: what was asked for, all of it checked."""

    place: StorePlace
    space: SpaceId
    engine: EngineName | Engine
    read_only: bool
    create: bool
    reindex: bool
    settings: Settings
    parts: Parts

    @property
    def directory(self) -> Path | None:
        """The directory of the store; `None` for a memory in a database or of this process alone."""
        return self.place.directory

    @property
    def is_in_memory(self) -> bool:
        """Whether the memory ends with the process."""
        return self.place.shown == IN_MEMORY

    @property
    def shared_as(self) -> tuple[str, str] | None:
        """What a space is known by that memories of one process share; `None` for one that they do not."""
        if self.read_only or self.is_in_memory:
            return None
        shown = self.place.shown
        return shown if self.directory is None else os.path.realpath(possible_path(shown)), self.space

    @property
    def reasons(self) -> EngineName | Engine:
        """The engine asked for, with "auto" settled."""
        if self.engine != "auto":
            return self.engine
        return "local" if self.settings.model is None and self.parts.model is None else "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """What one open memory works with."""

    opening: Opening
    store: SpaceStore | None
    """Where the log is kept; `None` for a memory that ends with the process."""
    ledger: Ledger
    index: Index
    embedder: Embedder
    engine: Engine
    writer: Writer
    consolidator: Consolidator
    reader: Reader
    closing: AsyncExitStack
    model: LanguageModel | None
    meter: DailyMeter
    """Pays for everything this opening does, and holds the space to its daily limits."""
    scratch: Callable[[], Index]
    """Makes an empty index, for looking at a past state."""

    @property
    def settings(self) -> Settings:
        """What was chosen at opening."""
        return self.opening.settings

    @property
    def shares_all(self) -> bool:
        """Whether every unit is everybody's, whosever it is."""
        return self.settings.share == "semantic"

    @property
    def read_only(self) -> bool:
        """Whether nothing may be written."""
        return self.opening.read_only

    @property
    def directory(self) -> Path | None:
        """Where the store lies; `None` for a memory that ends with the process."""
        return self.opening.directory

    def clock(self) -> datetime:
        """Now, with its time zone."""
        return datetime.now(UTC).astimezone()

    @contextmanager
    def paying(self, meter: Meter) -> Iterator[Meter]:
        """Calls inside are paid by `meter`, and by the meter of this opening, whose limits hold too.

        Raises `InvalidInput` for a budget of cost where the price of a model is unknown.
        """
        if meter.budget.cost is not None and not self.engine.free:
            require_prices(self.model)
        meter.outer = self.meter
        with paid_by(meter):
            yield meter

    async def close(self) -> None:
        """Close everything, in the reverse order of opening."""
        await self.closing.aclose()

"""Every system by the name that `--systems` gives it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from eval.corpus import the_user
from eval.runner import Participant
from eval.systems.answering import Answering
from eval.systems.mem0 import Mem0
from eval.systems.ranking import Bm25System, Everything, Fused, Meaning, Stemmed
from eval.systems.tiermem import Mode, TierMem
from eval.types import CaseId, Retriever, System
from pagestore import TokenCounter
from tiermem.embedding.interface import Embedder
from tiermem.errors import InvalidInput
from tiermem.reasoning import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A way to read or write one TierMem memory. Variants that write alike share a `home`.

    `engine` makes the engine of this variant from that of the run, for the embedder.
    """

    mode: Mode = "router"
    turns_by: Literal["turns", "units"] = "turns"
    consolidates: bool = False
    home: str = "tiermem"
    given: Mapping[str, Any] = field(default_factory=dict)
    engine: Callable[[Engine, Embedder], Engine] | None = None

    @property
    def is_worded(self) -> bool:
        """Whether it answers only with an engine that words answers: it reads pages, or names a router."""
        return self.mode == "raw" or "router" in self.given


TIERMEM: Final[Mapping[str, Variant]] = {
    "tiermem": Variant(),
    "tiermem:units": Variant(turns_by="units"),
    "tiermem:consolidated": Variant(turns_by="units", consolidates=True, home="tiermem-consolidated"),
    "tiermem:summary": Variant(mode="summary", given={"recall_turns": 0}),
    "tiermem:recalled": Variant(mode="summary"),
    "tiermem:raw": Variant(mode="raw"),
    "tiermem:no-links": Variant(given={"links": False}),
    "tiermem:llm": Variant(given={"router": "llm"}),
    "tiermem:fused": Variant(given={"router": "fused"}),
    "tiermem:gate": Variant(given={"router": "gate"}),
    "tiermem:learned": Variant(given={"reranker": "learned"}),
    "tiermem:always": Variant(given={"router": "always"}),
    "tiermem:no-recall": Variant(home="tiermem-no-recall", given={"write_back_variant": "no-recall"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What all systems of a run have in common: embedder, engine (by case), token counter.

    `settings` go to every TierMem memory, and `adapt` makes its engine; `variants` are its systems by name.
    """

    embedder: Embedder
    engine: Callable[[CaseId], Engine]
    counter: TokenCounter
    settings: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Variant] = field(default_factory=lambda: TIERMEM)
    adapt: Callable[[Engine], Engine] | None = None


Make = Callable[[Setup, Path], Retriever]

RETRIEVERS: Final[Mapping[str, Make]] = {
    "bm25": lambda setup, _: Bm25System(setup.counter),
    "bm25:user": lambda setup, _: Bm25System(setup.counter, name="bm25:user", speaks=the_user),
    "dense": lambda setup, _: Meaning(setup.embedder, setup.counter),
    "dense:user": lambda setup, _: Meaning(setup.embedder, setup.counter, name="dense:user", speaks=the_user),
    "hybrid": lambda setup, _: Fused(Bm25System(setup.counter), Meaning(setup.embedder, setup.counter)),
    "hybrid:user": lambda setup, _: Fused(
        Bm25System(setup.counter, speaks=the_user),
        Meaning(setup.embedder, setup.counter, speaks=the_user),
        name="hybrid:user",
    ),
    "hybrid:stemmed": lambda setup, _: Stemmed(setup.embedder, setup.counter, name="hybrid:stemmed"),
    "full": lambda setup, _: Everything(setup.counter),
    "mem0": lambda setup, directory: Mem0(directory, setup.embedder, setup.counter),
}


def names(variants: Mapping[str, Variant] = TIERMEM) -> tuple[str, ...]:
    """Every system there is."""
    return (*variants, *RETRIEVERS)


def candidates(wanted: Sequence[str], setup: Setup) -> list[Participant]:
    """The systems of these names, in this order; `InvalidInput` names one that does not exist."""
    known = names(setup.variants)
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        raise InvalidInput(f"no system {', '.join(map(repr, unknown))}; there are: {', '.join(known)}")
    return [_candidate(name, setup) for name in dict.fromkeys(wanted)]


def _candidate(name: str, setup: Setup) -> Participant:
    if name in setup.variants:
        return Participant(name=name, home=setup.variants[name].home, open=_opening(name, setup))
    return Participant(name=name, home=name, open=_answering(RETRIEVERS[name], setup))


def _opening(name: str, setup: Setup) -> Callable[[CaseId, Path], Awaitable[System]]:
    async def opened(case: CaseId, directory: Path) -> System:
        return tiermem(name, setup, case, directory)

    return opened


def tiermem(name: str, setup: Setup, case: CaseId, directory: Path) -> TierMem:
    """The variant of this name over the memory of one case, not opened yet."""
    variant, engine = setup.variants[name], setup.engine(case)
    if setup.adapt is not None:
        engine = setup.adapt(engine)
    if variant.engine is not None:
        engine = variant.engine(engine, setup.embedder)
    given = {
        **_router(engine),
        **setup.settings,
        **variant.given,
        "embedder": setup.embedder,
        "engine": engine,
    }
    return TierMem(
        name=name,
        directory=directory,
        counter=setup.counter,
        mode=variant.mode,
        turns_by=variant.turns_by,
        consolidates=variant.consolidates,
        given=given,
    )


def _router(engine: Engine) -> dict[str, str]:
    """What `open` chooses for an engine of its own; nothing is routed where nothing is worded."""
    if engine.compose is None:
        return {}
    return {"router": "gate" if engine.free else "fused"}


def _answering(make: Make, setup: Setup) -> Callable[[CaseId, Path], Awaitable[System]]:
    async def opened(case: CaseId, directory: Path) -> System:
        return Answering(make(setup, directory), setup.engine(case), setup.counter)

    return opened

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
class Setup:
    """What all systems of a run have in common: embedder, engine (by case), token counter.

    `settings` go to every TierMem memory.
    """

    embedder: Embedder
    engine: Callable[[CaseId], Engine]
    counter: TokenCounter
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variant:
    """A way to read or write one TierMem memory. Variants that write alike share a `home`."""

    mode: Mode = "router"
    turns_by: Literal["turns", "units"] = "turns"
    consolidates: bool = False
    home: str = "tiermem"
    given: Mapping[str, Any] = field(default_factory=dict)


TIERMEM: Final[Mapping[str, _Variant]] = {
    "tiermem": _Variant(),
    "tiermem:units": _Variant(turns_by="units"),
    "tiermem:consolidated": _Variant(turns_by="units", consolidates=True, home="tiermem-consolidated"),
    "tiermem:summary": _Variant(mode="summary", given={"recall_turns": 0}),
    "tiermem:recalled": _Variant(mode="summary"),
    "tiermem:raw": _Variant(mode="raw"),
    "tiermem:no-links": _Variant(given={"links": False}),
    "tiermem:llm": _Variant(given={"router": "llm"}),
    "tiermem:fused": _Variant(given={"router": "fused"}),
    "tiermem:gate": _Variant(given={"router": "gate"}),
    "tiermem:nearest": _Variant(given={"router": "nearest"}),
    "tiermem:learned": _Variant(given={"reranker": "learned"}),
    "tiermem:entities": _Variant(given={"reranker": "entities"}),
    "tiermem:always": _Variant(given={"router": "always"}),
    "tiermem:no-recall": _Variant(home="tiermem-no-recall", given={"write_back_variant": "no-recall"}),
}

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


def names() -> tuple[str, ...]:
    """Every system there is."""
    return (*TIERMEM, *RETRIEVERS)


def candidates(wanted: Sequence[str], setup: Setup) -> list[Participant]:
    """The systems of these names, in this order; `InvalidInput` names one that does not exist."""
    unknown = [name for name in wanted if name not in names()]
    if unknown or not wanted:
        raise InvalidInput(f"no system {', '.join(map(repr, unknown))}; there are: {', '.join(names())}")
    return [_candidate(name, setup) for name in dict.fromkeys(wanted)]


def _candidate(name: str, setup: Setup) -> Participant:
    if name in TIERMEM:
        return Participant(name=name, home=TIERMEM[name].home, open=_opening(name, setup))
    return Participant(name=name, home=name, open=_answering(RETRIEVERS[name], setup))


def _opening(name: str, setup: Setup) -> Callable[[CaseId, Path], Awaitable[System]]:
    async def opened(case: CaseId, directory: Path) -> System:
        return tiermem(name, setup, case, directory)

    return opened


def tiermem(name: str, setup: Setup, case: CaseId, directory: Path) -> TierMem:
    """The variant of this name over the memory of one case, not opened yet."""
    variant, engine = TIERMEM[name], setup.engine(case)
    given = {
        "router": "gate" if engine.free else "fused",  # what `open` chooses for an engine of its own
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


def _answering(make: Make, setup: Setup) -> Callable[[CaseId, Path], Awaitable[System]]:
    async def opened(case: CaseId, directory: Path) -> System:
        return Answering(make(setup, directory), setup.engine(case), setup.counter)

    return opened

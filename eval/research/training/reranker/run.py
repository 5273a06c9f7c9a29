"""Fitting from end to end: find, judge, choose on halves A, tell of halves B."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eval.arrange import opened_embedder
from eval.options import Bits
from eval.progress import watching
from eval.research.reproduction import Reproduction
from eval.research.training.data.mix import DATASETS, checksum, halves
from eval.research.training.data.sources import SOURCES
from eval.research.training.reranker.fit import Sources, before_and_after, cost, fitted, skipped
from eval.research.training.reranker.judged import Judged, Judging, judge_all
from tiermem.embedding.weights import find_weights
from tiermem.errors import InvalidInput
from tiermem.llm.tokens import token_counter
from tiermem.reasoning.learned.factors import SHIPPED
from tiermem.reasoning.learned.graph import LearnedReader

SURE: Final = 4.0
"""The lead of a first turn from which the product has nothing judged (`ReadingOptions.sure_lead`)."""
_OPENING: Final = (
    "The ten turns that a search finds first, judged by the small reader: how far the best words of each "
    "lead “there is no answer”. The new order is by the score of the search and that lead times a weight, "
    "which was chosen on halves A of all conversations below, every source counting alike."
)


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """What the command asks for; `int8` are the sources that are embedded in eight bits."""

    data: Path
    out: Path
    reader: Path | None
    measure: tuple[str, ...]
    int8: tuple[str, ...]
    every: int = 1
    cache: Path | None = None
    command: str = ""


async def run(asked: Fitting) -> Reproduction:
    """The page; `out` holds every judged question, a file a source."""
    unknown = [name for name in (*asked.measure, *asked.int8) if name not in DATASETS]
    if unknown or not asked.measure:
        raise InvalidInput(f"no conversations {unknown}; there are: {', '.join(DATASETS)}")
    everything = {name: await _judged(asked, name) for name in asked.measure}
    parts = {name: _halves(asked, name, of) for name, of in everything.items()}
    both: Mapping[str, Sources] = {
        half: {name: part[half] for name, part in parts.items()} for half in ("A", "B")
    }
    weight = fitted(both["A"])
    return Reproduction(
        title="Turns judged by the reader",
        opening=_OPENING,
        command=asked.command,
        data={name: checksum(asked.data, name) for name in asked.measure},
        tables=(before_and_after(both, weight, SURE), skipped(both["A"], weight), cost(everything)),
        claims=(),
        numbers={"weight": weight, "sure": SURE},
    )


async def _judged(asked: Fitting, name: str) -> Sequence[Judged]:
    raw = (asked.reader or SHIPPED).read_bytes()
    dataset = DATASETS[name](asked.data / SOURCES[name].files[0])
    precision: Bits = "int8" if name in asked.int8 else "fp32"
    with opened_embedder(precision, 1, asked.cache) as embedder, watching() as watcher:
        by = Judging(
            reader=LearnedReader(find_weights(None), raw),
            named=hashlib.sha256(raw).hexdigest(),
            embedder=embedder,
            counter=token_counter(),
            every=asked.every,
        )
        return await judge_all(dataset, asked.out / f"{name}.jsonl", by, watcher)


def _halves(asked: Fitting, name: str, judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    cases = list(DATASETS[name](asked.data / SOURCES[name].files[0]).cases())
    groups, part_of = halves(name, cases)
    second = {case.id for case in cases if part_of[groups[case.id]] == "test"}
    return {
        "A": [one for one in judged if one.case not in second],
        "B": [one for one in judged if one.case in second],
    }

"""All questions through all variants, one haystack after another: none is kept longer than it is needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.datasets import LongMemEval
from eval.research.memtier.haystacks import Haystack, haystack
from eval.research.memtier.measures import SCOPES, SESSIONS, Outcome, Pool, by_both, by_words, oracle, pool
from eval.research.memtier.score import fused
from eval.types import Dataset
from tiermem.embedding.interface import Embedder
from tiermem.errors import InvalidInput

Outcomes = Mapping[str, Sequence[Outcome]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedDataset:
    """What every variant found for every question, and the pools that weights can be tried on."""

    outcomes: Outcomes
    pools: tuple[Pool, ...]
    checksum: str


def scope_name(scope: int | None) -> str:
    """What a report calls a number of sessions."""
    return "all sessions" if scope is None else f"{scope} session{'s' * (scope > 1)}"


async def ask_all(dataset: Dataset, embedder: Embedder | None, *, variants: bool = True) -> AskedDataset:
    """Every question; without `variants` the pools alone. Without an embedder meaning is left out."""
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    pools = []
    for case in dataset.cases():
        hay = haystack(case)
        first = hay.first_stage()
        chosen = first[:SESSIONS]
        near = None if embedder is None else await _near(hay, hay.entries(chosen), embedder)
        pools.append(pool(hay, chosen, near))
        if variants:
            for scope in SCOPES:
                outcomes[scope_name(scope)].append(by_words(hay, first, scope))
            outcomes["oracle sessions"].append(oracle(hay))
            if embedder is not None:
                await _with_meaning(hay, first, pools[-1], embedder, outcomes)
    if not pools:
        raise InvalidInput("there is no question to ask in this file")
    return AskedDataset(outcomes=outcomes, pools=tuple(pools), checksum=dataset.checksum)


async def _with_meaning(
    hay: Haystack,
    first: list[int],
    of: Pool,
    embedder: Embedder,
    outcomes: Mapping[str, list[Outcome]],
) -> None:
    by_user = np.flatnonzero(hay.by_user)
    near = await _near(hay, by_user, embedder)
    both = fused(first, hay.best_sessions(near, by_user))
    outcomes["first stage fused"].append(by_words(hay, both, SESSIONS))
    outcomes["second stage fused"].append(by_both(hay, of, first[:SESSIONS]))


async def _near(hay: Haystack, places: Any, embedder: Embedder) -> Any:
    """The cosine of the question with some entries."""
    vectors = await embedder.embed([hay.question, *(hay.texts[at] for at in places)])
    matrix = np.array(vectors, np.float32)
    return matrix[1:] @ matrix[0]


async def ask_file(
    data: Path, *, meaning: bool, threads: int = 1, cache: Path | None = None, variants: bool = True
) -> AskedDataset:
    """Every question of a LongMemEval file; see `ask_all`."""
    dataset = LongMemEval(data)
    if not meaning:
        return await ask_all(dataset, None, variants=variants)
    from eval.arrange import opened_embedder

    with opened_embedder("int8", threads, cache) as embedder:
        return await ask_all(dataset, embedder, variants=variants)

"""How high the facts asked for come: every way of looking, over the same facts and the same questions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any, Final, Literal

import numpy as np

from eval.research.ear.facts import SCENARIOS, Scenario, facts_of
from eval.research.ear.logs import Log
from eval.research.ear.search import Corpus, Part, TierGate, entities, reciprocal, retrieve
from eval.research.ear.tiers import Policy, Tiers
from tiermem.embedding.interface import Embedder

PRINTED: Final = 0.84
"""The source's threshold: a cosine of E5-large."""
TAU: Final = 0.75
"""For all-MiniLM-L6-v2: no question of the first 100 of seed 41 is less near its own fact."""


Store = Policy | Literal["unbounded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to evict, or not to, and one to look; without a gate the first tier is all there is."""

    name: str
    store: Store
    gate: TierGate | None


def ways(tau: float) -> tuple[Way, ...]:
    """The source's modes as far as they need no cross-encoder, as its code has them and as its text."""
    replace, merge = TierGate(tau=tau), TierGate(tau=tau, fallback="merge")
    return (
        Way(name="no_ce", store="ear", gate=replace),
        Way(name="no_ce, merging", store="ear", gate=merge),
        Way(name="no_gate", store="ear", gate=None),
        Way(name="lru", store="lru", gate=replace),
        Way(name="lru, merging", store="lru", gate=merge),
        Way(name="oracle_unbounded", store="unbounded", gate=replace),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """Facts with their vectors, and the questions that are asked: key, vector, names in the question."""

    scenario: Scenario
    corpus: Corpus
    asked: Mapping[int, tuple[Any, frozenset[str]]]

    def stored(self, store: Store) -> tuple[Part, Part]:
        """What the two tiers hold once all is told."""
        if store == "unbounded":
            return self.corpus.part(()), self.corpus.part(self.corpus.places)
        tiers = Tiers(self.scenario.first, self.scenario.second, store)
        for key, importance in self.corpus.importance.items():
            tiers.add(key, importance)
        return self.corpus.part(list(tiers.first)), self.corpus.part(list(tiers.second))

    def rank(self, way: Way, stored: tuple[Part, Part], keys: Collection[int]) -> float:
        """The mean reciprocal rank of some facts, each asked for by its own question."""
        found = []
        for key in keys:
            query, names = self.asked[key]
            best = retrieve(self.corpus, *stored, query, names, gate=way.gate)
            found.append(reciprocal(best, key))
        return mean(found)


async def synthetic(scenario: Scenario, seed: int, embedder: Embedder) -> Claimed:
    """The facts of one seed, and the questions about its newest and its first."""
    facts = {fact.number: fact for fact in facts_of(scenario.facts, seed)}
    asked = [facts[key] for key in {*scenario.history, *scenario.active}]
    named = {fact.number: entities(fact.text) for fact in facts.values()}
    corpus = await _corpus(
        embedder,
        {key: fact.text for key, fact in facts.items()},
        named,
        {key: fact.importance for key, fact in facts.items()},
    )
    vectors = await _vectors(embedder, [fact.query for fact in asked])
    questions = {
        fact.number: (vector, entities(fact.query)) for fact, vector in zip(asked, vectors, strict=True)
    }
    return Claimed(scenario=scenario, corpus=corpus, asked=questions)


async def logged(log: Log, embedder: Embedder, *, own: bool) -> Claimed:
    """A log's lines and its questions; `own` lets gate and score know the log's own names."""
    lines = {line.number: line for line in log.lines}
    corpus = await _corpus(
        embedder,
        {key: line.text for key, line in lines.items()},
        {key: line.named(own=own) for key, line in lines.items()},
        {key: line.importance for key, line in lines.items()},
    )
    vectors = await _vectors(embedder, [lines[key].query for key in log.asked])
    questions = {
        key: (vector, lines[key].asked(own=own)) for key, vector in zip(log.asked, vectors, strict=True)
    }
    return Claimed(scenario=log.scenario, corpus=corpus, asked=questions)


async def _corpus(
    embedder: Embedder,
    texts: Mapping[int, str],
    named: Mapping[int, frozenset[str]],
    importance: Mapping[int, float],
) -> Corpus:
    return Corpus(
        vectors=await _vectors(embedder, list(texts.values())),
        places={key: at for at, key in enumerate(texts)},
        named=named,
        importance=importance,
    )


async def _vectors(embedder: Embedder, texts: Sequence[str]) -> Any:
    return np.array(await embedder.embed(texts), np.float32)


async def ranks_of_seeds(
    seeds: Sequence[int], embedder: Embedder
) -> dict[tuple[float, str], tuple[float, float]]:
    """Scenario B by threshold and way: the MRR of the newest and of the first facts, over the seeds."""
    scenario = SCENARIOS["B"]
    found: dict[tuple[float, str], list[tuple[float, float]]] = {}
    for seed in seeds:
        all_told = await synthetic(scenario, seed, embedder)
        stored = {way.store: all_told.stored(way.store) for way in ways(TAU)}
        for tau in (TAU, PRINTED):
            for way in ways(tau):
                ranked = [
                    all_told.rank(way, stored[way.store], keys)
                    for keys in (scenario.active, scenario.history)
                ]
                found.setdefault((tau, way.name), []).append((ranked[0], ranked[1]))
    return {
        key: (mean(active for active, _ in of), mean(history for _, history in of))
        for key, of in found.items()
    }


async def ranks_of_log(log: Log, embedder: Embedder) -> dict[tuple[bool, str], float]:
    """A log by whether its own names are known, and way: the MRR of its questions."""
    found = {}
    for own in (False, True):
        all_told = await logged(log, embedder, own=own)
        for way in ways(TAU):
            if way.gate is not None:
                found[own, way.name] = all_told.rank(way, all_told.stored(way.store), log.asked)
    return found

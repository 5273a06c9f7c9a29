"""How high the facts asked for come: every way of looking, over the same facts and the same questions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any, Final

import numpy as np

from eval.ear.facts import Scenario, told
from eval.ear.logs import Log
from eval.ear.search import Corpus, Gate, Mode, entities, reciprocal, retrieve
from eval.ear.tiers import Policy, Tiers
from tiermem.embedding.interface import Embedder

PRINTED: Final = 0.84
"""The source's threshold: a cosine of E5-large."""
TAU: Final = 0.74
"""For all-MiniLM-L6-v2: no question of 100 (facts of seed 42, scenario A) is less near its own fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to evict and to look; `source` is the mode of the paper it stands for."""

    name: str
    source: str
    policy: Policy
    mode: Mode
    gate: Gate


def ways(tau: float) -> tuple[Way, ...]:
    """The source's modes as far as they need no cross-encoder, and what its text says in place of its code."""
    replace, merge = Gate(tau=tau), Gate(tau=tau, fallback="merge")
    return (
        Way(name="no_ce", source="no_ce", policy="ear", mode="tiers", gate=replace),
        Way(name="no_ce, merging", source="no_ce", policy="ear", mode="tiers", gate=merge),
        Way(name="no_gate", source="no_gate", policy="ear", mode="no gate", gate=replace),
        Way(name="lru", source="lru", policy="lru", mode="tiers", gate=replace),
        Way(name="lru, merging", source="lru", policy="lru", mode="tiers", gate=merge),
        Way(name="unbounded", source="oracle_unbounded", policy="ear", mode="unbounded", gate=replace),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Facts with their vectors, and the questions that are asked: key, vector, names in the question."""

    scenario: Scenario
    corpus: Corpus
    asked: Mapping[int, tuple[Any, frozenset[str]]]

    def filled(self, policy: Policy) -> Tiers:
        """The tiers once all is told."""
        tiers = Tiers(self.scenario.first, self.scenario.second, policy)
        for key, importance in self.corpus.importance.items():
            tiers.add(key, importance)
        return tiers

    def rank(self, way: Way, tiers: Tiers, keys: Collection[int]) -> float:
        """The mean reciprocal rank of some facts, each asked for by its own question."""
        found = []
        for key in keys:
            query, names = self.asked[key]
            best = retrieve(self.corpus, tiers, query, names, mode=way.mode, gate=way.gate)
            found.append(reciprocal(best, key))
        return mean(found)


async def synthetic(scenario: Scenario, seed: int, embedder: Embedder) -> Told:
    """The facts of one seed, and the questions about its newest and its first."""
    facts = {fact.number: fact for fact in told(scenario.facts, seed)}
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
    return Told(scenario=scenario, corpus=corpus, asked=questions)


async def logged(log: Log, embedder: Embedder, *, own: bool) -> Told:
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
    return Told(scenario=log.scenario, corpus=corpus, asked=questions)


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

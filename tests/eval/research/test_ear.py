"""HTM-EAR's tiers give the source's figures to the digit; its gate and scores do what its code does."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.research.ear import page
from eval.research.ear.facts import SCENARIOS, SEEDS, Scenario, facts_of
from eval.research.ear.logs import PREDICTION, by_names_alone, read_log
from eval.research.ear.page import Survivals
from eval.research.ear.ranks import PRINTED, TAU, ranks_of_log, synthetic, ways
from eval.research.ear.search import Corpus, TierGate, reciprocal, retrieve, score
from eval.research.ear.survival import survival
from eval.research.ear.tiers import RANKS, Policy, Tiers
from tiermem.errors import InvalidInput


def test_a_fact_and_its_question_read_as_in_the_source() -> None:
    fact = facts_of(1, 42)[0]
    assert fact.text == "ENTRY 1: Auth-Svc in Region-20 logged Memory Overflow at Subsystem-1. Hex: 0x0001."
    assert fact.query == (
        "Retrieve the Hex Code for the Memory Overflow event in Region-20 involving Auth-Svc at Subsystem-1."
    )
    assert [fact.importance for fact in facts_of(10, 42)][-1] == 0.95


def test_a_tier_makes_room_when_it_is_full_and_then_for_fifteen_percent_at_once() -> None:
    tiers = Tiers(20, 100, "ear")
    for key in range(20):
        tiers.add(key, key % 2)
    assert len(tiers.second) == 0
    tiers.add(20, 0.0)
    assert list(tiers.second) == [0, 2, 4]
    assert (len(tiers.first), 20 in tiers.first) == (18, True)


def test_a_tier_of_one_gives_up_its_one_item() -> None:
    tiers = Tiers(1, 10, "ear")
    tiers.add(1, 1.0)
    tiers.add(2, 0.0)
    assert (list(tiers.first), list(tiers.second)) == ([2], [1])


def test_ten_uses_weigh_as_much_as_a_third_of_importance() -> None:
    tiers = Tiers(2, 10, "ear")
    tiers.add(1, 0.5)
    tiers.add(2, 0.8)
    for _ in range(11):
        tiers.use(1)
    tiers.add(3, 0.5)
    assert (list(tiers.first), list(tiers.second)) == ([1, 3], [2])


def test_a_use_is_counted_where_the_fact_lies_and_lru_heeds_it() -> None:
    tiers = Tiers(2, 10, "lru")
    tiers.add(1, 0.5)
    tiers.add(2, 0.5)
    tiers.use(1)
    tiers.add(3, 0.5)
    assert (list(tiers.first), list(tiers.second)) == ([1, 3], [2])
    tiers.use(2)
    assert (tiers.items[2].uses, tiers.items[1].uses) == (1, 1)


@given(
    importances=st.lists(st.sampled_from((0.5, 0.95)), max_size=80),
    first=st.integers(1, 12),
    second=st.integers(1, 12),
    policy=st.sampled_from(("ear", "lru")),
)
@settings(max_examples=40)
def test_every_fact_is_in_one_tier_or_deleted_and_no_tier_holds_more_than_it_may(
    importances: list[float], first: int, second: int, policy: Policy
) -> None:
    tiers = Tiers(first, second, policy)
    for key, importance in enumerate(importances):
        tiers.add(key, importance)
        assert len(tiers.first) <= first
        assert len(tiers.second) <= second
    assert sorted([*tiers.first, *tiers.second, *tiers.deleted]) == list(range(len(importances)))


@pytest.fixture(scope="module")
def survivals() -> Survivals:
    """Every scenario and policy; all five seeds where seeds tell something."""
    by_seed = {("B", "ear"), ("B", "lru"), ("A", "ear")}
    return {
        (name, policy): [
            survival(scenario, seed, policy) for seed in (SEEDS if (name, policy) in by_seed else SEEDS[:1])
        ]
        for name, scenario in SCENARIOS.items()
        for policy in RANKS
    }


def test_saturated_tiers_lose_what_the_source_says_they_lose(survivals: Survivals) -> None:
    """Scenario B, five seeds: every figure of the source that needs no embedder, and what they come from."""
    ear, lru = survivals["B", "ear"], survivals["B", "lru"]
    assert {(one.deleted, one.in_first, one.in_second) for one in [*ear, *lru]} == {(13 * 750, 450, 4_800)}
    assert [one.essential_lost for one in ear] == [0] * 5
    assert [one.essential_lost for one in lru] == [2_455, 2_403, 2_406, 2_420, 2_398]
    assert [round(one.active_in_first, 3) for one in ear] == [0.465, 0.396, 0.436, 0.436, 0.426]
    assert [one.active_in_first for one in lru] == [1.0] * 5
    assert {one.active_alive for one in [*ear, *lru]} == {1.0}
    assert [one.history_alive for one in ear] == [0.21, 0.20, 0.26, 0.25, 0.20]
    assert [one.history_alive for one in ear] == [one.history_essential for one in ear]
    assert [one.history_alive for one in lru] == [0.0] * 5
    assert [one.essential_in_first for one in ear] == [431, 432, 432, 435, 431]


@pytest.mark.parametrize(
    ("scenario", "policy", "active_in_first"),
    [("A", "ear", 0.446), ("A", "lru", 1.0), ("C", "ear", 1.0), ("C", "lru", 1.0)],
)
def test_tiers_that_are_large_enough_delete_nothing(
    survivals: Survivals, scenario: str, policy: Policy, active_in_first: float
) -> None:
    of = survivals[scenario, policy]
    assert {one.deleted for one in of} == {0}
    assert round(mean(one.active_in_first for one in of), 3) == active_in_first


NAMED = {1: frozenset({"subsystem-1"}), 2: frozenset({"subsystem-2", "0x0002"})}


@pytest.mark.parametrize(
    ("hits", "asked", "enough"),
    [
        ([], set(), False),
        ([], {"subsystem-1"}, False),
        ([(1, 0.84)], set(), True),
        ([(1, 0.84)], {"subsystem-1"}, True),
        ([(1, 0.84)], {"subsystem-1", "0x0002"}, False),
        ([(1, 0.83)], {"subsystem-1"}, False),
        ([(1, 0.83)], set(), False),
        ([(2, 0.99), (1, 0.90)], {"subsystem-1"}, False),
    ],
)
def test_the_gate_wants_one_that_is_near_and_names_all_that_is_asked(
    hits: list[tuple[int, float]], asked: set[str], enough: bool
) -> None:
    assert TierGate(tau=0.84).enough(hits, frozenset(asked), NAMED) is enough


def test_the_score_cubes_similarity_and_counts_names_nearly_as_much_as_a_whole_match() -> None:
    assert score(0.5, 0, 0.0) == 0.125
    assert score(1.0, 2, 0.95) == pytest.approx(1 + 1.6 + 0.095)


def corpus_of(*vectors: tuple[float, float]) -> Corpus:
    return Corpus(
        vectors=np.array(vectors, np.float32),
        places={number: number - 1 for number in range(1, len(vectors) + 1)},
        named={number: frozenset({f"subsystem-{number}"}) for number in range(1, len(vectors) + 1)},
        importance=dict.fromkeys(range(1, len(vectors) + 1), 0.5),
    )


def test_what_replaces_the_first_tier_loses_what_stood_there_and_what_is_merged_does_not() -> None:
    corpus = corpus_of((0.6, 0.8), (0.8, 0.6), (1.0, 0.0))
    first, second = corpus.part([2, 3]), corpus.part([1])
    query, asked = np.array((1.0, 0.0), np.float32), frozenset({"subsystem-2"})

    def found(gate: TierGate | None) -> list[int]:
        return retrieve(corpus, first, second, query, asked, gate=gate)

    assert found(TierGate(tau=0.5, fallback="replace")) == [1]
    assert found(TierGate(tau=0.5, fallback="merge")) == [2, 3, 1]
    assert found(None) == [2, 3]
    unbounded = retrieve(
        corpus, corpus.part([]), corpus.part([1, 2, 3]), query, asked, gate=TierGate(tau=0.5)
    )
    assert unbounded == [2, 3, 1]
    assert (reciprocal([2, 3, 1], 3), reciprocal([1], 2)) == (0.5, 0.0)


@pytest.mark.shared
def test_the_log_has_the_confounds_the_page_tells_of(shared: Path) -> None:
    log = read_log(shared / "data" / "bgl" / "BGL_2k.log")
    assert log.checksum.startswith("2a819ea5")
    assert len(log.lines) == 2_000 < log.scenario.first + log.scenario.second
    assert sum(line.importance > 0.9 for line in log.lines) == 488
    assert sum(not line.focus for line in log.lines) == 10
    assert sum(bool(line.asked(own=False)) for line in log.lines) == 73
    assert sum(bool(line.named(own=False)) for line in log.lines) == 110
    assert by_names_alone(log.lines, log.asked) == pytest.approx(0.582, abs=5e-4)


def test_a_log_that_is_too_short_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "short.log").write_text("one line\n")
    for file in ("short.log", "none.log"):
        with pytest.raises(InvalidInput, match=file):
            read_log(tmp_path / file)


class Words:
    """An embedder of nothing but words: fewer of them in common, less alike."""

    name, dimensions = "words", 64

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        vectors = []
        for text in texts:
            vector = np.zeros(self.dimensions)
            for word in text.split():
                vector[sum(word.encode()) % self.dimensions] += 1
            vectors.append((vector / np.linalg.norm(vector)).tolist())
        return vectors


@pytest.mark.anyio
async def test_without_the_gate_no_more_is_found_than_the_first_tier_holds() -> None:
    small = Scenario(name="small", facts=220, first=40, second=100)
    everything = await synthetic(small, 42, Words())
    by_name = {way.name: way for way in ways(0.5)}
    stored = {way.store: everything.stored(way.store) for way in by_name.values()}

    def rank(name: str) -> float:
        return everything.rank(by_name[name], stored[by_name[name].store], small.active)

    held = sum(key in stored["ear"][0].keys for key in small.active) / len(small.active)
    assert 0 < rank("no_gate") <= held < 0.7
    assert rank("no_gate") < rank("no_ce, merging") <= rank("oracle_unbounded") + 0.05


@pytest.mark.anyio
async def test_the_page_tells_what_was_ranked_what_was_predicted_and_what_was_not_measured(
    survivals: Survivals, tmp_path: Path
) -> None:
    (tmp_path / "log").write_text(
        "".join(
            f"- R{at % 7:02d}-M0 RAS KERNEL {'FATAL' if at % 5 else 'INFO'} core.{at}\n" for at in range(210)
        )
    )
    log = read_log(tmp_path / "log")
    ranks = {(tau, way.name): (1.0, 0.2) for tau in (TAU, PRINTED) for way in ways(tau)}
    found = page.found(
        survivals,
        command="python -m eval.research ear",
        ranks=ranks,
        seeds=(42,),
        log=log,
        log_ranks=await ranks_of_log(log, Words()),
    )
    verdicts = {claim.says: claim.verdict for claim in found.claims}
    assert verdicts["B: LRU deletes 2,416 essential facts on average"] == "agrees"
    assert verdicts["B: MRR of the newest facts, `lru`: 1.000"] == "agrees"
    assert verdicts["B: `no_gate` finds of the newest facts what the first tier holds"] == "differs"
    assert verdicts["“the most recent 100 facts” are asked for"] == "does not hold"
    assert sum(says.startswith("predicted here: ") for says in verdicts) == 3
    assert any(PREDICTION in table.notes for table in found.tables)
    nothing = page.found(survivals, command="", ranks={}, seeds=(), log=None, log_ranks={})
    assert len([one for one in nothing.claims if one.verdict == "not measured"]) == 4

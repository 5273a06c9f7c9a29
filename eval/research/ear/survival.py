"""What is left of a scenario once all of it is told: figures that need no embedder and are exact."""

from __future__ import annotations

from dataclasses import dataclass

from eval.research.ear.facts import Fact, Scenario, facts_of
from eval.research.ear.tiers import ESSENTIAL, Policy, Tiers


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival:
    """Where the facts of one scenario, seed and policy ended up. Shares are of the newest or first facts."""

    deleted: int
    essential_lost: int
    in_first: int
    in_second: int
    essential_in_first: int
    active_in_first: float
    active_alive: float
    history_alive: float
    history_essential: float


def filled(facts: list[Fact], scenario: Scenario, policy: Policy) -> Tiers:
    """The tiers after every fact was told once, in order, and none was used."""
    tiers = Tiers(scenario.first, scenario.second, policy)
    for fact in facts:
        tiers.add(fact.number, fact.importance)
    return tiers


def survival(scenario: Scenario, seed: int, policy: Policy) -> Survival:
    """Tell all facts of a seed and look at what is where."""
    facts = facts_of(scenario.facts, seed)
    tiers = filled(facts, scenario, policy)
    essential = {fact.number for fact in facts if fact.importance >= ESSENTIAL}
    active, history = scenario.active, scenario.history
    return Survival(
        deleted=len(tiers.deleted),
        essential_lost=tiers.essential_lost,
        in_first=len(tiers.first),
        in_second=len(tiers.second),
        essential_in_first=sum(key in essential for key in tiers.first),
        active_in_first=sum(key in tiers.first for key in active) / len(active),
        active_alive=sum(key not in tiers.deleted for key in active) / len(active),
        history_alive=sum(key not in tiers.deleted for key in history) / len(history),
        history_essential=sum(key in essential for key in history) / len(history),
    )

"""Rows on what is held in mind, and hot: nothing that left is lost, and no operation grows faster than a
logarithm.
"""

from __future__ import annotations

import math

from tests.api import test_hot_units as tiers
from tests.api.test_workspace import ACTIONS, live_one_life
from tests.torture.harness import Outcome, Row, Share
from tests.workspace.test_growth import LARGE, MOST, NAMES, SMALL, grown_by
from tiermem.workspace import POLICIES

STEPS = 12


def lives(share: Share) -> Outcome:
    """One memory and one workspace a case, under some policy: adding, recalling, erasing, sealing."""
    outcome, chance = Outcome(), share.chance()
    for _ in share.cases:
        life = [(chance.choice(ACTIONS), chance.randrange(8)) for _ in range(chance.randrange(1, STEPS))]
        policy = chance.choice(sorted(POLICIES.own))
        try:
            live_one_life(policy, life)
        except AssertionError as error:
            outcome.demand(False, f"{policy}: {error or 'something was lost, or held that was erased'}"[:200])
        outcome.seen["evicting policies " + policy] += 1
        outcome.count += 1
    return outcome


def hot_and_cold(share: Share) -> Outcome:
    """One memory on disk a case, whose index holds a few units: told, asked, erased from, opened again."""
    outcome, chance = Outcome(), share.chance()
    for _ in share.cases:
        steps = chance.randrange(1, 2 * STEPS)
        life = [(chance.choice(tiers.ACTIONS), chance.randrange(len(tiers.THINGS))) for _ in range(steps)]
        try:
            outcome.seen["units cold at the end"] += tiers.live_hot_and_cold(life)
        except AssertionError as error:
            outcome.demand(False, (str(error) or "something was lost, or found that was erased")[:200])
        outcome.count += 1
    return outcome


def growth(share: Share) -> Outcome:
    """An operation on a set of 1,000 items and on one of 100,000, under one policy a case."""
    outcome = Outcome()
    for name in (NAMES[case] for case in share.cases):
        factor = grown_by(name, SMALL, LARGE)
        outcome.demand(factor is None, f"{name} grows faster than the logarithm of its items")
        outcome.count += 1
    return outcome


ROWS = (
    Row(
        name="never-forget",
        failure="what left a workspace is lost, or what was erased is held",
        done="a memory and a small workspace under a policy live through adding, recalling, erasing and "
        "sealing; then all that was said and not erased is searched for, recalled and shown",
        unit="lives",
        count=10_000,
        share=50,
        minutes=40,
        work=lives,
    ),
    Row(
        name="hot-units",
        failure="what an index of few units has no room for is lost, or what was erased comes back hot",
        done="a memory on disk, its index limited to one to five units, lives through telling, asking, "
        "erasing, other limits and reopening; after each step all that was said and not erased is looked for",
        unit="lives",
        count=500,
        share=10,
        minutes=40,
        work=hot_and_cold,
    ),
    Row(
        name="workspace-growth",
        failure="a workspace slows down as it fills",
        done="items come, are used and leave, under each policy whose ranks do not age, in a set of 1,000 "
        f"and in one of 100,000: an operation may take {MOST:.0f} times as many steps, and bytes, where "
        f"the logarithm is {math.log(LARGE) / math.log(SMALL):.1f} times as large",
        unit="policies",
        count=len(NAMES),
        share=1,
        work=growth,
        fixed=True,
    ),
)

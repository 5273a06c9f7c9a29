"""A crash between any two steps loses nothing, doubles nothing and leaves nothing behind."""

import random
from collections import Counter

import pytest

from tests.writing.crashes import CONSOLIDATING, MUTANTS, REINDEXING, SCRIPT, TALKING, Trial, World, trial
from tiermem.writing import Writer

pytestmark = pytest.mark.local_only("crashes come between two writes to a file")
LIVES = 60
"""The rest of them is a row of `tests.torture`."""
LIVES_OF_A_MUTANT = 400


@pytest.mark.parametrize(
    "script",
    [SCRIPT, TALKING, REINDEXING, CONSOLIDATING],
    ids=["script", "talking", "reindexing", "consolidating"],
)
def test_a_life_without_crashes_leaves_no_damage(script: tuple[tuple[str, int], ...]) -> None:
    world = World(random.Random(0))
    one = Trial(Writer, world, script)
    assert (one.run(), one.crashes) == (Counter(), 0)


def test_a_crash_at_any_step_leaves_no_hole_no_duplicate_and_no_orphan() -> None:
    crashes = 0
    for seed in range(LIVES):
        crashed, found = trial(Writer, seed)
        assert not found, f"life {seed}: {found}"
        crashes += crashed
    assert crashes > LIVES / 2


@pytest.mark.parametrize("name", MUTANTS)
def test_the_harness_catches_a_writer_that_is_wrong(name: str) -> None:
    assert any(trial(MUTANTS[name], seed)[1] for seed in range(LIVES_OF_A_MUTANT)), name

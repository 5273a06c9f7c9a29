"""A small selection of the fault harnesses; `python -m tests.pagestore.faults` runs them at any size."""

import pytest

from tests.pagestore.faults.fulldisk import fill_up, first_violation
from tests.pagestore.faults.mutants import DISK_FULL_MUTANTS, MUTANTS, Mutant
from tests.pagestore.faults.powerloss import explore

ONLY_WHEN_A_SYNC_FAILS = {"retry_a_failed_sync", "trust_the_page_cache", "ignore_a_failed_sync"}


@pytest.mark.parametrize("failing_sync", [False, True])
def test_no_power_cut_loses_an_acknowledged_turn(failing_sync: bool) -> None:
    tally = explore(range(2), images_per_point=2, limit=220, failing_sync=failing_sync)
    assert tally.images == 220
    assert not tally.violations


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_the_power_cuts_find_a_log_that_would(mutant: Mutant) -> None:
    failing_sync = mutant.__name__ in ONLY_WHEN_A_SYNC_FAILS
    with mutant():
        tally = explore(
            range(2), images_per_point=3, limit=500, failing_sync=failing_sync, stop_at_first=True
        )
    assert tally.violations


@pytest.mark.parametrize("room", range(0, 12_000, 997))
def test_a_full_disk_refuses_a_batch_and_loses_nothing(room: int) -> None:
    fill_up(1, room)


@pytest.mark.parametrize("mutant", DISK_FULL_MUTANTS, ids=lambda mutant: mutant.__name__)
def test_the_full_disks_find_a_log_that_keeps_what_it_refused(mutant: Mutant) -> None:
    with mutant():
        assert first_violation([0]) is not None

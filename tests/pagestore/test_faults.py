"""A small selection of the fault harnesses; `python -m tests.pagestore.faults` runs them at any size."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from pagestore import DiskLog
from pagestore.errors import PageStoreError
from pagestore.lines.files import FileLines
from tests.pagestore.faults.forgeries import SPACE, escaped
from tests.pagestore.faults.fulldisk import fill_up, first_violation
from tests.pagestore.faults.mutants import (
    DISK_FULL_MUTANTS,
    MUTANTS,
    REAL_FILE_MUTANTS,
    THREAD_MUTANTS,
    Mutant,
)
from tests.pagestore.faults.powerloss import explore
from tests.pagestore.faults.sigkill import killed
from tests.pagestore.faults.synced import days
from tests.pagestore.faults.threads import broken_logs

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


def test_what_was_not_synced_by_the_real_file_layer_is_nothing_that_was_promised() -> None:
    lost = days(range(3))
    assert lost.cuts > 30
    assert lost.syncs > lost.cuts
    assert not lost.violations


@pytest.mark.parametrize("mutant", REAL_FILE_MUTANTS, ids=lambda mutant: mutant.__name__)
def test_the_watched_system_calls_find_a_file_layer_that_would_lose_something(mutant: Mutant) -> None:
    with mutant():
        assert days(range(3), stop_at_first=True).violations


def test_threads_on_one_log_lose_nothing_and_see_all_or_nothing() -> None:
    assert not broken_logs(range(4))


@pytest.mark.parametrize("mutant", THREAD_MUTANTS, ids=lambda mutant: mutant.__name__)
def test_the_threads_find_a_log_that_does_not_keep_them_apart(mutant: Mutant) -> None:
    with mutant():
        assert broken_logs(range(4), stop_at_first=True)


@contextmanager
def words_kept_in_the_process() -> Iterator[None]:
    """A log that writes each batch with the next one: what every buffer does that nobody flushes."""
    write = FileLines._write
    held: list[tuple[FileLines, int, int, bytes]] = []

    def later(self: FileLines, part: int, offset: int, data: bytes) -> None:
        held.append((self, part, offset, data))
        if len(held) > 1:
            write(*held.pop(0))

    with patch.object(FileLines, "_write", later):
        yield


def test_killed_processes_keep_what_they_acknowledged() -> None:
    broken, acknowledgements = killed(12, seed=3)
    assert not broken
    assert acknowledgements > 12


def test_the_kills_find_a_log_that_keeps_words_to_itself() -> None:
    broken, _ = killed(12, seed=3, bug=words_kept_in_the_process)
    assert broken["an acknowledged turn lost"]


def test_forged_histories_are_given_away_by_a_checkpoint_kept_elsewhere() -> None:
    assert not escaped(20, seed=1)


def test_without_that_checkpoint_a_history_written_anew_passes() -> None:
    with patch("tests.pagestore.faults.forgeries.gives_away", lambda store, _: _refused(store)):
        assert sum(n for name, n in escaped(20, seed=1).items() if "a whole history" in name) == 10


def _refused(store: Path) -> bool:
    try:
        with DiskLog(str(store), SPACE, read_only=True) as log:
            return not log.verify().ok
    except PageStoreError:
        return True

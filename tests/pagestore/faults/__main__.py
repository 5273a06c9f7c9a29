"""Run the harnesses at any size: `python -m tests.pagestore.faults power --scripts 200`.

    power     crash points × disk images of the log as it is, with and without a failing sync
    full      every byte budget of every script
    mutants   how many images each seeded bug takes to be found

Ends with exit code 1 when the log has a violation or a mutant is not found.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.pagestore.faults.fulldisk import bytes_needed, fill_up, first_violation
from tests.pagestore.faults.mutants import DISK_FULL_MUTANTS, MUTANTS
from tests.pagestore.faults.powerloss import Violation, explore


def main() -> int:
    """Run what the command line asks for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.pagestore.faults", description=__doc__)
    parser.add_argument("harness", choices=["power", "full", "mutants"])
    parser.add_argument("--scripts", type=int, default=20, help="how many scripts")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first script")
    parser.add_argument("--images", type=int, default=6, help="disk images for each crash point")
    parser.add_argument("--limit", type=int, default=None, help="at most so many images")
    parser.add_argument("--stride", type=int, default=1, help="every how many bytes the disk is full")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.scripts)
    if given.harness == "power":
        return _power(seeds, given.images, given.limit)
    if given.harness == "full":
        return _full(seeds, given.stride)
    return _mutants(seeds, given.images, given.limit or 1_500)


def _power(seeds: range, images: int, limit: int | None) -> int:
    failed = False
    for failing_sync in (False, True):
        start = time.monotonic()
        tally = explore(seeds, images_per_point=images, limit=limit, failing_sync=failing_sync)
        _say(
            f"failing sync: {failing_sync!s:5}  scripts {len(seeds)}  crash points {tally.crash_points}"
            f"  images {tally.images}  violations {tally.violations.total()} {dict(tally.violations)}"
            f"  {time.monotonic() - start:.0f} s"
        )
        failed |= bool(tally.violations)
    return int(failed)


def _full(seeds: range, stride: int) -> int:
    budgets = refusals = violations = 0
    for seed in seeds:
        for room in range(0, bytes_needed(seed) + stride, stride):
            budgets += 1
            try:
                refusals += fill_up(seed, room)
            except Violation as error:
                violations += 1
                _say(f"script {seed}, room {room}: {error}")
    _say(f"byte budgets {budgets}  refused batches {refusals}  violations {violations}")
    return int(violations > 0)


def _mutants(seeds: range, images: int, limit: int) -> int:
    found = 0
    for mutant in MUTANTS:
        tallies = []
        with mutant():
            for failing_sync in (False, True):
                tally = explore(
                    seeds, images_per_point=images, limit=limit, failing_sync=failing_sync, stop_at_first=True
                )
                tallies.append(tally)
        caught = [f"after {tally.images} images" for tally in tallies if tally.violations]
        found += bool(caught)
        _say(f"{mutant.__name__:28} {caught[0] if caught else 'NOT FOUND'}")
    for mutant in DISK_FULL_MUTANTS:
        with mutant():
            room = first_violation(seeds)
        found += room is not None
        _say(f"{mutant.__name__:28} {f'with room for {room} bytes' if room is not None else 'NOT FOUND'}")
    total = len(MUTANTS) + len(DISK_FULL_MUTANTS)
    _say(f"mutation score {found} of {total}")
    return int(found < total)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

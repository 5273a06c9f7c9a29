"""Rows on the page store: power cuts, kills, full disks, rot, forgers, racers."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import seed, settings
from hypothesis.stateful import run_state_machine_as_test

from pagestore import SessionId, Store
from tests.pagestore.faults import (
    flips,
    forgeries,
    fulldisk,
    mutants,
    powerloss,
    sigkill,
    synced,
    threads,
)
from tests.pagestore.test_machine import LogMachine
from tests.pagestore.test_processes import RACER, SPACE, start
from tests.torture.harness import Outcome, Row, Share
from tests.writing import crashes

IMAGES_FOR_A_MUTANT = 3_000
LIVES_FOR_A_MUTANT = 1_000
RACERS_AT_ONCE = 10
STEPS = 30


def power_cuts(share: Share) -> Outcome:
    """Half of the shares with a sync that fails, too."""
    failing = bool(share.first // POWER.share % 2)
    tally = powerloss.explore(itertools.count(share.seed), limit=share.count, failing_sync=failing)
    return Outcome(
        count=tally.images, violations=tally.violations, seen=Counter({"crash points": tally.crash_points})
    )


def simulated_kills(share: Share) -> Outcome:
    """The process ends before an operation or inside a write; the machine goes on."""
    tally = powerloss.explore(
        itertools.count(share.seed), images_per_point=1, limit=share.count, losses=("all",)
    )
    return Outcome(count=tally.images, violations=tally.violations)


def real_kills(share: Share) -> Outcome:
    """SIGKILL to real processes."""
    broken, promises = sigkill.killed(share.count, share.seed)
    return Outcome(count=share.count, violations=broken, seen=Counter({"acknowledgements": promises}))


def full_disks(share: Share) -> Outcome:
    """Every byte budget of the first script, then of the next."""
    outcome = Outcome()
    for script, room in itertools.islice(_budgets(), share.first, share.first + share.count):
        outcome.count += 1
        try:
            outcome.seen["refused batches"] += fulldisk.fill_up(script, room)
        except powerloss.Violation as error:
            outcome.violations[str(error)] += 1
    return outcome


def _budgets() -> Iterator[tuple[int, int]]:
    return ((script, room) for script in itertools.count() for room in range(_needed(script) + 1))


@cache
def _needed(script: int) -> int:
    return fulldisk.bytes_needed(script)


def seeded_bugs(share: Share) -> Outcome:
    """A harness that misses a seeded bug is the violation here."""
    outcome = Outcome()
    for number in share.cases:
        name, found = _finds(number)
        outcome.count += 1
        outcome.seen["caught"] += found
        outcome.demand(found, f"{name} was not caught")
    return outcome


def _finds(number: int) -> tuple[str, bool]:
    """The name of a seeded bug, and whether the harnesses find it."""
    for seeded, find in _SEEDED:
        if number < len(seeded):
            with seeded[number]():
                return seeded[number].__name__, find()
        number -= len(seeded)
    name = list(crashes.MUTANTS)[number]
    return name, any(crashes.trial(crashes.MUTANTS[name], life)[1] for life in range(LIVES_FOR_A_MUTANT))


def _by_power_cuts() -> bool:
    return any(
        powerloss.explore(
            range(20), limit=IMAGES_FOR_A_MUTANT, failing_sync=failing, stop_at_first=True
        ).violations
        for failing in (False, True)
    )


def _by_full_disks() -> bool:
    return fulldisk.first_violation(range(3)) is not None


def _by_system_calls() -> bool:
    return bool(synced.days(range(20), stop_at_first=True).violations)


def _by_threads() -> bool:
    return bool(threads.broken_logs(range(20), stop_at_first=True))


_SEEDED: tuple[tuple[tuple[mutants.Mutant, ...], Callable[[], bool]], ...] = (
    (mutants.MUTANTS, _by_power_cuts),
    (mutants.DISK_FULL_MUTANTS, _by_full_disks),
    (mutants.REAL_FILE_MUTANTS, _by_system_calls),
    (mutants.THREAD_MUTANTS, _by_threads),
)


def system_calls(share: Share) -> Outcome:
    """What the real file layer had the system sync is all that survives."""
    lost = synced.days(itertools.count(share.seed), limit=share.count)
    seen = Counter({"syncs seen": lost.syncs})
    return Outcome(count=lost.cuts, violations=lost.violations, seen=seen)


def logs_under_threads(share: Share) -> Outcome:
    """Two threads that append, one that seals, erases and verifies, one that reads."""
    seeds = range(share.seed, share.seed + share.count)
    return Outcome(count=share.count, violations=threads.broken_logs(seeds))


def machine(share: Share) -> Outcome:
    """Rules applied in any order, with a model of what the log must hold beside it."""
    tried = settings(max_examples=share.count, stateful_step_count=STEPS, database=None, deadline=None)
    run_state_machine_as_test(seed(share.seed)(LogMachine), settings=tried)
    return Outcome(count=share.count)


def flipped_stores(share: Share) -> Outcome:
    """One bit of a segment."""
    missed = flips.store_misses(share.count, share.seed)
    return Outcome(count=share.count, violations=Counter(missed))


def flipped_bundles(share: Share) -> Outcome:
    """One bit of an audit bundle."""
    missed = flips.bundle_misses(share.count, share.seed)
    return Outcome(count=share.count, violations=Counter(missed))


def forged_logs(share: Share) -> Outcome:
    """Everything a forger with write access can do, held against a checkpoint kept elsewhere."""
    return Outcome(count=share.count, violations=forgeries.escaped(share.count, share.seed))


def racers(share: Share) -> Outcome:
    """Processes that open, append one turn, close, and try again while another holds the lock."""
    outcome = Outcome(count=share.count)
    with TemporaryDirectory() as folder:
        names = [f"racer{number}" for number in range(share.count)]
        running = [start(RACER, folder, name) for name in names]
        for racer in running:
            out, _ = racer.communicate(timeout=600)
            outcome.demand(racer.returncode == 0, f"a racer failed: {out[-80:]}")
            outcome.seen["refusals"] += int(out or 0)
        with Store(Path(folder)).open_space(SPACE) as log:
            outcome.demand(log.verify().ok, "verify finds damage")
            for name in names:
                page = log.open_page(SessionId(name))
                told = [line.turn.text for line in page.lines if line.turn] if page else []
                outcome.demand(told == [f"turn {n}" for n in range(15)], "a turn lost or doubled")
    return outcome


def bad_directories(share: Share) -> Outcome:
    """The tests of the directories that are missing, somebody else's, read-only, full or refused."""
    where = "tests/pagestore/test_store.py::TestBadDirectories"
    asked = [sys.executable, "-m", "pytest", where, "--no-header"]
    ran = subprocess.run(asked, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    passed, failed = (re.search(rf"(\d+) {word}", ran.stdout) for word in ("passed", "failed"))
    outcome = Outcome(count=int(passed[1]) if passed else 0)
    outcome.demand(ran.returncode == 0 and failed is None, f"pytest: {ran.stdout.strip()[-80:]}")
    return outcome


POWER = Row(
    name="power-cut",
    failure="power cut; torn, reordered, lost, garbage sectors; second cut while recovering; EIO and restart",
    done="every crash point of scripted days × what the disk may have kept; half with a sync that fails; "
    "three in ten cut again while recovering",
    unit="crash images",
    count=100_000,
    share=2_500,
    work=power_cuts,
    minutes=14,
)
ROWS = (
    POWER,
    Row(
        name="kill",
        failure="kill -9 at any instant",
        done="a simulated process ends before every operation and inside writes",
        unit="kills",
        count=10_000,
        share=1_000,
        work=simulated_kills,
    ),
    Row(
        name="kill-9",
        failure="kill -9 at any instant",
        done="SIGKILL to real processes on the real file system, each going on where the last one died; "
        "an observer holds the log to every acknowledgement",
        unit="kills",
        count=10_000,
        share=240,
        work=real_kills,
        minutes=6,
    ),
    Row(
        name="system-calls",
        failure="a file layer that does not sync what it says, or takes a part for all",
        done="the log on the real file system, its fsyncs watched as it asks the system for them; after "
        "every step of a scripted day only what was synced survives, of folders as of files",
        unit="power cuts",
        count=10_000,
        share=500,
        work=system_calls,
    ),
    Row(
        name="threads",
        failure="several threads on one log",
        done="two that append, one that seals, erases, records and verifies, one that reads, stopped at "
        "every sync and between two records; then reopened and held to what was acknowledged",
        unit="logs",
        count=1_000,
        share=50,
        work=logs_under_threads,
    ),
    Row(
        name="seeded-bugs",
        failure="a harness without teeth",
        done=f"seeded bugs: {len(mutants.MUTANTS)} of the log, "
        f"{len(mutants.DISK_FULL_MUTANTS)} of a full disk, "
        f"{len(mutants.REAL_FILE_MUTANTS)} of the real file layer, {len(mutants.THREAD_MUTANTS)} of threads, "
        f"{len(crashes.MUTANTS)} of the pipeline",
        unit="seeded bugs",
        count=sum(len(seeded) for seeded, _ in _SEEDED) + len(crashes.MUTANTS),
        share=1,
        work=seeded_bugs,
        fixed=True,
    ),
    Row(
        name="machine",
        failure="any order of append, seal, record, erase, checkpoint, reopening, crash and power cut",
        done=f"a Hypothesis rule-based machine, up to {STEPS} steps each, beside a model of the log",
        unit="runs",
        count=2_000,
        share=100,
        work=machine,
    ),
    Row(
        name="disk-full",
        failure="disk full",
        done="every number of bytes a scripted day may find room for, then room again",
        unit="byte budgets",
        count=6_000,
        share=500,
        work=full_disks,
    ),
    Row(
        name="directories",
        failure="read-only or missing directory, no permission",
        done="opened; a clear error is demanded",
        unit="cases",
        count=19,
        share=19,
        work=bad_directories,
        fixed=True,
    ),
    Row(
        name="bit-rot",
        failure="bit rot",
        done="one bit of a store flipped; it must be found, and the line that holds it named",
        unit="flips",
        count=30_000,
        share=1_500,
        work=flipped_stores,
    ),
    Row(
        name="bundle-rot",
        failure="bit rot in an audit bundle",
        done="one bit of a bundle flipped; it must be found, and the line that holds it named",
        unit="flips",
        count=10_000,
        share=2_500,
        work=flipped_bundles,
    ),
    Row(
        name="forgers",
        failure="edited, cut and rewritten segments with fitting checksums",
        done="values changed, lines dropped and swapped, erasures forged, whole histories written anew that "
        "differ in one turn, all CRCs right; pages open at the checkpoint, and open, sealed or erased since; "
        "held against a checkpoint kept elsewhere",
        unit="forgeries",
        count=1_000,
        share=100,
        work=forged_logs,
    ),
    Row(
        name="racers",
        failure="second writer",
        done="processes in groups of ten that open, append and close one log, 15 times each",
        unit="racers",
        count=150,
        share=RACERS_AT_ONCE,
        work=racers,
    ),
)

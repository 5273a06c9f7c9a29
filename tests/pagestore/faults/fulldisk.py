"""A disk that fills up after every possible number of bytes, and is then given room again."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from random import Random

from pagestore import DiskLog
from pagestore.errors import Full, PageStoreError
from tests.pagestore.faults.powerloss import Violation
from tests.pagestore.faults.simfiles import LOSSES, SimFiles
from tests.pagestore.faults.workload import Expected, Step, open_log, script, seen


def bytes_needed(seed: int) -> int:
    """How many bytes a script writes."""
    files = SimFiles(room=10**9)
    log = open_log(files, seed)
    expected = Expected()
    for step in script(seed):
        step(log, expected)
    assert files.room is not None
    return 10**9 - files.room


def fill_up(seed: int, room: int) -> int:
    """Run a script on a disk with `room` bytes; returns how often it was full. Raises `Violation`."""
    files = SimFiles(room=room)
    refusals = 0
    try:
        log = open_log(files, seed)
    except Full:
        files.room = None
        log = open_log(files, seed)
        refusals += 1
    expected = Expected()
    for step in script(seed):
        refused = _try(step, log, expected)
        if refused:
            refusals += 1
            files.room = None
            _holds(open_log(SimFiles(files.contents()), seed), expected)
            for loss in LOSSES:  # what was refused does not come back with the power
                _holds(open_log(SimFiles(files.image(loss, Random(room))), seed), expected)
            if _try(step, log, expected):
                raise Violation("refused although there was room again")
    _holds(log, expected)
    _holds(open_log(SimFiles(files.contents()), seed), expected)
    _holds(open_log(SimFiles(files.image("none", Random(0))), seed), expected)
    return refusals


def first_violation(seeds: Iterable[int], stride: int = 37) -> int | None:
    """The first byte budget at which something goes wrong."""
    for seed in seeds:
        for room in range(0, bytes_needed(seed), stride):
            try:
                fill_up(seed, room)
            except (Violation, PageStoreError):
                return room
    return None


def _try(step: Step, log: DiskLog, expected: Expected) -> bool:
    """Take a step; when it is refused nothing of it is there, and everything else still is."""
    before = deepcopy(expected)
    try:
        step(log, expected)
    except Full:
        expected.spoken, expected.records = before.spoken, before.records
        _holds(log, expected)
        return True
    return False


def _holds(log: DiskLog, expected: Expected) -> None:
    found = seen(log)
    if len(found) != len(expected.spoken):
        raise Violation(f"{len(found)} turns where {len(expected.spoken)} were accepted")
    for index, (one, other) in enumerate(zip(found, expected.spoken, strict=True)):
        if one != other and not (one is None and index in expected.erasing):
            raise Violation("a turn is not what was accepted")
        if one is not None and index in expected.erased:
            raise Violation("an erased turn is back")
    numbers = [record.body["number"] for record in log.records(kinds=frozenset({"note"}))]
    if numbers != expected.records:
        raise Violation("a record lost, doubled or kept although it was refused")
    if not log.verify().ok:
        raise Violation("verify finds damage")

"""Every crash point of a client's day, times what the disk may hold after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from pagestore import DiskLog, SessionId, Turn
from pagestore.errors import PageStoreError, Poisoned
from tests.pagestore.faults.simfiles import LOSSES, Crash, Image, Loss, SimFiles
from tests.pagestore.faults.workload import Expected, Spoken, Step, erase, open_log, script, seen


class Violation(AssertionError):
    """The log broke a promise."""


@dataclass(slots=True)
class Tally:
    """What an exploration went through and what it found."""

    crash_points: int = 0
    images: int = 0
    violations: Counter[str] = field(default_factory=Counter)


def explore(
    seeds: Iterable[int],
    *,
    images_per_point: int = 6,
    limit: int | None = None,
    failing_sync: bool = False,
    losses: Sequence[Loss] = LOSSES,
    stop_at_first: bool = False,
) -> Tally:
    """Crash before every operation of every script, and check `images_per_point` disks each.

    `losses` are what the disk may have kept of what was not synced; `("all",)` is a process that is killed
    while the machine goes on. With `failing_sync` one sync of the script also fails with EIO, and the client
    restarts at once.
    """
    tally = Tally()
    for seed in seeds:
        steps = script(seed)
        operations, syncs = _length(steps, seed)
        for point in range(1, operations + 2):
            chance = Random(seed * 100_003 + point)
            failing = {chance.randint(1, max(1, syncs))} if failing_sync else set()
            files = SimFiles(crash_at=point, tear=chance.randrange(4_000), failing_syncs=failing)
            tally.crash_points += 1
            expected = _until_the_crash(files, steps, seed, chance, tally)
            if expected is None:
                continue
            for number in range(images_per_point):
                image = files.image(losses[(point + number) % len(losses)], chance)
                tally.images += 1
                _count_violations(image, expected, seed, chance, tally)
                if (stop_at_first and tally.violations) or tally.images == limit:
                    return tally
    return tally


def _length(steps: list[Step], seed: int) -> tuple[int, int]:
    """Operations and syncs of a day without faults; a log that cannot get through one has a violation."""
    files = SimFiles()
    _run(open_log(files, seed), steps, Expected())
    return files.operations, files.syncs


def _run(log: DiskLog, steps: list[Step], expected: Expected) -> None:
    for step in steps:
        step(log, expected)


def _until_the_crash(
    files: SimFiles, steps: list[Step], seed: int, chance: Random, tally: Tally
) -> Expected | None:
    """What the client knows when the power goes; `None` when even the restart before it went wrong."""
    expected = Expected()
    try:
        _run(open_log(files, seed), steps, expected)
    except Crash:
        pass
    except Poisoned:
        if chance.random() < 0.8:
            try:
                return _restart_without_a_reboot(files, expected, seed)
            except (Violation, PageStoreError) as error:
                tally.violations[_name(error)] += 1
                return None
    return expected


def _restart_without_a_reboot(files: SimFiles, expected: Expected, seed: int) -> Expected:
    """The page cache still shows what the failed sync did not bring to the disk, marked clean."""
    files.revive()
    log = open_log(files, seed)
    found = seen(log)
    if len(found) < expected.acknowledged:
        raise Violation("acknowledged turns lost at reopening after EIO")
    kept = expected.spoken[: len(found)]
    for number in range(2):
        kept.append(_fresh("s1", f"<post{number}> " + "z" * 600))
        log.append(kept[-1].session, [kept[-1].turn])
    return replace(
        expected,
        spoken=kept,
        acknowledged=len(kept),
        pages={info.id: (info.session, info.number) for info in log.pages()},
    )


def _count_violations(image: Image, expected: Expected, seed: int, chance: Random, tally: Tally) -> None:
    try:
        check(image, expected, seed, chance)
    except Exception as error:  # noqa: BLE001 - whatever a broken log raises is a violation to count
        tally.violations[_name(error)] += 1


def _name(error: Exception) -> str:
    return str(error) if isinstance(error, Violation) else f"{type(error).__name__}: {str(error)[:60]}"


def check(image: Image, expected: Expected, seed: int, chance: Random, *, again: bool = True) -> None:
    """Everything a client may rely on, on one disk after a power cut."""
    _nothing_erased_is_on(image, expected)
    files = SimFiles(image)
    if again and chance.random() < 0.3:
        files.crash_at, files.tear = chance.randint(1, 12), chance.randrange(4_000)
        try:
            open_log(files, seed)
        except Crash:
            check(files.image(chance.choice(LOSSES), chance), expected, seed, chance, again=False)
            return
        files = SimFiles(image)
    log = open_log(files, seed)
    _kept_its_promises(log, expected)
    _nothing_erased_is_on(files.contents(), expected)
    found = _retried(log, expected)
    if again and chance.random() < 0.5:
        files = SimFiles(files.image(chance.choice(LOSSES), chance))
        log = open_log(files, seed)
        if seen(log) != found:
            raise Violation("a turn retried after recovery was lost")
    if chance.random() < 0.5:
        later = _life_goes_on(log, expected, found, chance)
        _survives_again(files.image(chance.choice(LOSSES), chance), later, seed)


def _nothing_erased_is_on(image: Image, expected: Expected) -> None:
    for index in expected.erased:
        if any(expected.spoken[index].canary in content for content in image.values()):
            raise Violation("erased words are on the disk")


def _kept_its_promises(log: DiskLog, expected: Expected) -> None:
    found = seen(log)
    _are(found, expected.spoken[: len(found)], expected, "a turn nobody submitted there, or in that order")
    if len(found) < expected.acknowledged:
        raise Violation("acknowledged turns lost")
    numbers = [record.body["number"] for record in log.records(kinds=frozenset({"note"}))]
    if numbers != expected.records[: len(numbers)] or len(numbers) < expected.records_acknowledged:
        raise Violation("a record lost or doubled")
    report = log.verify()
    if not report.ok:
        raise Violation("verify finds damage after recovery")
    pages = {info.id: (info.session, info.number) for info in log.pages()}
    if expected.pages.items() - pages.items():
        raise Violation("an acknowledged page lost or changed")
    if not all(log.verify(checkpoint).ok for checkpoint in expected.checkpoints):
        raise Violation("a published checkpoint is no longer a beginning of the log")


def _are(found: list[Spoken | None], wanted: list[Spoken], expected: Expected, complaint: str) -> None:
    if len(found) != len(wanted):
        raise Violation(complaint)
    for index, (one, other) in enumerate(zip(found, wanted, strict=True)):
        if one is None and index not in expected.erasing:
            raise Violation("a turn vanished that nobody erased")
        if one is not None and index in expected.erased:
            raise Violation("an erased turn is back")
        if one is not None and one != other:
            raise Violation(complaint)


def _retried(log: DiskLog, expected: Expected) -> list[Spoken | None]:
    """The client sends again whatever was not acknowledged; in the end every turn is there once."""
    for spoken in expected.spoken[expected.acknowledged :]:
        log.append(spoken.session, [spoken.turn])
    found = seen(log)
    _are(found, expected.spoken, expected, "a retry doubled or lost a turn")
    return found


def _life_goes_on(log: DiskLog, expected: Expected, found: list[Spoken | None], chance: Random) -> Expected:
    """New turns and an erasure are accepted; returns what may now be relied on."""
    gone = {index for index, spoken in enumerate(found) if spoken is None}
    later = replace(
        expected,
        spoken=list(expected.spoken),
        erasing=gone | expected.erasing,
        erased=gone | expected.erased,
    )
    for number in range(2):
        later.spoken.append(_fresh("s0", f"<after{number}> " + "y" * chance.choice([5, 700])))
        log.append(later.spoken[-1].session, [later.spoken[-1].turn])
    later.acknowledged = len(later.spoken)
    erase(log, later, chance.randrange(expected.acknowledged, later.acknowledged))
    return later


def _survives_again(image: Image, expected: Expected, seed: int) -> None:
    _nothing_erased_is_on(image, expected)
    reopened = open_log(SimFiles(image), seed)
    _are(seen(reopened), expected.spoken, expected, "a turn stored after recovery was lost")
    if not reopened.verify().ok:
        raise Violation("verify finds damage after the second power cut")


def _fresh(session: str, text: str) -> Spoken:
    return Spoken(SessionId(session), Turn(speaker="Zoe", text=text, turn_id=text.partition(" ")[0]))

"""Flip bits of bundles and stores, as many as wanted: `python -m tests.pagestore.faults.flips bundle`.

    bundle    one bit of a bundle: it must fail, and the line that holds the bit must be named
    store     one bit of a store's segment: opening or `verify` must name the segment and a place near it

Ends with exit code 1 when a flip stays unseen or is named at the wrong place.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from pagestore import DiskLog, SpaceId, Turn
from pagestore.bundle import encode, verify_bundle
from pagestore.errors import PageStoreError
from pagestore.values import SessionId
from tests.pagestore.bundles import bundle, flipped, line_of

_PLACE = re.compile(r"(\d{8}\.jsonl) at byte (\d+)")


def bundle_misses(count: int, seed: int) -> list[str]:
    """Flips of a bundle, half of them of one with whole pages, that were not found or not located."""
    chance = random.Random(seed)
    bundles = [encode(bundle(whole_pages=whole)) for whole in (False, True)]
    missed = []
    for _ in range(count):
        data = chance.choice(bundles)
        at, bit = chance.randrange(len(data)), chance.randrange(8)
        report = verify_bundle(flipped(data, at, bit))
        named = [int(one.where.split()[1]) for one in report.failed if one.where.startswith("line ")]
        line = line_of(data, at)
        # A line break that is lost or made up moves the border of two lines: either name is right.
        near = (line, line + 1) if data[at : at + 1] == b"\n" else (line,)
        if report.ok or not set(near) & set(named):
            missed.append(f"byte {at}, bit {bit}: named {named}, lies on {line}")
    return missed


def store_misses(count: int, seed: int) -> list[str]:
    """Flips of a store that were not found or not located. The last commit may pass for a torn write."""
    chance = random.Random(seed)
    missed = []
    with TemporaryDirectory() as folder:
        segment = _store(folder, chance)
        data = segment.read_bytes()
        for _ in range(count):
            at, bit = chance.randrange(len(data)), chance.randrange(8)
            segment.write_bytes(flipped(data, at, bit))
            places = _named(folder)
            starts = {data.rfind(b"\n", 0, at) + 1, data.rfind(b"\n", 0, max(0, at - 1)) + 1}
            if not starts & {place for name, place in places if name == segment.name}:
                missed.append(f"byte {at}, bit {bit}: named {sorted(places)}, line at {max(starts)}")
        segment.write_bytes(data)
    return missed


def _store(folder: str, chance: random.Random) -> Path:
    with DiskLog(folder, SpaceId("ann")) as log:
        for number in range(60):
            text = f"{number}: " + "".join(chance.choices("abc déf\n", k=chance.randrange(200)))
            log.append(SessionId(f"s{number % 3}"), [Turn(speaker="Ann", text=text, turn_id=f"t{number}")])
            if number % 20 == 19:
                log.seal()
                log.record("note", {"number": number})
        page = log.pages()[0]
        log.erase(page.id, log.page(page.id).lines[0].seq, "asked to")
        log.checkpoint()
    (segment,) = Path(folder).glob("*.jsonl")
    return segment


def _named(folder: str) -> set[tuple[str, int]]:
    """The places that opening the store for reading and `verify` name as damaged or torn."""
    try:
        with DiskLog(folder, SpaceId("ann"), read_only=True) as log:
            report = log.verify()
            told = [*(damage.where for damage in report.damage), *report.torn]
    except PageStoreError as error:
        told = [str(error)]
    return {(name, int(place)) for line in told for name, place in _PLACE.findall(line)}


def main() -> int:
    """Run what the command line asks for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.pagestore.faults.flips", description=__doc__)
    parser.add_argument("what", choices=["bundle", "store"])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    start = time.monotonic()
    misses = {"bundle": bundle_misses, "store": store_misses}[given.what](given.count, given.seed)
    took = time.monotonic() - start
    print(f"{given.what}: {given.count} flips, seed {given.seed}, {len(misses)} missed, {took:.1f} s")  # noqa: T201 - a command
    for miss in misses[:20]:
        print(f"    {miss}")  # noqa: T201
    return int(bool(misses))


if __name__ == "__main__":
    sys.exit(main())

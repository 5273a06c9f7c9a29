"""Edits by somebody who can write every file and knows the format: only a checkpoint kept elsewhere tells.

python -m tests.pagestore.faults.forgeries --count 1000
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pagestore import Checkpoint, DiskLog, LogOptions, SessionId, SpaceId, Turn
from pagestore.errors import PageStoreError
from pagestore.lines import decode, encode, split

SPACE = SpaceId("ann")
Lines = list[dict[str, Any]]
Forge = Callable[[Lines, random.Random], None]


def history(folder: Path, seed: int, changed: int | None = None) -> Checkpoint:
    """A log whose every line is under a checkpoint. With `changed` one thing said in it was another."""
    chance, salts = random.Random(seed), random.Random(seed + 1)
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    options = LogOptions(page_tokens=120, salt=salts.randbytes, clock=lambda: moment)
    with DiskLog(str(folder), SPACE, options=options) as log:
        for number in range(40):
            text = f"{number}: " + " ".join(chance.choices(["red", "blue", "not", "17", "Ann", "Lyon"], k=9))
            if number == changed:
                text = text.replace("red", "blue") + " never"
            log.append(SessionId(f"s{number % 3}"), [Turn(speaker="Ann", text=text, turn_id=f"t{number}")])
            if number % 10 == 5:
                log.record("note", {"number": number})
        log.seal()
        return log.checkpoint()


def change_a_value(lines: Lines, chance: random.Random) -> None:
    """Another word, number or name in one line, its checksum made to fit."""
    line = chance.choice(lines)
    name = chance.choice([name for name in line if name not in ("c", "q", "d", "t")] or ["t"])
    line[name] = _other(line[name], chance)


def drop_a_line(lines: Lines, chance: random.Random) -> None:
    """One line gone, and those behind it numbered anew."""
    at = chance.randrange(1, len(lines))
    for line in lines[at + 1 :]:
        line["q"], line["d"] = line["q"] - 1, min(line["d"], line["q"] - 2)
    del lines[at]


def swap_two_lines(lines: Lines, chance: random.Random) -> None:
    """Two neighbours change places and numbers."""
    at = chance.randrange(1, len(lines) - 1)
    one, two = lines[at], lines[at + 1]
    one["q"], two["q"], one["d"], two["d"] = two["q"], one["q"], two["d"], one["d"]
    lines[at], lines[at + 1] = two, one


FORGERIES: tuple[Forge, ...] = (change_a_value, change_a_value, drop_a_line, swap_two_lines)


def escaped(count: int, seed: int) -> Counter[str]:
    """The forgeries that the checkpoint did not give away, out of `count`."""
    chance, found = random.Random(seed), Counter[str]()
    with TemporaryDirectory() as folder:
        store = Path(folder, "log")
        checkpoint = history(store, seed)
        (segment,) = store.glob("*.jsonl")
        sound = segment.read_bytes()
        if _gives_away(store, checkpoint):
            raise AssertionError("the checkpoint gives away a log that nobody touched")
        for number in range(count):
            forge = FORGERIES[number % (len(FORGERIES) + 1) - 1] if number % (len(FORGERIES) + 1) else None
            if forge is None:
                other = Path(folder, f"log{number}")
                history(other, seed, changed=chance.randrange(40))
                found["a whole history written anew"] += not _gives_away(other, checkpoint)
                continue
            segment.write_bytes(_forged(sound, forge, chance))
            for cache in store.glob("*.idx"):
                cache.unlink()
            found[forge.__name__.replace("_", " ")] += not _gives_away(store, checkpoint)
    return +found


def _forged(sound: bytes, forge: Forge, chance: random.Random) -> bytes:
    """Another log with sound checksums; the checkpoint's own line, the last, is kept as it was."""
    raw = [line for _, line in split(sound)]
    lines = [fields for line in raw[:-1] if (fields := decode(line)) is not None]
    forge(lines, chance)
    data = b"".join(encode({name: value for name, value in line.items() if name != "c"}) for line in lines)
    return data + raw[-1] if forge is not drop_a_line else data


def _gives_away(store: Path, checkpoint: Checkpoint) -> bool:
    try:
        with DiskLog(str(store), SPACE, read_only=True) as log:
            return not log.verify(checkpoint).ok
    except PageStoreError:
        return True


def _other(value: Any, chance: random.Random) -> Any:
    match value:
        case str() if value:
            at = chance.randrange(len(value))
            return (
                value[:at]
                + chance.choice([c for c in "0123456789abcdef" if c != value[at]])
                + value[at + 1 :]
            )
        case int():
            return value + chance.choice([-1, 1, 7])
        case list() if value:
            at = chance.randrange(len(value))
            return [*value[:at], _other(value[at], chance), *value[at + 1 :]]
        case dict() if value:
            name = chance.choice(sorted(value))
            return {**value, name: _other(value[name], chance)}
        case _:
            return "x"


def main() -> int:
    """Run what the command line asks for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.pagestore.faults.forgeries", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = escaped(given.count, given.seed)
    sys.stdout.write(f"{given.count} forgeries, {found.total()} not given away {dict(found)}\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())

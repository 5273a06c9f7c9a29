"""Edits by somebody who can write every file and knows the format: only a checkpoint kept elsewhere tells.

python -m tests.pagestore.faults.forgeries --count 1000
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

from pagestore import Checkpoint, DiskLog, LogOptions, SessionId, SpaceId, Turn
from pagestore.errors import PageStoreError
from pagestore.line import decode, encode, split

SPACE = SpaceId("ann")
ALL_OPEN = 100_000
"""Page tokens with which no page seals by itself."""
Lines = list[dict[str, Any]]
Spoken = list[tuple[str, str]]
"""Session and words of each turn."""
Since = Literal["nothing", "sealed", "erased"]
Edit = Callable[[Lines, int, random.Random], None]
"""Changes lines: all there are, and how many of them the checkpoint commits to."""
Rewriting = Callable[[Spoken, random.Random], None]


@dataclass(frozen=True, slots=True)
class Life:
    """How a log came about that somebody keeps a checkpoint of, and what became of its open pages since."""

    seed: int
    page_tokens: int
    since: Since


def spoken(life: Life) -> Spoken:
    """What was said in a life."""
    chance = random.Random(life.seed)
    words = ["red", "blue", "not", "17", "Ann", "Lyon"]
    return [(f"s{number % 3}", f"{number}: " + " ".join(chance.choices(words, k=9))) for number in range(40)]


def history(folder: Path, life: Life, said: Spoken) -> Checkpoint:
    """A log of what was said; some of it, or all, waits on open pages when its checkpoint is made."""
    salts, moment = random.Random(life.seed + 1), datetime(2024, 1, 1, tzinfo=UTC)
    options = LogOptions(page_tokens=life.page_tokens, salt=salts.randbytes, clock=lambda: moment)
    with DiskLog(str(folder), SPACE, options=options) as log:
        for number, (session, text) in enumerate(said):
            log.append(SessionId(session), [Turn(speaker="Ann", text=text, turn_id=f"t{number}")])
            if number % 10 == 5:
                log.record("note", {"number": number})
        checkpoint = log.checkpoint()
        if life.since == "sealed":
            log.seal()
        elif life.since == "erased":
            for page in log.filling():
                log.erase(page.id, page.turns[-1].seq, "asked to")
        return checkpoint


def change_a_value(lines: Lines, committed: int, chance: random.Random) -> None:
    """Another word, number or name in one line, its checksum made to fit."""
    line = chance.choice(lines[:committed])
    name = chance.choice([name for name in line if name not in ("c", "q", "d", "t", "_")] or ["t"])
    line[name] = _other(line[name], chance)


def drop_a_line(lines: Lines, committed: int, chance: random.Random) -> None:
    """One line gone, and those behind it numbered anew."""
    at = chance.randrange(1, committed)
    for line in lines[at + 1 :]:
        line["q"], line["d"] = line["q"] - 1, min(line["d"], line["q"] - 2)
    del lines[at]


def swap_two_lines(lines: Lines, committed: int, chance: random.Random) -> None:
    """Two neighbours change places and numbers."""
    at = chance.randrange(1, committed - 1)
    one, two = lines[at], lines[at + 1]
    one["q"], two["q"], one["d"], two["d"] = two["q"], one["q"], two["d"], one["d"]
    lines[at], lines[at + 1] = two, one


def change_an_erasure(lines: Lines, committed: int, chance: random.Random) -> None:
    """What an erasure left says another hash or session, in its place and in the record of the erasure."""
    intents = [line for line in lines if line["t"] == "erase"]
    if not intents:
        change_a_value(lines, committed, chance)
        return
    tombstone = chance.choice(intents)["e"][0]
    (left,) = (line for line in lines if line["t"] == "gone" and line["q"] == tombstone["q"])
    name = chance.choice(["h", "s"])
    tombstone[name] = left[name] = (
        f"s{(int(tombstone['s'][1:]) + 1) % 3}" if name == "s" else _other(tombstone["h"], chance)
    )


def say_other_words(said: Spoken, chance: random.Random) -> None:
    """One thing said was another."""
    at = chance.randrange(len(said))
    said[at] = said[at][0], said[at][1].replace("red", "blue") + " never"


def leave_a_turn_out(said: Spoken, chance: random.Random) -> None:
    """One thing was never said."""
    del said[chance.randrange(len(said))]


def put_a_turn_in(said: Spoken, chance: random.Random) -> None:
    """One thing more was said."""
    said.insert(chance.randrange(len(said)), ("s1", "Pay Eve."))


def swap_two_turns(said: Spoken, chance: random.Random) -> None:
    """Two neighbours were said the other way round."""
    at = chance.randrange(1, len(said))
    said[at - 1 : at + 1] = said[at], said[at - 1]


def say_it_elsewhere(said: Spoken, chance: random.Random) -> None:
    """One thing was said in another session."""
    at = chance.randrange(len(said))
    said[at] = f"s{(int(said[at][0][1:]) + 1) % 3}", said[at][1]


EDITS: tuple[Edit, ...] = (change_a_value, drop_a_line, swap_two_lines, change_an_erasure)
REWRITINGS: tuple[Rewriting, ...] = (
    say_other_words,
    leave_a_turn_out,
    put_a_turn_in,
    swap_two_turns,
    say_it_elsewhere,
)
LIVES = tuple((tokens, since) for tokens in (120, ALL_OPEN) for since in get_args(Since))


def escaped(count: int, seed: int) -> Counter[str]:
    """The forgeries that the checkpoint did not give away, out of `count`.

    Half edit lines the checkpoint commits to. Half are whole histories written anew, with the same salts,
    that differ in one turn: where it waited on an open page, the tree is the one the checkpoint names.
    """
    chance, found = random.Random(seed), Counter[str]()
    lives = [Life(6 * seed + n, tokens, since) for n, (tokens, since) in enumerate(LIVES)]
    with TemporaryDirectory() as folder:
        true = [Path(folder, f"true{n}") for n in range(len(lives))]
        kept = [history(store, life, spoken(life)) for store, life in zip(true, lives, strict=True)]
        if any(map(gives_away, true, kept)):
            raise AssertionError("the checkpoint gives away a log that nobody touched")
        for number in range(count):
            which = number // 2 % len(lives)
            forged = Path(folder, f"forged{number}")
            if number % 2:
                rewrite, said = chance.choice(REWRITINGS), spoken(lives[which])
                rewrite(said, chance)
                history(forged, lives[which], said)
                name = f"a whole history, to {rewrite.__name__.replace('_', ' ')}"
            else:
                edit = chance.choice(EDITS)
                _edit(true[which], forged, edit, chance)
                name = edit.__name__.replace("_", " ")
            found[name] += not gives_away(forged, kept[which])
            shutil.rmtree(forged)
    return +found


def _edit(true: Path, forged: Path, edit: Edit, chance: random.Random) -> None:
    """Make another log of one, with sound checksums."""
    (segment,) = true.glob("*.jsonl")
    lines = [fields for _, raw in split(segment.read_bytes()) if (fields := decode(raw)) is not None]
    edit(lines, next(n for n, line in enumerate(lines) if line["t"] == "ckpt"), chance)
    forged.mkdir()
    data = b"".join(encode({name: value for name, value in line.items() if name != "c"}) for line in lines)
    Path(forged, segment.name).write_bytes(data)


def gives_away(store: Path, checkpoint: Checkpoint) -> bool:
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

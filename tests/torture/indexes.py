"""Rows on the index: lost, emptied, older, of another log, of another past; and kills while it is open."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory

import tiermem
from pagestore import Turn
from tests.index.conftest import QUICK
from tests.torture.harness import Outcome, Row, Share
from tiermem.embedding.hashed import HashEmbedder
from tiermem.model import Evidence

PLACES = ("Lisbon", "Oslo", "Krakow", "Nairobi", "Quito", "Hanoi", "Turin", "Bergen")
_SAME = 1e-3
"""Share by which scores may differ: which of equally near turns is looked at last follows no order."""
ASKED = [f"herons near {place}" for place in PLACES]

Harm = Callable[[Path, random.Random], None]
"""What is done to a closed store, whose index of half the turns ago lies beside it in `older`."""


def turn(number: int, chance: random.Random) -> Turn:
    """What was counted on a day: the answer to a question about that day."""
    text = f"On day {number} we counted {number + 1000} herons near {chance.choice(PLACES)}."
    return Turn(speaker=("Ann", "Bob")[number % 2], text=text, turn_id=f"t{number}")


def local(store: Path, *, index: str = "embedded") -> tiermem.Memory:
    """A memory with the embedded index, or with one of its own that leaves that as it is."""
    return tiermem.open(
        store, engine="local", embedder=HashEmbedder(), page_tokens=80, distil="inline", index=index
    )


def lost_index(share: Share) -> Outcome:
    """The index is taken away or exchanged while the memory is closed."""
    outcome, chance = Outcome(), share.chance()
    for case in share.cases:
        name, harm = HARMS[case % len(HARMS)]
        with TemporaryDirectory(dir=QUICK) as folder:
            _lose(Path(folder), harm, chance, outcome)
        outcome.count += 1
        outcome.seen[name] += 1
    return outcome


def _lose(folder: Path, harm: Harm, chance: random.Random, outcome: Outcome) -> None:
    store = folder / "store"
    turns = [turn(number, chance) for number in range(24)]
    with local(store) as memory:
        memory.add(turns[:12])
        memory.flush()
    shutil.copytree(store / "index", folder / "older")
    with local(store) as memory:
        memory.add(turns[12:])
        memory.flush()
        units = set(memory.units())
    harm(store, chance)
    with local(store) as memory:
        outcome.demand(units <= set(memory.units()), "units are lost with the index")
        outcome.demand(all(memory.search(query, kind="pages") for query in ASKED), "pages cannot be found")
        day = chance.randrange(24)
        answer = memory.ask(f"How many herons did we count on day {day}?")
        outcome.demand(str(1000 + day) in answer.text, "the answer is not found any more")
        _as_made_anew(memory, outcome)


def _as_made_anew(memory: tiermem.Memory, outcome: Outcome) -> None:
    """What the index finds once it has caught up by itself is what it finds when it is made anew."""
    memory.index_pending()
    before = [_hits(memory, query) for query in ASKED]
    memory.reindex()
    after = [_hits(memory, query) for query in ASKED]
    outcome.demand(all(map(_alike, before, after)), "other results after reindexing")
    outcome.demand(all(all(found) for found in before), "words of the log cannot be found")


def _hits(memory: tiermem.Memory, query: str) -> list[tuple[Evidence, ...]]:
    return [memory.search(query, kind=kind) for kind in ("units", "pages", "turns")]


def _alike(before: list[tuple[Evidence, ...]], after: list[tuple[Evidence, ...]]) -> bool:
    """Whether the same was found, in the same order and with the same scores but for `_SAME`."""
    found, again = ([hit for hits in kinds for hit in hits] for kinds in (before, after))
    return [(hit.source, hit.spans, hit.text) for hit in found] == [
        (hit.source, hit.spans, hit.text) for hit in again
    ] and all(isclose(one.score, other.score, rel_tol=_SAME) for one, other in zip(found, again, strict=True))


def _delete(store: Path, chance: random.Random) -> None:
    shutil.rmtree(store / "index")


def _empty(store: Path, chance: random.Random) -> None:
    _delete(store, chance)
    (store / "index").mkdir()


def _bring_back(store: Path, chance: random.Random) -> None:
    _delete(store, chance)
    shutil.copytree(store.with_name("older"), store / "index")


def _of_another_store(store: Path, chance: random.Random) -> None:
    """One with the same space name that says other things, not more of them: its numbers tell nothing."""
    other = store.with_name("other")
    with local(other) as memory:
        memory.add([turn(number + 500, chance) for number in range(chance.choice((6, 12, 24)))])
        memory.flush()
    _delete(store, chance)
    shutil.copytree(other / "index", store / "index")


def _of_another_past(store: Path, chance: random.Random) -> None:
    """Of a copy of the store that went on, while the log did too: each with words of its own."""
    copy = store.with_name("copy")
    shutil.copytree(store, copy)
    for place, first in ((copy, 700), (store, 900)):
        with local(place) as memory:
            memory.add([turn(number + first, chance) for number in range(chance.randint(1, 12))])
            if chance.random() < 0.5:
                memory.flush()
    _delete(store, chance)
    shutil.copytree(copy / "index", store / "index")


def _of_a_restored_log(store: Path, chance: random.Random) -> None:
    """The log is as it was, and has gone on elsewhere; the index is of what was said here since."""
    copy = store.with_name("copy")
    shutil.copytree(store / "spaces", copy)
    with local(store) as memory:
        memory.add([turn(number + 700, chance) for number in range(chance.randint(1, 12))])
        if chance.random() < 0.5:
            memory.flush()
    shutil.rmtree(store / "spaces")
    shutil.copytree(copy, store / "spaces")
    with local(store, index="memory") as memory:
        memory.add([turn(number + 900, chance) for number in range(30)])


HARMS: tuple[tuple[str, Harm], ...] = (
    ("index gone", _delete),
    ("index emptied", _empty),
    ("index of before", _bring_back),
    ("index of another store", _of_another_store),
    ("index of another past", _of_another_past),
    ("log of before", _of_a_restored_log),
)

LIVES = 6
"""Processes that go on with one store before the next store begins."""

KILLED = """
import random, sys
from pathlib import Path
from tests.torture.indexes import local, turn

store, seed, first = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
with local(store) as memory:
    print("open", flush=True)
    for number in range(first, first + 10_000):
        memory.add(turn(number, random.Random(number)), session=f"s{number % 3}")
        print(number, flush=True)
        if chance.random() < 0.15:
            memory.flush()
        if chance.random() < 0.3:
            memory.ask(f"How many herons did we count on day {chance.randint(0, number)}?")
        if chance.random() < 0.02:
            memory.reindex()
"""


def killed_with_index(share: Share) -> Outcome:
    """SIGKILL to processes that add, flush, ask and reindex with the embedded index open."""
    outcome, chance = Outcome(), share.chance()
    while outcome.count < share.count:
        with TemporaryDirectory(dir=QUICK) as folder:
            store, acknowledged = Path(folder) / "store", -1
            for _ in range(min(LIVES, share.count - outcome.count)):
                acknowledged = max(acknowledged, _one_life(store, chance, acknowledged + 1))
                outcome.count += 1
                _look(store, acknowledged, chance, outcome)
    return outcome


def _one_life(store: Path, chance: random.Random, first: int) -> int:
    """Kill a process some time after it opened the store; the last turn it said was stored."""
    command = [sys.executable, "-c", KILLED, str(store), str(chance.randrange(2**32)), str(first)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        if process.stdout.readline() != "open\n":
            raise RuntimeError("the process did not open its store")
        time.sleep(chance.choice((0.0, 0.02, 0.1, 0.3, 1.0)) * chance.random())
        process.send_signal(signal.SIGKILL)
        numbers = [int(line) for line in process.stdout.read().split("\n")[:-1]]
    return max(numbers, default=-1)


def _look(store: Path, acknowledged: int, chance: random.Random, outcome: Outcome) -> None:
    """Open what was left, and hold it to every turn that was acknowledged."""
    with local(store) as memory:
        pages = [memory.page(info.id) for info in memory.pages()] + list(memory.open_pages())
        said = [line.turn.text for page in pages for line in page.lines if line.turn is not None]
        days = sorted(int(text.split()[2]) for text in said)
        outcome.seen["turns acknowledged"] += acknowledged + 1 - outcome.seen["of them before"]
        outcome.demand(days[: acknowledged + 1] == list(range(acknowledged + 1)), "a turn lost or doubled")
        outcome.demand(len(days) <= acknowledged + 2, "a turn that nobody said")
        if not days:
            return
        day = chance.choice(days)
        answer = memory.ask(f"How many herons did we count on day {day}?")
        outcome.demand(str(1000 + day) in answer.text, "an answer that the log does not give")
        outcome.demand(memory.flush().problems == (), "something stays undone")
        outcome.demand(memory.stats().pages_pending == 0, "a page was never summarised")
        before = [_hits(memory, text) for text in chance.sample(said, min(4, len(said)))]
        outcome.demand(all(all(found) for found in before), "words of the log cannot be found")
        memory.reindex()
        outcome.demand(memory.verify().ok, "verify finds damage")


ROWS = (
    Row(
        name="lost-index",
        failure="index gone, emptied, older, of another store, of another past of the same one",
        done="searched and answered from at once; once it has caught up, as one made anew finds it",
        unit="indexes",
        count=120,
        share=6,
        work=lost_index,
    ),
    Row(
        name="kill-index",
        failure="kill -9 at any instant, with the embedded index open",
        done="SIGKILL to real processes that add, flush, ask and reindex, each going on where the last one "
        "died; opened again, every turn is there once, is found, and answers are the log's",
        unit="kills",
        count=600,
        share=30,
        minutes=20,
        work=killed_with_index,
    ),
)

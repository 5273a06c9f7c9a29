"""How long erasing one turn takes in memories of different size.

`python -m tests.api.erasing_time 1000 10000`. Turns are made up of words as often as words are, the rarer
ones longer, and embedded by hashing them; nothing is summarised. The second erasing counts: the first also
takes out what sealing pages left behind.
"""

from __future__ import annotations

import random
import sys
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import tiermem
from tiermem.api import Memory
from tiermem.embedding.hashed import HashEmbedder

SESSION = 500
"""Turns of one session."""
_WORDS = 20_000


def main(sizes: list[int]) -> None:
    """Print the seconds one erasing takes, size by size."""
    for size in sizes:
        with TemporaryDirectory() as folder:
            sys.stdout.write(f"{size:,} turns: {seconds(Path(folder), size):.2f} s\n")
            sys.stdout.flush()


def seconds(store: Path, size: int) -> float:
    """The time the second of two erasings takes in a memory of so many turns."""
    chance = random.Random(size)
    short = ["".join(letters) for letters in product("bdfgklm", "aeiou", "nprstvz", "aeiou")]
    words = [*short, *("".join(chance.choices(short, k=2)) for _ in range(_WORDS - len(short)))]
    often = [1 / place for place in range(1, _WORDS + 1)]
    embedder = HashEmbedder(384)
    with tiermem.open(store, engine="local", embedder=embedder, distil="deferred") as memory:
        for start in range(0, size, SESSION):
            told = [
                {"speaker": "Ann", "text": " ".join(chance.choices(words, often, k=16)), "id": f"t{number}"}
                for number in range(start, min(size, start + SESSION))
            ]
            memory.add(told, session=f"s{start // SESSION}")
    with tiermem.open(store, engine="local", embedder=embedder, distil="deferred") as memory:
        erase(memory, size // 3)
        started = perf_counter()
        erase(memory, size // 2)
        return perf_counter() - started


def erase(memory: Memory, turn: int) -> None:
    """Erase a turn, and see that its receipt says that nothing is left."""
    receipt = memory.erase(turn=f"t{turn}", session=f"s{turn // SESSION}", reason="asked to")
    if receipt.erasure.index != "rewritten" or not receipt.leftovers.clean:
        raise RuntimeError(f"not erased: {receipt}")


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [1_000, 10_000])

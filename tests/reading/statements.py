"""How often search finds the short statement that a look-up asks for.

`python -m tests.reading.statements` stores the statements of `statements.json` one by one, by `remember` and
by `add`, and prints how many of them are found first and among the first three.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, get_args

import tiermem
from eval.datasets import Statements
from tiermem.reading.search import Strategy

FILE = Path(__file__).with_name("statements.json")
Kind = Literal["units", "turns", "any"]
Counts = tuple[int, int]
"""How many statements are found first, and among the first three."""
_KINDS: dict[str, tuple[Kind, ...]] = {"remember": ("units", "turns", "any"), "add": ("turns", "any")}


def store(memory: tiermem.Memory, pairs: list[tuple[str, str]], by: str) -> None:
    """Store the statements in one session, by `remember` or by `add`."""
    for statement, _ in pairs:
        if by == "remember":
            memory.remember(statement)
        else:
            memory.add(statement)
    memory.flush()


def count_found(
    memory: tiermem.Memory, pairs: list[tuple[str, str]], kind: Kind, strategy: Strategy = "hybrid"
) -> Counts:
    """Count the statements that are found, each by its question."""
    first = three = 0
    for statement, question in pairs:
        found = memory.recall(question, kind=kind, limit=3, strategy=strategy).items
        is_right = [statement in one.text for one in found]
        first += is_right[:1] == [True]
        three += any(is_right)
    return first, three


def measure() -> Iterator[tuple[str, Kind, Strategy, Counts]]:
    """Count for each way of storing, kind and strategy."""
    pairs = Statements(FILE).pairs
    for by, kinds in _KINDS.items():
        with (
            TemporaryDirectory() as directory,
            tiermem.open(directory, engine="local", embedder="minilm") as memory,
        ):
            store(memory, pairs, by)
            for kind in kinds:
                for strategy in get_args(Strategy):
                    yield by, kind, strategy, count_found(memory, pairs, kind, strategy)


if __name__ == "__main__":
    for by, kind, strategy, (first, three) in measure():
        sys.stdout.write(f"{by:8}  {kind:5}  {strategy:8}  {first:2} first  {three:2} of three\n")

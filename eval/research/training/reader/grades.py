"""Whether the head for support of a claim may move a grade: how often it is right where it is sure.

`python -m eval.research.training.reader.grades --data ../shared/data --reader FILE` prints it for claims of a
model and for altered ones, over LoCoMo's halves A and B, of those in which code marks something.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eval.datasets import LoCoMo
from eval.recorded import read_facts
from eval.research.training.data.examples import GRADES, Example
from eval.research.training.data.facts import supporting
from eval.research.training.data.mix import halves
from eval.research.training.data.sources import SOURCES
from tiermem.embedding.weights import find_weights
from tiermem.proof import grade
from tiermem.reasoning.learned.graph import LearnedReader
from tiermem.text import Source

_EACH: Final = 350
"""Claims of a conversation that are read, drawn by chance."""
_SURE: Final = (0.5, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A claim over a turn: its half, what it is, and the probabilities that the head gives to each grade."""

    half: str
    grade: str
    said: tuple[float, ...]


def precision(claims: Sequence[Claimed], grade: str, sure: float) -> tuple[int, int]:
    """Of the claims that the head gives this grade with at least this probability, those right, and all."""
    taken = [one.grade == grade for one in claims if one.said[GRADES.index(grade)] >= sure]
    return sum(taken), len(taken)


def find_marked(data: Path, reader: LearnedReader) -> Iterator[Claimed]:
    """The claims in which code marks an unsupported word or a caution, or finds no word of the turn."""
    files = [data / name for name in SOURCES["locomo"].files]
    locomo = LoCoMo(*files)
    cases = list(locomo.cases())
    groups, part_of = halves("locomo", cases)
    for case in cases:
        file = data / SOURCES["locomo-facts"].files[0] / f"{case.id}.jsonl"
        if not file.exists():
            continue
        facts = read_facts(file, case, locomo.places(case.id))
        claims = list(supporting(case, facts, groups[case.id]))
        random.Random(0).shuffle(claims)  # noqa: S311 - no secret depends on it
        half = "B" if part_of[groups[case.id]] == "test" else "A"
        drawn = (one for one in claims[:_EACH] if _is_marked(one))
        yield from (_read(reader, one, half) for one in drawn)


def _is_marked(claim: Example) -> bool:
    said = claim.second.partition(": ")[2].strip()
    return not grade(claim.first, [Source(said)]).is_unmarked


def _read(reader: LearnedReader, claim: Example, half: str) -> Claimed:
    import numpy as np

    logits = reader.outputs(reader.pieces(claim.first, claim.second))["grade"]
    shares = np.exp(logits - logits.max())
    said = tuple(float(one) for one in shares / shares.sum())
    return Claimed(half=half, grade=GRADES[claim.label], said=said)


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, required=True)
    arguments.add_argument("--reader", type=Path, required=True)
    asked = arguments.parse_args()
    reader = LearnedReader(find_weights(None), asked.reader.read_bytes())
    claims = list(find_marked(asked.data, reader))
    for half in ("A", "B"):
        of = [one for one in claims if one.half == half]
        for label in ("stated", "contradicted"):
            cells = [
                f"{sure}: {right} of {all_}" for sure in _SURE for right, all_ in [precision(of, label, sure)]
            ]
            sys.stdout.write(f"half {half}, {len(of)} claims, {label}: {'; '.join(cells)}\n")


if __name__ == "__main__":
    main()

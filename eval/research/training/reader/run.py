"""From a folder of data to weights and a page: find, train every seed, export their mean, measure. Each goes
on where it stopped.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from anyio import to_thread

from eval.research.reproduction import Reproduction
from eval.research.training.data.examples import digest
from eval.research.training.data.found import Found
from eval.research.training.data.mix import DATASETS, halves
from eval.research.training.data.sources import SOURCES, to_measure_with
from eval.research.training.reader.export import Exported, agreement, mean_of
from eval.research.training.reader.loop import Recipe
from eval.research.training.reader.marks import marks, read, squad_marks
from eval.research.training.reader.measure import ReaderAnswer, answers
from eval.research.training.reader.page import Measured, found
from eval.research.training.reader.prepare import Prepared
from eval.research.training.reader.seeds import (
    each_seed,
    file_of,
    find_in,
    prepare,
    sources_of,
    write_reader,
)
from eval.types import Case, QuestionId
from tiermem.embedding.weights import find_weights
from tiermem.reasoning.learned.graph import LearnedReader

_COMPARED: Final = 300
"""Lessons on which 8 bits are held against 32."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """What a command asks for. `lessons` of those there are, `None` for all; `measure` are the conversations
    whose half B is answered; with `find` what the product finds is asked again where it is missing.

    Every one of `seeds` is trained by itself, whatever seed the recipe names, in a folder of its own below
    `out`; the reader is their mean.
    """

    data: Path
    out: Path
    sources: tuple[str, ...]
    measure: tuple[str, ...] = ("locomo",)
    recipe: Recipe = field(default_factory=Recipe)
    seeds: tuple[int, ...] = (0,)
    lessons: int | None = None
    weights: Path | None = None
    find: bool = True
    cache: Path | None = None
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Half:
    """Conversations to measure on, and what is found for every question."""

    cases: Sequence[Case]
    found: Mapping[QuestionId, Found]

    def answer_all(self, reader: LearnedReader) -> list[ReaderAnswer]:
        return answers(reader, self.cases, self.found)


async def run(asked: Training) -> Reproduction:
    """Train and measure. The folder `out` holds weights and answers; below it every seed has its curves."""
    weights = find_weights(asked.weights)
    everything = await find_in(asked)
    seconds = await to_thread.run_sync(each_seed, asked)
    made, parts = prepare(asked, weights, everything, seed=asked.seeds[0])
    exported, small = _averaged(asked, weights, parts)
    measured = {name: _to_measure(asked, name, everything[name]) for name in asked.measure}
    said = {name: of.answer_all(small) for name, of in measured.items()}
    on_all_processors = LearnedReader(weights, exported.file.read_bytes(), threads=os.cpu_count() or 1)
    _keep(asked.out / "answers.jsonl", said)
    return found(
        Measured(
            command=asked.command,
            recipe=asdict(asked.recipe) | {"lessons": asked.lessons or "all", "seed": asked.seeds},
            seconds=sum(seconds),
            lessons=dict(Counter(one.source for one in parts["train"].lessons)),
            checksums=made.checksums,
            digests={part: digest(of.lessons) for part, of in parts.items()},
            set_aside=made.set_aside,
            exported=exported,
            marks=_marks_of(on_all_processors, parts["test"]),
            said=said,
            by_seed=_by_seed(asked, weights, measured) if len(asked.seeds) > 1 else {},
        )
    )


def _averaged(
    asked: Training, weights: Path, parts: Mapping[str, Prepared]
) -> tuple[Exported, LearnedReader]:
    """The mean of the seeds as it is used."""
    learned = mean_of([file_of(asked, seed).read_bytes() for seed in asked.seeds])
    file = asked.out / "reader.safetensors"
    sha = write_reader(learned, file, parts, recipe=f"seeds {asked.seeds} of {asked.recipe!r}")
    raw, threads = file.read_bytes(), asked.recipe.threads
    small = LearnedReader(weights, raw, threads=threads)
    exact = LearnedReader(weights, raw, precision="fp32", threads=threads)
    compared = _some(parts["test"], parts["dev"])
    exported = Exported(
        file=file,
        bytes=file.stat().st_size,
        sha256=sha,
        may_ship=not to_measure_with(sources_of(parts)),
        agreement=agreement(small, compared, [exact.outputs(pieces) for pieces in compared.pieces]),
    )
    return exported, small


def _by_seed(
    asked: Training, weights: Path, measured: Mapping[str, _Half]
) -> dict[int, dict[str, list[ReaderAnswer]]]:
    """What the reader of every seed answers by itself, by source."""
    readers = {
        seed: LearnedReader(weights, file_of(asked, seed).read_bytes(), threads=asked.recipe.threads)
        for seed in asked.seeds
    }
    return {
        seed: {name: of.answer_all(reader) for name, of in measured.items()}
        for seed, reader in readers.items()
    }


def _some(test: Prepared, dev: Prepared) -> Prepared:
    """Lessons of every head: some of the test, and all that are looked at."""
    step = max(1, len(test.lessons) // _COMPARED)
    return Prepared(
        lessons=[*test.lessons[::step], *dev.lessons],
        pieces=[*test.pieces[::step], *dev.pieces],
        encoded=[*test.encoded[::step], *dev.encoded],
    )


def _marks_of(reader: LearnedReader, test: Prepared) -> dict[str, Mapping[str, float]]:
    """Marks by source; of SQuAD 2.0 its F1 as well."""
    found_marks: dict[str, Mapping[str, float]] = {}
    outcomes = [reader.outputs(pieces) for pieces in test.pieces]
    for source in dict.fromkeys(one.source for one in test.lessons):
        of = [at for at, one in enumerate(test.lessons) if one.source == source]
        chosen = [test.lessons[at] for at in of]
        cut, said = [test.pieces[at] for at in of], [outcomes[at] for at in of]
        found_marks[source] = marks(chosen, cut, said)
        if source == "squad2":
            readings = [read(*one) for one in zip(chosen, cut, said, strict=True)]
            found_marks[source] = {**found_marks[source], **squad_marks(chosen, readings, 0.0)}
    return found_marks


def _to_measure(asked: Training, name: str, everything: Mapping[QuestionId, Found]) -> _Half:
    cases = list(DATASETS[name](SOURCES[name].paths(asked.data)[0]).cases())
    groups, part_of = halves(name, cases)
    half = [case for case in cases if part_of[groups[case.id]] == "test"]
    return _Half(cases=half, found=everything)


def _keep(file: Path, said: Mapping[str, Sequence[ReaderAnswer]]) -> None:
    rows: list[dict[str, Any]] = [{"source": name, **asdict(one)} for name, of in said.items() for one in of]
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")

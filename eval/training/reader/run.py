"""From a folder of data to weights and a page: find, build, train, export, measure. Each goes on where it
stopped.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from eval.progress import watching
from eval.reproduction import Reproduction
from eval.training.data.examples import Example, digest
from eval.training.data.found import Found, find_all, read_found
from eval.training.data.mix import DATASETS, halves, lessons
from eval.training.data.sources import SOURCES, to_measure_with
from eval.training.reader.curves import looks, losses, picture
from eval.training.reader.export import Exported, agreement, write_factors
from eval.training.reader.loop import Curve, Recipe, outputs, train
from eval.training.reader.marks import marks, read, squad_marks
from eval.training.reader.measure import BothAnswers, answers
from eval.training.reader.page import Measured, found
from eval.training.reader.prepare import Prepared, course_of, drawn, prepared, whole_tokenizer
from eval.types import QuestionId
from tiermem.embedding.tensors import read_safetensors
from tiermem.embedding.weights import WEIGHTS, find_weights
from tiermem.reasoning.learned.graph import LearnedReader

_DEV: Final = 400
"""Lessons looked at while learning."""
_COMPARED: Final = 300
"""Lessons on which 8 bits are held against 32."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """What a command asks for. `lessons` of those there are, `None` for all; `measure` are the conversations
    whose half B is answered; with `find` what the product finds is asked anew where it is not there yet.
    """

    data: Path
    out: Path
    sources: tuple[str, ...]
    measure: tuple[str, ...] = ("locomo",)
    recipe: Recipe = field(default_factory=Recipe)
    lessons: int | None = None
    weights: Path | None = None
    find: bool = True
    cache: Path | None = None
    command: str = ""


async def run(asked: Training) -> Reproduction:
    """Train and measure; the folder `out` holds the weights, the curves and every answer."""
    weights = find_weights(asked.weights)
    everything = await _found(asked)
    made = lessons(asked.data, asked.sources, found=everything)
    tokenizer = whole_tokenizer(weights)
    parts = {
        "train": prepared(drawn(made.parts["train"], asked.lessons, seed=asked.recipe.seed), tokenizer),
        "dev": prepared(drawn(made.parts["dev"], _DEV, seed=asked.recipe.seed), tokenizer),
        "test": prepared(made.parts["test"], tokenizer),
    }
    exported, small, curve = _trained(asked, weights, parts)
    said = {name: _answered(asked, name, small, everything[name]) for name in asked.measure}
    _keep(asked.out / "answers.jsonl", said)
    return found(
        Measured(
            command=asked.command,
            recipe=asdict(asked.recipe) | {"lessons": asked.lessons or "all"},
            seconds=curve.seconds,
            lessons=dict(Counter(one.source for one in parts["train"].lessons)),
            checksums=made.checksums,
            digests={part: digest(of.lessons) for part, of in parts.items()},
            set_aside=made.set_aside,
            exported=exported,
            marks=_marks_of(small, parts["test"]),
            said=said,
        )
    )


def _trained(
    asked: Training, weights: Path, parts: Mapping[str, Prepared]
) -> tuple[Exported, LearnedReader, Curve]:
    """The weights as they are used, and how learning them went."""
    dev = parts["dev"]
    with watching() as watcher:
        reader, curve = train(
            read_safetensors(weights / WEIGHTS),
            parts["train"].encoded,
            dev.encoded,
            lambda said: marks(dev.lessons, dev.pieces, said),
            recipe=asked.recipe,
            folder=asked.out,
            watcher=watcher,
            course=course_of(parts["train"].lessons, asked.recipe.epochs),
        )
    _draw(asked.out, curve)
    saw = _sources(parts["train"].lessons, dev.lessons)
    file = asked.out / "reader.safetensors"
    notes = {"recipe": repr(asked.recipe), "lessons": digest(parts["train"].lessons)}
    sha = write_factors(reader.learned(), file, trained_on=saw, notes=notes)
    small = LearnedReader(weights, file.read_bytes(), threads=asked.recipe.threads)
    compared = _some(parts["test"], dev)
    exported = Exported(
        file=file,
        bytes=file.stat().st_size,
        sha256=sha,
        may_ship=not to_measure_with(saw),
        agreement=agreement(small, compared, outputs(reader, compared.encoded)),
    )
    return exported, small, curve


def _sources(*parts: Sequence[Example]) -> tuple[str, ...]:
    seen = {one.source for of in parts for one in of}
    return tuple(name for name in SOURCES if name in seen)


async def _found(asked: Training) -> dict[str, Mapping[QuestionId, Found]]:
    """What the product finds in every source of conversations that is learned from or measured on."""
    from eval.arrange import local_embedder
    from tiermem.llm.tokens import token_counter

    wanted = [name for name in DATASETS if name in {*asked.sources, *asked.measure}]
    everything: dict[str, Mapping[QuestionId, Found]] = {}
    embedder = local_embedder("fp32", asked.recipe.threads, asked.cache)
    try:
        for name in wanted:
            dataset = DATASETS[name](SOURCES[name].paths(asked.data)[0])
            file = asked.out.parent / "found" / f"{name}.jsonl"
            if not asked.find:
                everything[name] = read_found(file, dataset.checksum)
                continue
            with watching() as watcher:
                everything[name] = await find_all(
                    dataset, file, embedder=embedder, counter=token_counter(), watcher=watcher
                )
    finally:
        embedder.close()
    return everything


def _draw(folder: Path, curve: Curve) -> None:
    (folder / "losses.svg").write_text(picture(losses(curve.losses), y="loss"), encoding="utf-8")
    (folder / "dev.svg").write_text(picture(looks(curve.looks), y="on what is looked at"), encoding="utf-8")


def _some(test: Prepared, dev: Prepared) -> Prepared:
    """Lessons of every head: some of the test, and all that are looked at."""
    step = max(1, len(test.lessons) // _COMPARED)
    return Prepared(
        lessons=[*test.lessons[::step], *dev.lessons],
        pieces=[*test.pieces[::step], *dev.pieces],
        encoded=[*test.encoded[::step], *dev.encoded],
    )


def _marks_of(small: LearnedReader, test: Prepared) -> dict[str, Mapping[str, float]]:
    """Marks by source; of SQuAD 2.0 its F1 as well."""
    found_marks: dict[str, Mapping[str, float]] = {}
    outcomes = [small.outputs(pieces) for pieces in test.pieces]
    for source in dict.fromkeys(one.source for one in test.lessons):
        of = [at for at, one in enumerate(test.lessons) if one.source == source]
        chosen = [test.lessons[at] for at in of]
        cut, said = [test.pieces[at] for at in of], [outcomes[at] for at in of]
        found_marks[source] = marks(chosen, cut, said)
        if source == "squad2":
            readings = [read(*one) for one in zip(chosen, cut, said, strict=True)]
            found_marks[source] = {**found_marks[source], **squad_marks(chosen, readings, 0.0)}
    return found_marks


def _answered(
    asked: Training, name: str, small: LearnedReader, everything: Mapping[QuestionId, Found]
) -> list[BothAnswers]:
    cases = list(DATASETS[name](SOURCES[name].paths(asked.data)[0]).cases())
    groups, part_of = halves(name, cases)
    return answers(small, [case for case in cases if part_of[groups[case.id]] == "test"], everything)


def _keep(file: Path, said: Mapping[str, Sequence[BothAnswers]]) -> None:
    rows: list[dict[str, Any]] = [{"source": name, **asdict(one)} for name, of in said.items() for one in of]
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")

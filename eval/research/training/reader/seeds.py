"""Every seed of a training, in a process of its own, as many at once as there are processors."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
import numpy as np
from numpy.typing import NDArray

from eval.arrange import opened_embedder
from eval.progress import watching
from eval.report.pictures import picture
from eval.research.training.data.examples import digest
from eval.research.training.data.found import Found, find_all, read_found
from eval.research.training.data.mix import DATASETS, Lessons, lessons
from eval.research.training.data.sources import SOURCES
from eval.research.training.reader.curves import looks, losses
from eval.research.training.reader.export import write_factors
from eval.research.training.reader.loop import Curve, train
from eval.research.training.reader.marks import marks
from eval.research.training.reader.prepare import Prepared, course_of, drawn, prepared, whole_tokenizer
from eval.types import QuestionId
from tiermem.embedding.tensors import read_safetensors
from tiermem.embedding.weights import WEIGHTS, find_weights

if TYPE_CHECKING:
    from eval.research.training.reader.run import Training

_DEV: Final = 400
"""Lessons looked at while learning."""


def each_seed(asked: Training) -> list[float]:
    """Train them, or go on with them; the seconds of processor time that each took in all."""
    at_once = min(len(asked.seeds), os.cpu_count() or 1)
    if at_once == 1:
        return [_one_seed(asked, seed) for seed in asked.seeds]
    with ProcessPoolExecutor(at_once, multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(partial(_one_seed, asked), asked.seeds))


def file_of(asked: Training, seed: int) -> Path:
    """What the reader of a seed learned."""
    return asked.out / f"seed-{seed}" / "reader.safetensors"


def _one_seed(asked: Training, seed: int) -> float:
    weights, folder = find_weights(asked.weights), file_of(asked, seed).parent
    everything = anyio.run(find_in, replace(asked, find=False))
    _, parts = prepare(asked, weights, everything, seed=seed)
    dev = parts["dev"]
    with watching(lines=len(asked.seeds) > 1) as watcher:
        reader, curve = train(
            read_safetensors(weights / WEIGHTS),
            parts["train"].encoded,
            dev.encoded,
            lambda said: marks(dev.lessons, dev.pieces, said),
            recipe=replace(asked.recipe, seed=seed),
            folder=folder,
            watcher=watcher,
            course=course_of(parts["train"].lessons, asked.recipe.epochs),
        )
    _draw(folder, curve)
    recipe = repr(replace(asked.recipe, seed=seed))
    write_reader(reader.learned(), file_of(asked, seed), parts, recipe=recipe)
    return curve.seconds


def write_reader(
    learned: Mapping[str, NDArray[np.float32]], file: Path, parts: Mapping[str, Prepared], *, recipe: str
) -> str:
    """Write what was learned from these lessons, with what they are; the file's SHA-256."""
    notes = {"recipe": recipe, "lessons": digest(parts["train"].lessons)}
    return write_factors(learned, file, trained_on=sources_of(parts), notes=notes)


def prepare(
    asked: Training, weights: Path, everything: Mapping[str, Mapping[QuestionId, Found]], *, seed: int
) -> tuple[Lessons, dict[str, Prepared]]:
    """The lessons there are, and by part those drawn by this seed, as numbers."""
    made = lessons(asked.data, asked.sources, found=everything)
    tokenizer = whole_tokenizer(weights)
    parts = {
        "train": prepared(drawn(made.parts["train"], asked.lessons, seed=seed), tokenizer),
        "dev": prepared(drawn(made.parts["dev"], _DEV, seed=seed), tokenizer),
        "test": prepared(made.parts["test"], tokenizer),
    }
    return made, parts


def sources_of(parts: Mapping[str, Prepared]) -> tuple[str, ...]:
    """What the lessons come from that anything is learned or chosen by."""
    seen = {one.source for part in ("train", "dev") for one in parts[part].lessons}
    return tuple(name for name in SOURCES if name in seen)


async def find_in(asked: Training) -> dict[str, Mapping[QuestionId, Found]]:
    """What the product finds in every source of conversations that is learned from or measured on."""
    wanted = [name for name in DATASETS if name in {*asked.sources, *asked.measure}]
    datasets = {name: DATASETS[name](SOURCES[name].paths(asked.data)[0]) for name in wanted}
    files = {name: asked.out / "found" / f"{name}.jsonl" for name in wanted}
    if not asked.find:
        return {name: read_found(files[name], of.checksum) for name, of in datasets.items()}
    everything: dict[str, Mapping[QuestionId, Found]] = {}
    embedder = partial(opened_embedder, "fp32", asked.recipe.threads, asked.cache)
    for name, dataset in datasets.items():
        with watching() as watcher:
            everything[name] = await find_all(dataset, files[name], embedder=embedder, watcher=watcher)
    return everything


def _draw(folder: Path, curve: Curve) -> None:
    (folder / "losses.svg").write_text(picture(losses(curve.losses), y="loss", x="steps"), encoding="utf-8")
    (folder / "dev.svg").write_text(
        picture(looks(curve.looks), y="on what is looked at", x="steps"), encoding="utf-8"
    )

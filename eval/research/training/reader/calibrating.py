"""Calibrating a reader from end to end: ask, fit, report, and write the file that is published."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eval.arrange import opened_embedder
from eval.datasets.excerpts import Excerpts, whole
from eval.options import Bits
from eval.progress import watching
from eval.research.reproduction import Reproduction
from eval.research.training.data.mix import DATASETS, checksum, halves
from eval.research.training.data.sources import SOURCES
from eval.research.training.reader.asked import AskedQuestion, ask_all
from eval.research.training.reader.calibrate import (
    Worth,
    describe_probability,
    find_worth,
    fit_calibration,
    reliability_picture,
    risk_picture,
    shares,
    sources_of,
)
from eval.research.training.reader.factors import with_texts
from eval.types import Dataset
from tiermem.embedding.interface import Embedder
from tiermem.embedding.weights import find_weights
from tiermem.errors import InvalidInput
from tiermem.llm.tokens import token_counter
from tiermem.reasoning.learned.first_line import KEY, FirstLineCalibration
from tiermem.reasoning.learned.graph import LearnedReader

_OPENING: Final = (
    "What the product displays with the small reader and no language model, and what the probability beside "
    "it is worth. A line, which is a turn up to 240 characters around its best sentence, holds the answer if "
    "it has a gold answer as whole words (dates by the calendar) or is of a turn of the evidence. The "
    "probability that the first line does, and the thresholds for risks, were fitted on halves A of the "
    "conversations below, whole and in excerpts, which the reader did not learn from; every figure is of "
    "halves B. An excerpt is one, two or four sessions as a memory of their own: a question is asked where "
    "all of its evidence lies, and in the next one, where it was not said."
)


@dataclass(frozen=True, kw_only=True)
class Calibrating:
    """What the command asks for; `measure` are the sources whose halves A are fitted on."""

    data: Path
    reader: Path
    out: Path
    measure: tuple[str, ...]
    precision: Bits = "fp32"
    cache: Path | None = None
    command: str = ""


async def run(asked: Calibrating) -> Reproduction:
    """The page; `out` holds every answer, the pictures, and the reader with its calibration in it."""
    unknown = [name for name in asked.measure if name not in DATASETS]
    if unknown:
        raise InvalidInput(f"no conversations {unknown}; there are: {', '.join(DATASETS)}")
    raw = asked.reader.read_bytes()
    sources = {name: DATASETS[name](SOURCES[name].paths(asked.data)[0]) for name in asked.measure}
    with opened_embedder(asked.precision, 1, asked.cache) as embedder:
        everything = await _answers(asked, sources, raw, embedder)
    first, second = _halves(sources, everything)
    calibration = fit_calibration(
        [one for of in first.values() for one in of], embedder=embedder.name, fitted_on=sources_of(first)
    )
    file = asked.out / "reader.safetensors"
    file.write_bytes(with_texts(raw, {KEY: calibration.written()}))
    every = [find_worth(name, of, calibration) for name, of in second.items()]
    (asked.out / "reliability.svg").write_text(reliability_picture(every), encoding="utf-8")
    (asked.out / "risk.svg").write_text(risk_picture(every), encoding="utf-8")
    return _page(asked, calibration, every, file)


async def _answers(
    asked: Calibrating, sources: Mapping[str, Dataset], raw: bytes, embedder: Embedder
) -> dict[str, list[AskedQuestion]]:
    reader = LearnedReader(find_weights(None), raw)
    named = hashlib.sha256(raw).hexdigest()
    found = {}
    for conversations in sources.values():
        for dataset in (conversations, Excerpts(conversations)):
            with watching() as watcher:
                found[dataset.name] = await ask_all(
                    dataset,
                    reader,
                    asked.out / f"{dataset.name.replace(' ', '-')}.jsonl",
                    embedder=embedder,
                    counter=token_counter(),
                    watcher=watcher,
                    named=named,
                )
    return {name: of for name, of in found.items() if of}


def _halves(
    sources: Mapping[str, Dataset], everything: Mapping[str, Sequence[AskedQuestion]]
) -> tuple[dict[str, list[AskedQuestion]], dict[str, list[AskedQuestion]]]:
    """Of every dataset; an excerpt is in the half of its conversation."""
    told: set[str] = set()
    for name, conversations in sources.items():
        groups, part_of = halves(name, list(conversations.cases()))
        told |= {case for case, group in groups.items() if part_of[group] == "test"}
    first = {name: [one for one in of if whole(one.case) not in told] for name, of in everything.items()}
    second = {name: [one for one in of if whole(one.case) in told] for name, of in everything.items()}
    return first, second


def _page(
    asked: Calibrating, calibration: FirstLineCalibration, every: Sequence[Worth], file: Path
) -> Reproduction:
    tables = [shares(of, calibration) for of in every]
    return Reproduction(
        title="Lines without a model, and what their probability is worth",
        opening=_OPENING,
        command=asked.command,
        data={name: checksum(asked.data, name) for name in asked.measure},
        tables=(*tables, describe_probability(every)),
        claims=(),
        numbers={
            "calibration": calibration.written(),
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            "bytes": file.stat().st_size,
        },
    )

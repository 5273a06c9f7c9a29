"""The whole of it, from a folder of data to weights and a page; where PyTorch and the weights are."""

import gzip
import json
import os
import re
from pathlib import Path
from typing import Any

import anyio
import pytest

from eval.research.reproduction import page
from eval.research.training.data.sources import SOURCES
from eval.research.training.reader.export import give_away
from tests.eval.research.training.test_articles import QUESTION, UNASKED, packed
from tests.eval.research.training.test_articles import TEXT as MILL
from tiermem.embedding.weights import find_weights
from tiermem.errors import EmbedderUnavailable
from tiermem.reasoning.interface import SaidTurn
from tiermem.reasoning.learned.graph import LearnedReader
from tiermem.reasoning.learned.pointing import point_at_words

TITLES = ("Lighthouse", "Harbour", "Bridge", "Old_Mill")


def data(folder: Path) -> Path:
    """SQuAD of four articles, of which one is the test."""
    told = {title: f"{title}: {MILL}" for title in TITLES}
    made: dict[str, Any] = {
        title: [{"context": text, "qas": [{**QUESTION, "id": f"{title}1"}, {**UNASKED, "id": f"{title}2"}]}]
        for title, text in told.items()
    }
    packed(folder / SOURCES["squad"].files[0], {"1.1": made, "2.0": made})
    text = told["Old_Mill"]
    answers = [{"text": "Ada Brook", "answer_start": text.index("Ada")}]
    qas = [{**QUESTION, "id": "t1", "question": "Who?", "answers": answers}, {**UNASKED, "id": "t2"}]
    tested = {"data": [{"title": "Old Mill", "paragraphs": [{"context": text, "qas": qas}]}]}
    file = folder / SOURCES["squad2"].files[0]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(json.dumps(tested).encode()))
    return folder


def test_from_data_to_weights_that_answer_and_a_page_that_says_what_they_saw(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs the extra `train`")
    from eval.research.training.reader.loop import Recipe
    from eval.research.training.reader.run import Training, run

    try:
        weights = find_weights(os.environ.get("TIERMEM_WEIGHTS"))
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    asked = Training(
        data=data(tmp_path / "data"),
        out=tmp_path / "runs",
        seeds=(0, 1),
        sources=("squad",),
        measure=(),
        recipe=Recipe(rank=4, epochs=1, pieces=256, looks=1),
        weights=weights,
        cache=tmp_path / "cache",
        command="python -m eval.research train",
    )
    found = anyio.run(run, asked)
    again = anyio.run(run, asked)
    assert again.numbers["sha256"] == found.numbers["sha256"]
    assert 0 <= found.numbers["marks"]["squad2"]["f1"] <= 1
    told = page(found, machine="here", commit="1a2b3c")
    assert re.search(r"\| squad \| CC BY-SA 4.0 \| yes \| \d+ \|", told)
    assert "It may be given away." in told
    assert (asked.out / "seed-1" / "losses.svg").read_text().startswith("<svg")
    file = asked.out / "reader.safetensors"
    assert give_away(file, tmp_path / "package" / "reader").stat().st_size < 2_000_000
    reader = LearnedReader(weights, file.read_bytes())
    assert len(point_at_words(reader, "Who built it?", [SaidTurn(speaker="Ann", text=MILL)])) == 1

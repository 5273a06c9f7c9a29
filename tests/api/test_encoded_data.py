"""Encoded data inside a message costs little, makes no units, and stays whole on the page."""

from __future__ import annotations

import base64
import json
from random import Random

import pytest

from pagestore import SessionId, Turn
from tests.api.conftest import OpenMemory
from tests.text.test_long_runs import RUNS
from tiermem.index.features import count_terms, turn_features
from tiermem.index.testing import page_with
from tiermem.model import EXTRACT
from tiermem.text import omissions
from tiermem.text.long_runs import shorten_runs

SHAPES = {
    "a tool's JSON": lambda run: json.dumps({"title": "Kiln cold", "screenshot": run}),
    "an image in Markdown": lambda run: f"Kiln cold ![shot](data:image/png;base64,{run}) as of now",
    "a block of code": lambda run: f"Kiln cold:\n```\n{run}\n```\n",
    "a key": lambda run: f"Kiln cold\n-----BEGIN CERTIFICATE-----\n{run}\n-----END CERTIFICATE-----",
    "a mail": lambda run: f"Kiln cold\nContent-Transfer-Encoding: base64\n\n{run}\n\n-- \nYlva",
}


@pytest.mark.parametrize("run", ["base64", "base64 in lines", "hex", "numbers", "percent"])
@pytest.mark.parametrize("shape", SHAPES)
def test_encoded_data_is_kept_and_neither_searched_nor_summarised(
    open_memory: OpenMemory, shape: str, run: str
) -> None:
    text = SHAPES[shape](RUNS[run])
    memory = open_memory(engine="local")
    memory.add(
        [
            {"role": "user", "content": "Take a picture of the gate, please, Bo."},
            {"role": "tool", "tool_call_id": "c", "content": text},
            {"role": "user", "content": "My boat is called Heron."},
        ]
    )
    memory.flush()
    pages = [memory.page(page.id) for page in memory.pages()]
    kept = "".join(line.turn.text for page in pages for line in page.lines if line.turn is not None)
    assert "".join(text.split()) in "".join(kept.split())
    units = [unit for unit in memory.units() if unit.made_by == EXTRACT]
    assert any("Heron" in unit.text for unit in units)
    assert not [unit.text for unit in units if RUNS[run][100:160] in unit.text]
    assert max(len(unit.text) for unit in units) < 200
    literals = [literal for page in pages for literal in omissions(page, ())]
    assert len(literals) < 40
    assert "Kiln cold" in memory.search("kiln cold", limit=3, kind="turns")[0].text


@pytest.mark.parametrize("size", [300, 3_000, 30_000])
@pytest.mark.parametrize("before", ["This is the logo of Kestrel Ltd:", "The logo of Kestrel Ltd follows."])
def test_encoded_data_is_in_no_line_and_shortened_in_a_context(
    open_memory: OpenMemory, before: str, size: int
) -> None:
    data = base64.b64encode(Random(1).randbytes(size)).decode()
    memory = open_memory(engine="local")
    memory.add(f"{before} data:image/png;base64,{data} Please keep it.", speaker="Ann")
    memory.flush()
    answer = memory.ask("What is in the logo of Kestrel?")
    assert answer.said[0].text.startswith(before)
    assert not [line.text for line in answer.said if data[100:160] in line.text]
    context = memory.context("What is in the logo of Kestrel?", max_tokens=400)
    assert before in context.text
    assert data[:30] in context.text
    assert data[100:160] not in context.text


@pytest.mark.parametrize("size", [3_000, 30_000, 300_000])
def test_what_is_indexed_of_encoded_data_does_not_grow(size: int) -> None:
    text = f"The gate is open. {base64.b64encode(Random(1).randbytes(size)).decode()} The dog is out."
    page = page_with(Turn(speaker="Ann", text=text), 1, SessionId("s"))
    assert len(count_terms(shorten_runs(text))) < 20
    row = turn_features(page, 0)
    assert len(row.terms) < 20
    assert sum(map(len, row.texts)) < 400

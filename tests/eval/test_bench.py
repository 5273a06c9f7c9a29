"""The table and the pictures of `python -m eval bench`."""

import json
import re
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.bench.data import make_turns
from eval.bench.measure import Measured
from eval.bench.nearest import LIMIT, make_entries, measure_nearest, render_nearest
from eval.bench.page import write_page
from eval.bench.scale import StoreTimes, WriterRates, measure_writers, render_scale
from eval.cli import app
from eval.types import Case, CaseId, Session
from pagestore.values import SessionId, Turn
from tests.eval.test_report import BOTTOM
from tests.postgres import PostgresServer, execute
from tiermem.embedding.hashed import HashEmbedder
from tiermem.index.postgres import PostgresIndex
from tiermem.index.values import Hit

FIGURES = {"add": 1.0, "open": 2.0, "first": 3.0, "context": 5.0, "resident": 8.0, "disk": 0.26}


def test_the_page_has_a_row_a_measurement_and_pictures_on_logarithmic_axes(tmp_path: Path) -> None:
    measured = [
        Measured(engine=engine, turns=turns, search=turns / 10, erase=4.0, recall=0.975, files=1, **FIGURES)
        for engine in ("tiermem", "fts5")
        for turns in (100, 1_000, 10_000)
    ]
    write_page(tmp_path / "speed.md", measured)
    rows = (tmp_path / "speed.md").read_text().splitlines()
    assert rows[0].startswith("| engine | turns | add a turn | open |")
    assert rows[3] == "| tiermem | 1,000 | 1 | 2 | 3 | 100 | 5 | 4 | .97 | 8 | 0.3 | 1 |"
    assert len(rows) == 2 + len(measured)
    assert sorted(file.name for file in tmp_path.glob("*.svg")) == [
        "speed-erase.svg", "speed-open.svg", "speed-search.svg",
    ]  # fmt: skip
    drawn = (tmp_path / "speed-search.svg").read_text()
    assert "tiermem" in drawn
    assert "ms of processor time a search" in drawn
    dots = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="3.5"', drawn)[:3]
    (x1, y1), (x2, y2), (x3, y3) = ((float(x), float(y)) for x, y in dots)
    assert abs((x3 - x2) - (x2 - x1)) < 0.3
    assert abs((y3 - y2) - (y2 - y1)) < 0.3
    assert y3 < y2 < y1 < BOTTOM


def test_the_folder_of_the_page_is_made(tmp_path: Path) -> None:
    page = tmp_path / "build" / "speed.md"
    done = CliRunner().invoke(app, ["bench", "--engines", "fts5", "--sizes", "100", "--page", str(page)])
    assert done.exit_code == 0, done.output
    assert "| fts5 | 100 |" in page.read_text()


def test_stores_and_writers_are_measured_in_postgresql_and_printed_as_json(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval.bench.scale.QUESTIONS", 2)
    monkeypatch.setattr("eval.bench.scale.measure_writers", partial(measure_writers, counts=[2], turns=2))
    url = postgres.create_database()
    done = CliRunner().invoke(app, ["bench", "--postgres", url, "--sizes", "30", "--json"])
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)
    stores = [StoreTimes(**one) for one in shown["stores"]]
    writers = [WriterRates(**one) for one in shown["writers"]]
    added = execute(url, "SELECT count(DISTINCT space) FROM tiermem.lines")
    assert [(one.store, one.turns) for one in stores] == [
        ("disk", 30),
        ("PostgreSQL", 30),
        ("PostgreSQL, pgvector", 30),
    ]
    assert all(isinstance(cell, float) and cell > 0 for one in stores for cell in astuple(one)[2:])
    assert added == [(5,)], "two spaces of stores, two of writers, one that writers share"
    rows = render_scale(stores, writers).splitlines()
    assert rows[0].startswith("| store | turns | turns added a second |")
    assert rows[-1].startswith("| 2 | ")


def test_processes_that_take_too_long_are_killed(postgres: PostgresServer) -> None:
    with pytest.raises(RuntimeError, match="took too long"):
        list(measure_writers(postgres.create_database(), [2], turns=10**6, limit=0.5))


@pytest.mark.anyio
async def test_the_share_of_the_nearest_that_postgresql_finds_is_measured(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = tuple(Turn(speaker="Ann", text=text) for text in make_turns(60))
    case = Case(id=CaseId("c"), sessions=(Session(id=SessionId("s0"), turns=turns),), questions=())
    entries = list(make_entries(iter([case])))
    questions = [" ".join(turn.text.split()[:3]) for turn in turns[:5]]
    url = postgres.create_database()
    rows = await measure_nearest(url, entries, questions, embedder=HashEmbedder())
    assert [(row.turns, row.share) for row in rows] == [(60, 1.0)] * 4
    assert execute(url, "SELECT count(*) FROM tiermem_index.points") == [(0,)]

    async def find_half(self: PostgresIndex, *places: Any, **given: Any) -> tuple[Hit, ...]:
        return (await search(self, *places, **given))[: LIMIT // 2]

    search = PostgresIndex.search
    monkeypatch.setattr(PostgresIndex, "search", find_half)
    rows = await measure_nearest(url, entries, questions, embedder=HashEmbedder())
    assert rows[0].share == 0.5
    assert render_nearest(rows).splitlines()[2].startswith("| 60 | all turns | ")

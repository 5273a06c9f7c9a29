"""Variants of TierMem that repeat a paper take part in runs of research, and in no others."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import eval.cli
import eval.research.cli
from eval.research.systems import VARIANTS
from eval.systems import candidates
from eval.types import CaseId, Retriever, System
from tests.eval import tiny
from tests.eval.test_datasets import locomo, write
from tiermem.errors import InvalidInput

pytestmark = pytest.mark.anyio


async def opened(name: str, where: Path, **given: Any) -> System | Retriever:
    (candidate,) = candidates([name], replace(tiny.setup(), variants=VARIANTS, **given))
    return await candidate.open(CaseId("one"), where)


async def test_pages_are_reranked_by_the_score_of_entities(tmp_path: Path) -> None:
    system = await opened("tiermem:entities", tmp_path)
    assert isinstance(system, Retriever)
    await system.observe(tiny.sessions())
    found = await system.retrieve("What is Biscuit allergic to?", level="page", limit=1)
    assert found[0].holds(tiny.turn(1, 2))
    await system.close()


async def test_the_gate_needs_an_embedder_that_it_has_a_threshold_for_and_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidInput, match="router 'nearest': no similarity was chosen"):
        await opened("tiermem:nearest", tmp_path)
    embedder = tiny.setup().embedder
    monkeypatch.setattr(type(embedder), "name", "all-MiniLM-L6-v2")
    system = await opened("tiermem:nearest", tmp_path, embedder=embedder)
    assert isinstance(system, System)
    await system.observe(tiny.sessions())
    assert (await system.ask("How much did the new roof cost?")).route is not None
    await system.close()


def test_the_commands_of_the_product_do_not_know_them(tmp_path: Path) -> None:
    data = write(tmp_path / "locomo.json", locomo(["D1:1"]))
    asked = ["qa", "locomo", "--data", str(data), "--systems", "tiermem:entities"]
    for app, known in ((eval.cli.app, False), (eval.research.cli.app, True)):
        out = tmp_path / f"run-{known}"
        ran = CliRunner().invoke(app, [*asked, "--out", str(out), "--cache", str(tmp_path), "--limit", "1"])
        assert ("no system 'tiermem:entities'" in ran.output) is not known

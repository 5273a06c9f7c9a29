"""Mem0 beside the others: offline, with our embedder, without telemetry."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from eval.systems import candidates
from eval.systems.mem0 import description
from eval.types import CaseId, Retriever, System
from tests.eval import tiny

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(find_spec("mem0") is None, reason="the extra 'mem0' is not installed"),
    pytest.mark.filterwarnings("ignore"),  # the vendor's and its vendors'
]


async def test_mem0_finds_turns_pages_and_sessions_through_its_own_search(tmp_path: Path) -> None:
    (candidate,) = candidates(["mem0"], tiny.setup())
    system = await candidate.open(CaseId("one"), tmp_path)
    assert isinstance(system, Retriever)
    assert isinstance(system, System)
    await system.observe(tiny.sessions())
    turns = await system.retrieve("What is Biscuit allergic to?", level="turn", limit=3)
    assert turns[0] == tiny.turn(1, 2)
    assert len(turns) == len(set(turns)) == 3
    for level in ("page", "session"):
        found = await system.retrieve("What is Biscuit allergic to?", level=level, limit=2)
        assert found[0].holds(tiny.turn(1, 2))
    assert "1,450" in (await system.ask("How much did the new roof cost?")).text
    await system.close()
    assert os.environ["MEM0_TELEMETRY"] == "False"


def test_a_report_can_say_what_of_mem0_was_measured() -> None:
    assert "infer=False" in description()

"""A memory of format 1, with an answer, upgraded: what it answered, cites and proves is what it was.

`golden/memory-of-format-1` was written by the last version of format 1.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import tiermem
from pagestore import upgrade
from pagestore.bundle import verify_bundle, verify_growth
from pagestore.errors import OlderFormat
from pagestore.values import checkpoint_of
from tests.api.conftest import OpenMemory

pytestmark = pytest.mark.local_only("a store of format 1")

GOLDEN = Path(__file__).parent / "golden" / "memory-of-format-1"
TOLD: dict[str, Any] = json.loads((GOLDEN / "told.json").read_text())
KEPT, LATER = checkpoint_of(TOLD["kept"]), checkpoint_of(TOLD["later"])


def shown(memory: tiermem.Memory) -> dict[str, Any]:
    audit = memory.audit(TOLD["answer"])
    assert audit.intact
    return {
        "answer": audit.answer.id,
        "text": audit.answer.text,
        "quotes": [cited.citation.quote for cited in audit.citations],
        # The session that was open ends by itself after a while, and has a page of its own then.
        "pages": [info.id for info in memory.pages() if info.session != "open"],
        "units": [unit.id for unit in memory.units() if unit.id in TOLD["units"]],
    }


def test_an_upgraded_memory_answers_for_what_it_said_before(open_memory: OpenMemory, tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "store", tmp_path / "store")
    before = {name: TOLD[name] for name in ("answer", "text", "quotes", "pages", "units")}
    with pytest.raises(OlderFormat, match="upgrade"):
        open_memory()
    with open_memory(read_only=True) as reader:
        assert shown(reader) == before
        assert reader.verify(LATER).ok
    upgrade(tmp_path / "store")
    memory = open_memory()
    assert shown(memory) == before
    for kept in (KEPT, LATER):
        report = memory.verify(kept)
        assert (report.ok, report.unproved) == (True, ())
    assert verify_bundle((GOLDEN / "bundle.json").read_bytes(), KEPT).ok
    assert verify_growth(memory.prove_growth(KEPT))
    memory.add("And now a turn of today.", speaker="Ann", session="today")
    memory.flush()
    assert "chicken" in memory.ask("What is Biscuit allergic to?").text
    assert memory.verify(memory.checkpoint()).ok

"""A memory in CrewAI: by itself, and under a crew whose model is a script."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("crewai", reason="CrewAI is not installed: `make test-adapters` brings it")

import tiermem
from tiermem.adapters.crewai import TierMemMemory
from tiermem.errors import InvalidInput

pytestmark = pytest.mark.filterwarnings("default")  # of CrewAI's own, which are many


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("CREWAI_TRACING_ENABLED", "false")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    monkeypatch.setenv("CREWAI_STORAGE_DIR", str(tmp_path / "crewai"))
    monkeypatch.setenv("HOME", str(tmp_path))


def test_what_is_remembered_is_recalled_with_its_record(memory: tiermem.Memory) -> None:
    kept = TierMemMemory(memory=memory)
    record = kept.remember(
        "My dog Biscuit is allergic to chicken.", scope="pets", categories=["health"], metadata={"by": "Ann"}
    )
    assert record is not None
    (match,) = kept.recall("What is Biscuit allergic to?")
    assert (match.record.id, match.record.content) == (record.id, record.content)
    assert (match.record.scope, match.record.categories, match.record.metadata) == (
        "/pets",
        ["health"],
        {"by": "Ann"},
    )
    assert memory.ask("What is Biscuit allergic to?").text == "chicken"


def test_scopes_and_categories_confine_what_is_recalled(memory: tiermem.Memory) -> None:
    kept = TierMemMemory(memory=memory, root_scope="/crew/zoo")
    kept.remember_many(
        ["Biscuit barks at night.", "Biscuit barks at noon."], scope="dogs", categories=["noise"]
    )
    kept.remember("Biscuit barks at cats.", scope="cats", categories=["fights"])
    assert len(kept.recall("Biscuit barks")) == 3
    assert [one.record.content for one in kept.recall("Biscuit barks", scope="/cats")] == [
        "Biscuit barks at cats."
    ]
    assert len(kept.recall("Biscuit barks", categories=["noise", "fights"], limit=2)) == 2
    assert len(kept.recall("Biscuit barks", categories=["noise", "food"])) == 2
    assert [one.content for one in kept.list_records("dogs")] == [
        "Biscuit barks at noon.",
        "Biscuit barks at night.",
    ]
    assert TierMemMemory(memory=memory, root_scope="/crew/other").recall("Biscuit barks") == []


def test_what_was_said_elsewhere_is_recalled_with_where_it_stands(dogs: tiermem.Memory) -> None:
    (match,) = TierMemMemory(memory=dogs).recall("What is Biscuit allergic to?", limit=1)
    assert match.record.content == "Ann: My dog Biscuit is allergic to chicken."
    (span,) = match.record.metadata["spans"]
    assert "Biscuit" in dogs.page(span["page_id"]).text[span["start"] : span["end"]]


def test_what_is_forgotten_is_erased(dogs: tiermem.Memory) -> None:
    kept = TierMemMemory(memory=dogs)
    first, _, third = (
        kept.remember(f"Biscuit barks at {what}.", scope=what) for what in ("cats", "cars", "men")
    )
    assert first is not None
    assert kept.forget(record_ids=[first.id]) == 1
    assert kept.forget(older_than=datetime.now(UTC) - timedelta(days=1)) == 0
    kept.reset("cars")
    assert kept.list_records() == [third]
    kept.reset_all()
    assert not any("barks" in one.record.content for one in kept.recall("What does Biscuit bark at?"))
    assert any("chicken" in one.record.content for one in kept.recall("What is Biscuit allergic to?"))


def test_a_record_is_forgotten_however_many_are_newer(memory: tiermem.Memory) -> None:
    kept = TierMemMemory(memory=memory)
    oldest, *_ = kept.remember_many([f"Biscuit barked {number} times." for number in range(201)])
    assert kept.forget(record_ids=[oldest.id]) == 1
    assert len(kept.list_records(limit=300)) == 200


def test_what_cannot_be_had_is_refused(memory: tiermem.Memory) -> None:
    kept = TierMemMemory(memory=memory)
    with pytest.raises(InvalidInput, match="as_agent"):
        kept.remember("This is mine.", private=True)
    with pytest.raises(InvalidInput, match="list_scopes"):
        kept.list_scopes()
    assert TierMemMemory(memory=memory, read_only=True).remember("Nothing is kept.") is None
    assert memory.stats().sessions == 0


def test_the_example_runs(example: Callable[[str], Any]) -> None:
    shown, kept = example("with_crewai.py")
    assert "My dog Biscuit is allergic to chicken." in shown
    assert "Result: To chicken." in kept

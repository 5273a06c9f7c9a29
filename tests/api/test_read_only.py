"""Looking while another process writes: everything but writing works, and leaves no trace in the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagestore.errors import ReadOnly
from tests.api.conftest import OpenMemory, tell
from tiermem.errors import BudgetExceeded, UnknownId
from tiermem.llm.scripted import ScriptedModel
from tiermem.model import Answer, Budget

QUESTION = "What is Biscuit allergic to?"


def contents(store: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of a store: what it holds, and when it was last written."""
    return {
        str(path.relative_to(store)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(store.rglob("*"))
        if path.is_file()
    }


def asked_read_only(open_memory: OpenMemory, store: Path) -> Answer:
    """An answer of a memory that only looks; nothing of the store may change meanwhile."""
    before = contents(store)
    reader = open_memory(read_only=True)
    answer = reader.ask(QUESTION)
    assert reader.search("Biscuit chicken")
    assert reader.context(QUESTION).sources
    reader.close()
    assert contents(store) == before
    return answer


@pytest.mark.local_only("the times of files are compared")
def test_a_question_is_answered_read_only_and_nothing_is_written(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    writer = open_memory()
    tell(writer)
    writer.flush()
    recorded = writer.ask(QUESTION)
    writer.close()
    answer = asked_read_only(open_memory, tmp_path / "store")
    assert "chicken" in answer.text
    assert (recorded.recorded, answer.recorded) == (True, False)


def test_a_question_is_answered_while_another_writes(open_memory: OpenMemory) -> None:
    writer = open_memory()
    tell(writer)
    writer.flush()
    answer = open_memory(read_only=True).ask(QUESTION)
    assert "chicken" in answer.text
    assert answer.citations
    assert writer.answers() == ()
    writer.add("Biscuit likes fish.", speaker="Caroline")


def test_an_answer_that_was_not_recorded_says_so_where_it_is_looked_for(open_memory: OpenMemory) -> None:
    writer = open_memory()
    tell(writer)
    reader = open_memory(read_only=True)
    answer = reader.ask(QUESTION)
    for memory in (reader, writer):
        for look in (memory.audit, memory.replay, memory.bundle):
            with pytest.raises(UnknownId, match=r"was not recorded.*read-only"):
                look(answer.id)


def test_an_answer_read_back_from_the_ledger_says_that_it_was_recorded(open_memory: OpenMemory) -> None:
    writer = open_memory()
    tell(writer)
    answer = writer.ask(QUESTION)
    assert writer.audit(answer.id).answer.recorded


def test_what_was_only_run_again_was_not_recorded(open_memory: OpenMemory) -> None:
    writer = open_memory()
    tell(writer)
    again = writer.replay(writer.ask(QUESTION).id, rerun=True).rerun
    assert again is not None
    assert not again.recorded
    assert len(writer.answers()) == 1


def test_limits_hold_for_a_memory_that_only_looks(open_memory: OpenMemory) -> None:
    writer = open_memory()
    tell(writer)
    writer.flush()
    model = ScriptedModel()
    reader = open_memory(read_only=True, engine="model", model=model, daily_calls=0)
    with pytest.raises(BudgetExceeded, match="daily limit of 0 calls"):
        reader.ask(QUESTION)
    reader = open_memory(read_only=True, engine="model", model=model)
    answer = reader.ask(QUESTION, budget=Budget(calls=0))
    assert answer.usage.calls == 0
    assert answer.trace.degradations


def test_what_writes_is_refused_as_before(open_memory: OpenMemory) -> None:
    tell(open_memory())
    reader = open_memory(read_only=True)
    with pytest.raises(ReadOnly, match="read-only"):
        reader.add("No.", speaker="Ann")
    with pytest.raises(ReadOnly, match="open it for writing"):
        reader.erase(session="s1", reason="asked to")


def test_a_reader_that_the_index_left_behind_says_so_and_not_that_it_is_another(
    open_memory: OpenMemory,
) -> None:
    writer = open_memory()
    tell(writer)
    writer.flush()
    reader = open_memory(read_only=True)
    assert reader.ask(QUESTION).trace.degradations == ()
    writer.add("Biscuit likes fish.", speaker="Caroline")
    writer.flush()
    answer = reader.ask(QUESTION)
    assert "chicken" in answer.text
    (told,) = {one.reason for one in answer.trace.degradations}
    assert "gone on since this memory was opened read-only: open it again" in told


def test_a_reader_asks_no_model_for_what_it_could_not_record(open_memory: OpenMemory) -> None:
    writer = open_memory(distil="deferred")
    tell(writer)
    writer.close()
    reader = open_memory(read_only=True)
    for call in (reader.flush, reader.index_pending, reader.apply_findings, reader.reindex):
        with pytest.raises(ReadOnly):
            call()
    with pytest.raises(ReadOnly):
        reader.redistil("p1:any")

"""Every answer a memory gives can be bundled and checked elsewhere, whatever its route."""

import pytest

from pagestore.bundle import encode, verify_bundle, verify_growth
from pagestore.errors import Corrupt, PageNotFound
from tests.api.conftest import OpenMemory, tell
from tests.api.test_by_model import QUESTION, at, play
from tests.llm.server import ModelServer
from tests.stores import NewAddress
from tiermem.errors import UnknownId

QUESTIONS = (
    "When did Caroline go to a support group?",
    "What is Biscuit allergic to?",
    "How much was the new roof of the pottery studio?",
    "Where did Ingrid move to?",
    "Did Melanie learn to swim?",
)


@pytest.mark.parametrize("whole_pages", [False, True])
def test_every_answer_has_a_bundle_that_holds(open_memory: OpenMemory, whole_pages: bool) -> None:
    memory = open_memory()
    tell(memory)
    kept = memory.checkpoint()
    memory.ask(QUESTIONS[0])
    memory.flush()
    for question in (*QUESTIONS, "Which telescope did Gustav buy in Patagonia?"):
        memory.ask(question)
        memory.ask(question, mode="raw")
    cited = 0
    for info in memory.answers():
        bundle = memory.bundle(info.id, checkpoint=kept, whole_pages=whole_pages)
        report = verify_bundle(encode(bundle), kept)
        assert report.failed == ()
        answer = memory.audit(info.id).answer
        assert bundle.answer["text"] == answer.text
        proved = [line for line in report.proved if "are the words of" in line]
        assert len(proved) == len(answer.citations)
        cited += len(proved)
    assert cited >= len(QUESTIONS)


def test_an_answer_worded_by_a_model_has_one_too(open_memory: OpenMemory) -> None:
    with ModelServer(answer=play) as server:
        memory = open_memory(**at(server))
        tell(memory)
        memory.flush()
        answer = memory.ask(QUESTION)
        assert verify_bundle(encode(memory.bundle(answer.id))).ok


def test_an_answer_from_a_page_that_is_still_filling_waits_for_its_seal(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add("My locker code is 7731.", speaker="Ann")
    answer = memory.ask("What is Ann's locker code?")
    with pytest.raises(PageNotFound, match="flush"):
        memory.bundle(answer.id)
    memory.flush()
    report = verify_bundle(encode(memory.bundle(answer.id)))
    assert report.ok
    assert any("7731" in line for line in report.proved)


def test_a_checkpoint_of_another_history_makes_no_bundle(
    open_memory: OpenMemory, new_address: NewAddress
) -> None:
    memory, other = open_memory(), open_memory(path=new_address("other"))
    for one in (memory, other):
        tell(one)
        one.flush()
    answer = memory.ask(QUESTIONS[0])
    with pytest.raises(Corrupt, match="does not begin with"):
        memory.bundle(answer.id, checkpoint=other.checkpoint())
    with pytest.raises(UnknownId, match="a1:nowhere"):
        memory.bundle("a1:nowhere")


def test_growth_is_proved_to_whoever_kept_an_older_checkpoint(open_memory: OpenMemory) -> None:
    memory = open_memory()
    old = memory.checkpoint()
    tell(memory)
    memory.flush()
    new = memory.checkpoint()
    assert verify_growth(memory.prove_growth(old, new))
    memory.add("One more.", speaker="Ann")
    memory.flush()
    now = memory.prove_growth(old)
    assert now.new.size > new.size
    assert verify_growth(now)


def test_a_memory_opened_for_reading_bundles_and_commits_without_writing(open_memory: OpenMemory) -> None:
    writer = open_memory()
    tell(writer)
    writer.flush()
    answer = writer.ask(QUESTIONS[0])
    reader = open_memory(read_only=True)
    point = reader.checkpoint()
    assert reader.checkpoint() == point
    bundle = reader.bundle(answer.id)
    assert bundle.checkpoint == point
    assert verify_bundle(encode(bundle), point).ok
    assert reader.verify(point).ok

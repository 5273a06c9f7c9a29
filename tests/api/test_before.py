"""A store whose answers an earlier version gave: they are audited, replayed and bundled as they were."""

from pathlib import Path

import pytest

import tiermem
from pagestore import SpaceId
from pagestore.bundle import encode, verify_bundle
from tests.api.conftest import OpenMemory, tell
from tests.ledger.test_older import answered, spans_in
from tests.stores import store_at

ANSWER = "a1:a"


@pytest.fixture
def memory(open_memory: OpenMemory, address: Path | str) -> tiermem.Memory:
    """The dialogue, and an answer of before that cites what Caroline said of her sister."""
    memory = open_memory()
    tell(memory)
    memory.flush()
    page = memory.page(memory.pages("s2")[0].id)
    line = page.lines[1]
    space = memory.space
    memory.close()
    body = answered(
        space=space,
        quote=page.text[line.body : line.end],
        speaker="Caroline",
        said_at="2023-06-01T09:01:00",
        question="Where did Ingrid move to?",
    )
    for spans in spans_in(body):
        spans[0] = {"page_id": page.id, "start": line.body, "end": line.end}
    store = store_at(address)
    log = store.open_space(SpaceId(space))
    log.record("answered", body)
    log.close()
    store.close()
    return open_memory()


def test_it_is_audited(memory: tiermem.Memory) -> None:
    audit = memory.audit(ANSWER)
    assert audit.intact
    assert (audit.answer.support, audit.answer.trace.way) == ("stated", "researched")
    assert [cited.citation.support for cited in audit.citations] == ["stated"]
    assert "Oslo" in str(audit)


def test_it_is_replayed_and_asked_again(memory: tiermem.Memory) -> None:
    past = memory.replay(ANSWER)
    assert (past.answer.text, past.differences) == ("Tea.", ())
    again = memory.replay(ANSWER, rerun=True)
    assert again.rerun is not None
    assert "Oslo" in again.rerun.text
    assert again.differences


def test_it_is_bundled(memory: tiermem.Memory) -> None:
    bundle = memory.bundle(ANSWER)
    report = verify_bundle(encode(bundle))
    assert report.ok
    assert "support" not in bundle.answer
    assert any("Ingrid moved from Lisbon to Oslo" in line for line in report.proved)


def test_its_finding_is_decided_on(memory: tiermem.Memory) -> None:
    assert [decision.finding_id for decision in memory.apply_findings()] == ["f1:a"]
    assert memory.stats().findings_pending == 0


def test_it_goes_when_its_words_go(memory: tiermem.Memory) -> None:
    receipt = memory.erase(turn="t4", session="s2", reason="asked to")
    assert ANSWER in receipt.erasure.answers
    assert receipt.leftovers.clean

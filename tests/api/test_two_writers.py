"""Two memories over a log that both write, as from two processes: each knows what the other one wrote."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tiermem
from pagestore import PageLog
from pagestore.log import Log
from tests.api.conftest import OPTIONS
from tests.logs import new_shared_lines
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput
from tiermem.runtime.components import Opening

Two = tuple[tiermem.Memory, tiermem.Memory]


@pytest.fixture
def two(logs: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Two]:
    """Two memories with an index each, over the same lines."""
    lines = iter(new_shared_lines())

    def open_log(opening: Opening, store: object, options: object) -> PageLog:
        return Log(next(lines), opening.space)

    monkeypatch.setattr("tiermem.runtime.opening._log", open_log)
    with (
        tiermem.open(":memory:", embedder=HashEmbedder(), **OPTIONS) as one,
        tiermem.open(":memory:", embedder=HashEmbedder(), **OPTIONS) as other,
    ):
        yield one, other


def texts(found: tuple[tiermem.Evidence, ...]) -> str:
    return " ".join(item.text for item in found)


def test_what_one_was_told_the_other_finds_by_meaning_too(two: Two) -> None:
    one, other = two
    one.add("My rescue dog Biscuit is allergic to chicken.", speaker="Caroline")
    one.flush()
    assert "chicken" in texts(other.search("Biscuit allergic"))
    assert "chicken" in other.ask("What is Biscuit allergic to?").text
    assert other.stats().index_pending == 0
    assert [unit.id for unit in one.units()] == [unit.id for unit in other.units()]


def test_a_write_is_decided_on_what_the_other_recorded(two: Two) -> None:
    one, other = two
    unit = one.remember("Caroline lives in Lisbon.").unit
    corrected = other.correct(unit.id, "Caroline lives in Oslo.").unit
    with pytest.raises(InvalidInput, match="holds no longer"):
        one.correct(unit.id, "Caroline lives in Rome.")
    one.withdraw(corrected.id, reason="wrong")
    assert [holding.id for holding in other.units()] == [unit.id]
    answer = one.ask("Where does Caroline live?")
    assert other.audit(answer.id).answer == answer
    assert [info.id for info in other.answers()] == [answer.id]


def test_a_page_is_summarised_by_one_of_them(two: Two) -> None:
    one, other = two
    one.add("We paid 1,450 dollars for the new roof.", speaker="Melanie")
    assert one.flush().distilled == 1
    assert other.flush().distilled == 0


def test_what_one_erased_is_in_nothing_of_the_other(two: Two) -> None:
    one, other = two
    one.add("My sister Ingrid moved to Oslo.", speaker="Caroline", session="s1")
    one.add("I never learned to swim.", speaker="Melanie", session="s2")
    one.flush()
    workspace = other.workspace()
    other.recall("Ingrid Oslo", into=workspace)
    assert "Ingrid" in " ".join(item.text for item in workspace.items)
    one.erase(session="s1", reason="asked to")
    assert "Ingrid" not in texts(other.search("Ingrid Oslo sister"))
    assert "Ingrid" not in " ".join(item.text for item in workspace.items)
    assert other.stats().index_pending == 0
    assert "swim" in texts(other.search("learned to swim"))
    assert [unit.id for unit in one.units()] == [unit.id for unit in other.units()]


def test_an_agent_sees_what_it_was_granted_in_the_other(two: Two) -> None:
    one, other = two
    one.as_agent("scout").add("The camp is by the river.", speaker="Ann")
    reader = other.as_agent("cook")
    assert reader.search("camp river") == ()
    one.grant("cook", to_see="scout")
    assert "river" in texts(reader.search("camp river"))
    one.revoke("cook", to_see="scout")
    assert reader.search("camp river") == ()


def test_on_disk_no_thread_is_asked_whether_others_wrote(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path_factory.mktemp("store")
    with tiermem.open(path, embedder=HashEmbedder(), **OPTIONS) as memory:
        memory.add("I never learned to swim.", speaker="Melanie")

        def refuse(log: object) -> None:
            raise AssertionError("the log was read")

        monkeypatch.setattr("pagestore.log.Log.catch_up", refuse)
        assert "swim" in memory.ask("What did Melanie never learn?").text

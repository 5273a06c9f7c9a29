"""A machine without weights and without a network: what was said is found by its words, and that is told."""

from pathlib import Path

import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tiermem.embedding import minilm
from tiermem.errors import EmbedderUnavailable


def nowhere(named: Path | None) -> Path:
    raise EmbedderUnavailable("no weights on this machine. Either `pip install …`")


def test_words_find_what_meaning_would_and_everybody_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_memory: OpenMemory
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(minilm, "find_weights", nowhere)
        with tiermem.open(tmp_path / "memory") as memory:
            memory.add("My dog Biscuit is allergic to chicken.", speaker="Bob")
            memory.flush()
            assert "chicken" in memory.search("What is Biscuit allergic to?", kind="turns")[0].text
            assert "chicken" in memory.context("What is Biscuit allergic to?").text
            answer = memory.ask("What is Biscuit allergic to?")
            assert "chicken" in answer.text
            (told,) = {one.reason for one in answer.trace.degradations if one.stage == "search"}
            assert "words alone" in told
            assert "pip install" in told
            assert any("words alone" in problem for problem in memory.stats().problems)
            assert memory.stats().index_pending is None, "no index can be asked"
            memory.add({"role": "user", "content": "Her vet is Dr Brandt.", "id": "vet"})
            receipt = memory.erase(turn="vet", session="main", reason="asked to")
            assert receipt.leftovers.clean
            assert receipt.erasure.index == "rewritten"
    with tiermem.open(tmp_path / "memory") as memory:
        memory.flush()
        answer = memory.ask("What is Biscuit allergic to?")
        assert "chicken" in answer.text
        assert not answer.trace.degradations
        assert not memory.stats().problems


def test_a_directory_that_was_named_and_holds_no_weights_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match="does not hold"):
        tiermem.open(tmp_path / "memory", weights=tmp_path)

"""A memory as a plugin of `llm`: found by its entry point, called by a model, named on the command line."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llm", reason="llm is not installed: `make test-adapters` brings it")

from click.testing import CliRunner
from llm.cli import cli

import tiermem
from tiermem.adapters.llm import TierMem, _opened
from tiermem.errors import TierMemError


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    monkeypatch.setenv("TIERMEM_STORE", str(tmp_path / "memory"))
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    yield
    _opened.cache_clear()


def test_the_command_line_lists_it_by_the_entry_point(tmp_path: Path) -> None:
    shown = CliRunner().invoke(cli, ["tools", "list"], catch_exceptions=False).output
    assert "tiermem(question: str, max_tokens: int = 1000)" in shown
    assert "(plugin: tiermem)" in shown
    assert "TierMem" in shown


def test_a_model_calls_the_tools(dogs: tiermem.Memory, example: Callable[[str], Any]) -> None:
    shown, kept = example("with_llm.py")
    assert "| Ann: My dog Biscuit is allergic to chicken." in shown
    assert "The red kettle stands in the cellar." in kept


def test_a_toolbox_names_its_memory_and_works_beside_who_writes_it(
    dogs: tiermem.Memory, tmp_path: Path
) -> None:
    assert "chicken" in TierMem().recall("Biscuit")
    with pytest.raises(TierMemError, match="bo"):
        TierMem(space="bo").recall("Biscuit")
    elsewhere = TierMem(store=str(tmp_path / "another"), space="bo")
    fact = "The cat Mia is allergic to milk."
    assert fact in elsewhere.remember(fact, speaker="Bo")
    answer = json.loads(elsewhere.ask("What is the cat Mia allergic to?"))
    assert (answer["sources"][0]["quote"], answer["sources"][0]["speaker"]) == (fact, "Bo")
    assert {tool.name for tool in elsewhere.tools()} == {"TierMem_recall", "TierMem_ask", "TierMem_remember"}

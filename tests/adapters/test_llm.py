"""A memory as a plugin of `llm`: found by its entry point, called by a model, named on the command line."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llm", reason="llm is not installed: `make test-adapters` brings it")

from click.testing import CliRunner
from llm.cli import cli

import tiermem
from pagestore.errors import NotAStore
from tests.adapters.conftest import shows
from tiermem.adapters.llm import TierMem, _open_memory
from tiermem.errors import TierMemError

SCRIPTED = '''
import json, llm

@llm.hookimpl
def register_models(register):
    register(Scripted())

class Scripted(llm.Model):
    """Calls the tool that the prompt names as JSON, and says what it gave."""

    model_id = "scripted"
    supports_tools = True

    def execute(self, prompt, stream, response, conversation):
        if prompt.tool_results:
            yield prompt.tool_results[0].output
        else:
            response.add_tool_call(llm.ToolCall(**json.loads(prompt.prompt), tool_call_id="1"))
'''
"""A plugin of `llm` with a model that calls tools, in place of one that costs."""


@pytest.fixture
def scripted(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command `llm` in a process of its own, with the model; it calls a tool with arguments."""
    plugin = tmp_path / "plugin"
    about = plugin / "llm_scripted-1.0.dist-info"
    about.mkdir(parents=True)
    (plugin / "llm_scripted.py").write_text(SCRIPTED)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: llm-scripted\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[llm]\nscripted = llm_scripted\n")
    paths = (str(plugin), os.environ.get("PYTHONPATH", ""))

    def run(*options: str, tool: str, **arguments: Any) -> subprocess.CompletedProcess[str]:
        prompt = json.dumps({"name": tool, "arguments": arguments})
        command = [sys.executable, "-m", "llm", "-m", "scripted", *options, prompt]
        known = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        return subprocess.run(command, capture_output=True, text=True, check=True, env=known)

    return run


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    monkeypatch.setenv("TIERMEM_STORE", str(tmp_path / "memory"))
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    yield
    _open_memory.cache_clear()


def test_the_command_line_lists_it_by_the_entry_point(tmp_path: Path) -> None:
    shown = CliRunner().invoke(cli, ["tools", "list"], catch_exceptions=False).output
    assert "tiermem(question: str, max_tokens: int = 1000)" in shown
    assert "(plugin: tiermem)" in shown
    assert "TierMem" in shown


@pytest.mark.timeout(600)  # four processes, each of which opens the memory
def test_the_command_line_gives_a_model_the_tools_and_they_work_from_one_process_to_the_next(
    dogs: tiermem.Memory, scripted: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    dogs.close()
    recalled = scripted("-T", "tiermem", "--td", tool="tiermem", question="What is Biscuit allergic to?")
    assert "| Ann: My dog Biscuit is allergic to chicken." in recalled.stdout
    assert "Tool call: tiermem(" in recalled.stderr
    fact = "The red kettle stands in the cellar."
    kept = scripted("-T", "TierMem(as_user=true)", tool="TierMem_remember", fact=fact, speaker="Bo")
    assert fact in kept.stdout
    asked = scripted("-T", "TierMem", tool="TierMem_ask", question="Where does the red kettle stand?")
    assert f"“{fact}”" in json.loads(asked.stdout)["text"]
    elsewhere = scripted("-T", 'TierMem(space="bo")', tool="TierMem_remember", fact=fact)
    assert fact in elsewhere.stdout
    assert tiermem.spaces(os.environ["TIERMEM_STORE"]) == ("bo", "default")


def test_a_model_calls_the_tools(dogs: tiermem.Memory, example: Callable[[str], Any]) -> None:
    shown, kept = example("with_llm.py")
    assert "| Ann: My dog Biscuit is allergic to chicken." in shown
    assert "The red kettle stands in the cellar." in kept
    assert shows("with_llm", shown, kept)


@pytest.mark.parametrize("tool", [TierMem.recall, TierMem.ask])
def test_looking_makes_no_store(tmp_path: Path, tool: Callable[[TierMem, str], str]) -> None:
    with pytest.raises(NotAStore, match="there is no store"):
        tool(TierMem(store=str(tmp_path / "none")), "Where is the kettle?")


def test_a_toolbox_names_its_memory_and_works_beside_who_writes_it(
    dogs: tiermem.Memory, tmp_path: Path
) -> None:
    assert "chicken" in TierMem().recall("Biscuit")
    with pytest.raises(TierMemError, match="bo"):
        TierMem(space="bo").recall("Biscuit")
    elsewhere = TierMem(store=str(tmp_path / "another"), space="bo", as_user=True)
    fact = "The cat Mia is allergic to milk."
    assert fact in elsewhere.remember(fact, speaker="Bo")
    assert f"“{fact}”" in json.loads(elsewhere.ask("What is the cat Mia allergic to?"))["text"]
    assert {tool.name for tool in elsewhere.tools()} == {"TierMem_recall", "TierMem_ask", "TierMem_remember"}

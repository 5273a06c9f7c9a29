"""A context with no room for a source says how many were found, in Python, MCP, tools and commands."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.types import TextContent

import tiermem
from tests.api.conftest import OpenMemory
from tests.apps import test_commands as commands
from tiermem.adapters.tools import MemoryTools
from tiermem.apps.mcp import server

LONG = "The archive in the cellar holds " + "minutes of the council, " * 60 + "and a map."
CASES = (
    (("The kiln is hot.",), "Is the kiln hot?", 5, 1),
    (("Mittens sleeps in the boathouse.", "Mittens eats trout."), "Mittens", 20, 2),
    (("Das Boot liegt in Kiel.",), "Wo liegt das Boot?", 1, 1),
    (("鍵は金魚鉢の下にあります。", "鍵は赤いです。", "鍵は二つあります。"), "鍵はどこですか", 12, 3),
    ((LONG,), "What does the archive hold?", 21, 1),
    (("🦔 is in the garden.", "🦔 left."), "🦔", 8, 2),
)
"""What was said, what is looked for, tokens that are too few, and how many are found."""


@pytest.mark.parametrize(("facts", "question", "budget", "found"), CASES)
def test_a_budget_too_small_for_any_source_tells_how_many_were_found(
    open_memory: OpenMemory, facts: tuple[str, ...], question: str, budget: int, found: int
) -> None:
    memory = open_memory()
    memory.add([{"role": "user", "content": fact} for fact in facts])
    context = memory.context(question, max_tokens=budget)
    message = f"{found} found, none fits into {budget} tokens"
    assert (context.text, context.found, context.empty_reason) == ("", found, message)
    tools = MemoryTools(memory, session="main", only={})
    assert tools.recall(question, max_tokens=budget) == message
    roomy = memory.context(question, max_tokens=2_000)
    assert (len(roomy.sources), roomy.found, roomy.empty_reason) == (found, found, None)


def test_a_budget_for_some_of_the_sources_is_no_reason(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add([{"role": "user", "content": f"Parcel {number} is blue."} for number in range(6)])
    context = memory.context("parcel", max_tokens=60)
    assert 0 < len(context.sources) < context.found
    assert context.empty_reason is None


def test_nothing_found_is_no_lack_of_room(open_memory: OpenMemory) -> None:
    context = open_memory().context("kiln", max_tokens=5)
    assert (context.text, context.found, context.empty_reason) == ("", 0, None)


def test_a_workspace_tells_how_many_it_holds(open_memory: OpenMemory) -> None:
    workspace = open_memory().workspace()
    workspace.add("The kiln is hot.")
    workspace.add("The shed is cold.")
    assert workspace.context(max_tokens=4).empty_reason == "2 found, none fits into 4 tokens"


def test_a_model_reads_from_mcp_that_there_is_too_little_room(tmp_path: Path) -> None:
    async def recall(tokens: int, question: str) -> str:
        async with await tiermem.AsyncMemory.open(tmp_path / "m", embedder="hashed") as memory:
            await memory.add("Biscuit is allergic to chicken.")
            async with Client(server(memory)) as client:
                result = await client.call_tool("recall", {"question": question, "max_tokens": tokens})
        (block,) = result.content
        assert isinstance(block, TextContent)
        return block.text

    assert anyio.run(recall, 7, "Biscuit?") == "1 found, none fits into 7 tokens"


def test_the_command_tells_that_there_is_too_little_room(tmp_path: Path) -> None:
    store = tmp_path / "memory"
    chat = tmp_path / "chat.txt"
    chat.write_text("Ann: The kiln is hot.\n", encoding="utf-8")
    commands.tiermem(store, "ingest", str(chat))
    asked = ("context", "kiln", "--max-tokens", "9")
    assert commands.tiermem(store, *asked).stdout.strip() == "1 found, none fits into 9 tokens"
    told = commands.as_json(store, *asked)
    assert (told["found"], told["max_tokens"]) == (1, 9)

"""Earlier values of a fact that changed, as commands, MCP and HTTP show them."""

from pathlib import Path

import pytest
from mcp import Client

import tiermem as library
from tests.apps.test_commands import as_json, tiermem
from tests.apps.test_mcp import called
from tiermem.apps.mcp import server

QUESTION = "Who is Ann's boss?"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with library.open(tmp_path / "memory", engine="local") as memory:
        memory.add("My boss Nadia wants a report.", speaker="Ann", said_at="2024-02-03", session="old")
        memory.add("Nadia left, Tom's my boss now.", speaker="Ann", said_at="2024-07-01", session="new")
        memory.flush()
    return tmp_path / "memory"


def test_commands_show_the_turn_that_stated_the_earlier_value(store: Path) -> None:
    assert "Ann, 2024-02-03 (before): “My boss «Nadia»" in " ".join(
        tiermem(store, "ask", QUESTION).stdout.split()
    )
    answer = as_json(store, "ask", QUESTION)
    newer, earlier = answer["said"]
    assert (newer["text"], newer["order"]) == ("Nadia left, Tom's my boss now.", None)
    assert (earlier["text"], earlier["order"]) == ("My boss Nadia wants a report.", "before")
    shown = " ".join(tiermem(store, "audit", answer["id"]).stdout.split())
    assert "Ann, 2024-02-03 (before)" in shown


@pytest.mark.anyio
async def test_a_tool_gives_the_turn_that_stated_the_earlier_value(store: Path) -> None:
    async with (
        await library.AsyncMemory.open(store, engine="local") as memory,
        Client(server(memory)) as client,
    ):
        answer = await called(client, "ask", question=QUESTION)
    assert "  Ann, 2024-02-03 (before): “My boss «Nadia» wants a report.”" in answer["answer"].splitlines()

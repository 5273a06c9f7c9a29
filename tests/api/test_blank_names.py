"""Words are stored under names alone."""

from pathlib import Path

import pytest

import tiermem
from pagestore import Turn
from tests.api.conftest import OpenMemory
from tests.apps.test_commands import tiermem as run
from tiermem.errors import InvalidInput

BLANK = ("", " ", "\t\n", "\u3000")


@pytest.mark.parametrize("name", BLANK)
def test_no_space_without_a_name_is_made(tmp_path: Path, name: str) -> None:
    for path in (tmp_path / "store", ":memory:"):
        with pytest.raises(InvalidInput, match="space must be a name"):
            tiermem.open(path, space=name)
    assert not (tmp_path / "store").exists()
    with tiermem.open(tmp_path / "store", space="ann"):
        pass
    with pytest.raises(InvalidInput, match="space must be a name"):
        tiermem.open(tmp_path / "store", space=name, read_only=True)


@pytest.mark.parametrize("name", BLANK)
def test_no_words_go_into_a_session_or_to_an_agent_without_a_name(open_memory: OpenMemory, name: str) -> None:
    memory = open_memory()
    for stores in (
        lambda: memory.add("My boat is Tilda.", session=name),
        lambda: memory.remember("My boat is called Tilda.", session=name),
        lambda: memory.workspace(session=name),
        lambda: memory.as_agent(name),
        lambda: memory.add(Turn(speaker="Ann", text="My boat is Tilda.", agent=name)),
    ):
        with pytest.raises(InvalidInput, match="must be a name"):
            stores()
    assert memory.units(name) == ()
    assert memory.stats().turns == 0


def test_a_blank_name_on_the_command_line_is_not_the_default_space(tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text("Ann: My boat is Tilda.\n")
    refused = run(tmp_path / "store", "ingest", str(tmp_path / "chat.txt"), "--space", " ", code=1)
    assert "space must be a name" in refused.stderr
    assert not (tmp_path / "store").exists()

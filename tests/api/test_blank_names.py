"""Words are stored under names alone; what an earlier version stored without one is read and copied."""

import json
from pathlib import Path

import pytest

import tiermem
from pagestore import SessionId, SpaceId, Store, Turn
from tests.api.conftest import OpenMemory
from tests.apps.test_commands import tiermem as run
from tiermem.errors import InvalidInput, UnknownId

BLANK = ("", " ", "\t\n", "\u3000")


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A store of an earlier version, with words in a space and a session without names."""
    with Store(tmp_path / "older").open_space(SpaceId("")) as log:
        for session in ("", "regatta"):
            log.append(SessionId(session), [Turn(speaker="Ann", text=f"My boat is Tilda {session}.")])
            log.seal(SessionId(session))
    return tmp_path / "older"


@pytest.mark.parametrize("name", BLANK)
def test_no_space_without_a_name_is_made(tmp_path: Path, name: str) -> None:
    for path in (tmp_path / "store", ":memory:"):
        with pytest.raises(InvalidInput, match="space must be a name"):
            tiermem.open(path, space=name)
    assert not (tmp_path / "store").exists()
    with tiermem.open(tmp_path / "store", space="ann"):
        pass
    with pytest.raises(UnknownId):
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


@pytest.mark.local_only("spaces without a name are older than stores in PostgreSQL")
def test_a_space_without_a_name_is_read_and_copied_to_one_with_a_name(older: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="read-only"):
        tiermem.open(older, space="")
    with tiermem.open(older, space="", read_only=True) as memory:
        assert [len(memory.pages(session)) for session in ("", "regatta")] == [1, 1]
    lines = tmp_path / "lines.jsonl"
    run(older, "export", str(lines), "--space", "")
    assert [json.loads(line).get("session") for line in lines.read_text().splitlines()] == [None, "regatta"]
    run(older, "ingest", str(lines), "--space", "ann", "--session", "first")
    with tiermem.open(older, space="ann", read_only=True) as memory:
        assert {page.session for page in memory.pages()} == {"first", "regatta"}
        assert "Tilda" in str(memory.search("boat")[0])


@pytest.mark.local_only("spaces without a name are older than stores in PostgreSQL")
def test_a_blank_name_on_the_command_line_is_not_the_default_space(older: Path, tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text("Ann: My boat is Tilda.\n")
    refused = run(older, "ingest", str(tmp_path / "chat.txt"), "--space", " ", code=1)
    assert "space must be a name" in refused.stderr
    assert tiermem.spaces(older) == ("",)

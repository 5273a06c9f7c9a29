"""What expires: old turns of one kind, out of the sessions of coding agents alone."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tiermem
from pagestore import Turn
from pagestore.errors import ReadOnly
from tests.apps.http.conftest import SETTINGS, Server
from tests.apps.test_commands import as_json
from tests.apps.test_commands import tiermem as run_command
from tests.dialogue.transcripts import ClaudeCode
from tiermem.apps.cli.app import app
from tiermem.dialogue import DialogueSession
from tiermem.errors import InvalidInput

NOW = datetime.now(UTC)
OLD = {"timestamp": (NOW - timedelta(days=31)).isoformat()}
NEW = {"timestamp": (NOW - timedelta(days=29)).isoformat()}


def result(log: ClaudeCode, words: str, said: dict[str, str]) -> None:
    part = {"type": "tool_result", "tool_use_id": "c1", "content": words}
    log.record("user", message={"role": "user", "content": [part]}, **said)


def transcript() -> ClaudeCode:
    log = ClaudeCode("s1")
    log.record("user", message={"role": "user", "content": "Which looms are there?"}, **OLD)
    result(log, "heddle-4711 shuttle-4712 in the old shed", OLD)
    result(log, "treadle-4713 warp-4714 in the new shed", NEW)
    return log


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with a session of a coding agent, and one of another kind with the same metadata."""
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    known = {"author": "program", "kind": "tool_result", "agent": "claude-code"}
    other = Turn(
        speaker="tool", text="bobbin-4715 reed-4716", said_at=NOW - timedelta(days=90), metadata=known
    )
    with tiermem.open(tmp_path / "memory", engine="local") as memory:
        memory.ingest(transcript().read())
        memory.add([other], session="mine")
        memory.flush()
    return tmp_path / "memory"


def texts(memory: tiermem.Memory) -> str:
    pages = [*map(memory.page, (info.id for info in memory.pages())), *memory.open_pages()]
    return "\n".join(page.text for page in pages)


def log_of(store: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted((store / "spaces").rglob("*.jsonl")))


def test_old_results_of_tools_are_erased_with_one_receipt(store: Path) -> None:
    with tiermem.open(store, engine="local") as memory:
        assert any("4711" in one.text for one in memory.search("heddle-4711"))
        receipt = memory.expire(kind="tool_result", older="30d")
        assert (len(receipt.erasure.turns), receipt.proposed) == (1, False)
        assert receipt.leftovers.clean
        assert receipt.leftovers.phrases
        assert receipt.reason == "tool_result older than 30d"
        assert not any("4711" in one.text for one in memory.search("heddle-4711"))
        left = texts(memory)
        assert "4711" not in left
        assert all(words in left for words in ("Which looms", "treadle-4713", "bobbin-4715"))
        assert memory.verify().ok
    with tiermem.open(store, engine="local") as memory:
        ((_, added),) = memory.ingest(transcript().read())
        assert (added.new, added.erased) == (0, 1)


def test_nothing_that_is_old_enough_is_no_erasure(store: Path) -> None:
    with tiermem.open(store, engine="local") as memory:
        before = log_of(store)
        for kind, older in (("tool_result", "32d"), ("reply", "1h")):
            receipt = memory.expire(kind=kind, older=older)  # type: ignore[arg-type]
            assert (receipt.erasure.turns, receipt.erasure.index, receipt.proposed) == (
                (),
                "untouched",
                False,
            )
        assert log_of(store) == before
        assert len(memory.expire(kind="tool_result", older="4w").erasure.turns) == 2
        assert memory.expire(kind="tool_result", older="4w").erasure.turns == ()


def test_a_result_that_is_longer_than_a_page_goes_as_a_whole(tmp_path: Path) -> None:
    log = ClaudeCode("s1")
    words = " ".join(f"thread{number}" for number in range(4_000))
    result(log, words, OLD)
    with tiermem.open(tmp_path / "memory", engine="local", embedder="hashed") as memory:
        memory.ingest(log.read())
        memory.flush()
        assert len(memory.pages()) > 1
        assert memory.expire(kind="tool_result", older="30d").leftovers.clean
        assert "thread" not in texts(memory)


@pytest.mark.parametrize("said_at", [None, datetime(2020, 1, 1)])  # noqa: DTZ001
def test_a_turn_without_a_time_or_its_zone_stays(tmp_path: Path, said_at: datetime | None) -> None:
    known = {"author": "program", "kind": "tool_result", "agent": "codex"}
    turn = Turn(speaker="tool", text="heddle-4711", said_at=said_at, turn_id="r/0", metadata=known)
    session = DialogueSession(session=tiermem.SessionId("codex:s1"), turns=(turn,), has_records=True)
    with tiermem.open(tmp_path / "memory", engine="local", embedder="hashed") as memory:
        memory.add(session.imported_turns(), session=session.session)
        assert memory.expire(kind="tool_result", older="30d").erasure.turns == ()


def test_an_agent_expires_what_is_its_own(store: Path) -> None:
    with tiermem.open(store, engine="local") as memory:
        planner = memory.as_agent("planner")
        assert planner.expire(kind="tool_result", older="30d").erasure.turns == ()
        planner.ingest(transcript().read())
        assert len(planner.expire(kind="tool_result", older="30d").erasure.turns) == 1
        assert "4711" in texts(memory)


@pytest.mark.parametrize(
    "older", ["", "30", "d", "30 d", "0d", "-1d", "1.5d", "30days", "30m", "99999d", "٣d", 30, None]
)
def test_what_is_no_age_is_refused(store: Path, older: Any) -> None:
    with (
        tiermem.open(store, engine="local", read_only=True) as memory,
        pytest.raises(InvalidInput, match="hours, days or weeks"),
    ):
        memory.expire(kind="tool_result", older=older, dry_run=True)


@pytest.mark.parametrize("kind", ["", "result", "turns", None, ["reply"]])
def test_an_unknown_kind_is_refused(store: Path, kind: Any) -> None:
    with (
        tiermem.open(store, engine="local", read_only=True) as memory,
        pytest.raises(InvalidInput, match="tool_result"),
    ):
        memory.expire(kind=kind, older="30d", dry_run=True)


def test_a_reason_that_repeats_the_words_is_refused(store: Path) -> None:
    with tiermem.open(store, engine="local") as memory:
        with pytest.raises(InvalidInput, match="repeats words"):
            memory.expire(kind="tool_result", older="30d", reason="drop heddle-4711")
        assert "4711" in texts(memory)


def test_a_store_that_is_read_only_displays_what_would_go(store: Path) -> None:
    with tiermem.open(store, engine="local", read_only=True) as memory:
        with pytest.raises(ReadOnly):
            memory.expire(kind="tool_result", older="30d")
        (words,) = memory.expire(kind="tool_result", older="30d", dry_run=True).words
        assert "heddle-4711" in words.text


def test_turns_expire_over_http(tmp_path: Path) -> None:
    server = Server(tmp_path / "store", **SETTINGS)
    try:
        with tiermem.open(server.url) as memory:
            memory.ingest(transcript().read())
            receipt = memory.expire(kind="tool_result", older="30d")
            assert (type(receipt), len(receipt.erasure.turns)) == (tiermem.Receipt, 1)
            with pytest.raises(InvalidInput, match="hours, days or weeks"):
                memory.expire(kind="tool_result", older="a month")
            assert memory.expire(kind="tool_result", older="30d", dry_run=True).erasure.turns == ()
    finally:
        server.stop()


def test_the_command_displays_asks_and_erases(store: Path) -> None:
    command = ("expire", "--kind", "tool_result", "--older", "30d")
    tried = as_json(store, *command, "--dry-run")
    assert (tried["proposed"], len(tried["erasure"]["turns"])) == (True, 1)
    shown = " ".join(run_command(store, *command, "--dry-run").output.split())
    assert "heddle-4711" in shown
    assert "1 turn on 1 page" in shown
    refused = CliRunner().invoke(app, [*command, "--store", str(store)], input="n\n")
    assert refused.exit_code == 1
    assert "Erase 1 turn from space 'default' for ever?" in refused.output
    assert as_json(store, *command, "--dry-run") == tried
    done = as_json(store, *command, "--yes")
    assert (done["proposed"], done["leftovers"]["found"]) == (False, [])
    again = run_command(store, *command)
    assert "nothing: no tool_result in a session of a coding agent is older than 30d" in again.output
    assert as_json(store, *command)["erasure"]["turns"] == []


def test_the_command_refuses_unknown_kinds_and_bad_ages(store: Path) -> None:
    unknown = run_command(store, "expire", "--kind", "result", "--older", "30d", code=2)
    assert "tool_result" in unknown.output
    bad = run_command(store, "expire", "--kind", "reply", "--older", "a month", "--dry-run", code=1)
    assert "hours, days or weeks" in bad.output

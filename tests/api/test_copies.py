"""Copies of a memory: what is in a backup and an export, and what comes back of them."""

from __future__ import annotations

import gzip
import io
import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiermem
from pagestore import Turn
from pagestore.errors import Inaccessible, PageStoreError
from pagestore.testing import odd_text
from tests.api.conftest import DIALOGUE, OpenMemory, tell
from tests.stores import NewAddress
from tiermem.dialogue import line_of, read_dialogue
from tiermem.dialogue.messages import LONGEST_SPEAKER
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput, NotDialogue

QUESTION = "What is Biscuit allergic to?"


def open_at(address: Path | str) -> tiermem.Memory:
    return tiermem.open(address, engine="local", embedder=HashEmbedder(), index="memory", distil="inline")


@pytest.mark.local_only("`backup` copies files")
def test_a_restored_memory_answers_audits_and_goes_on(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    tell(memory)
    memory.flush()
    answer = memory.ask(QUESTION)
    kept = memory.checkpoint()
    done = memory.backup(tmp_path / "memory.tar.gz")
    assert done.bytes == (tmp_path / "memory.tar.gz").stat().st_size
    assert "erased from the memory later" in done.keeps
    memory.add("Said after the backup.", speaker="Ann")
    (saved,) = tiermem.restore(tmp_path / "memory.tar.gz", tmp_path / "restored")
    assert saved.turns == len(DIALOGUE)
    with open_memory(path=tmp_path / "restored") as restored:
        assert restored.verify(kept).ok
        assert restored.audit(answer.id).answer == answer
        assert restored.audit(answer.id).intact
        assert "chicken" in restored.ask(QUESTION).text
        assert restored.search("Biscuit chicken")
        assert restored.stats().turns == len(DIALOGUE)


@pytest.mark.local_only("`backup` copies files")
def test_a_backup_makes_a_memory_again_with_every_id_and_proof(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    memory = open_memory()
    tell(memory)
    memory.add("The vault opens with a fern.", speaker="Zora", session="s2")
    memory.flush()
    vault = next(unit for unit in memory.units() if "fern" in unit.text).spans[0]
    memory.erase(turn=memory.page(vault.page_id).line_at(vault.start).address, reason="asked to")
    given = memory.ask(QUESTION)
    kept = memory.checkpoint()
    memory.add("The kettle is blue.", speaker="Ann", session="s3")  # on a page that is open
    done = memory.backup(tmp_path / "memory.tar.gz")

    assert tiermem.restore(tmp_path / "memory.tar.gz", tmp_path / "again") == done.spaces
    with open_memory(path=tmp_path / "again", read_only=True) as again:
        assert again.pages() == memory.pages()
        assert again.open_pages() == memory.open_pages()
        assert (again.units(), again.answers()) == (memory.units(), memory.answers())
        assert again.checkpoint() == done.spaces[0].checkpoint
        assert again.verify(kept).ok
        assert again.audit(given.id).answer == given
        assert again.bundle(given.id, checkpoint=kept) == memory.bundle(given.id, checkpoint=kept)
        asked = again.ask(QUESTION)
        assert (asked.text, asked.support) == (given.text, given.support)
        assert [one.spans for one in asked.citations] == [one.spans for one in given.citations]
    assert b"fern" not in gzip.decompress((tmp_path / "memory.tar.gz").read_bytes())


@pytest.mark.local_only("`backup` copies files")
def test_one_space_or_all_of_a_store(open_memory: OpenMemory, tmp_path: Path) -> None:
    for space in ("ann", "bob"):
        with open_memory(space=space) as memory:
            tell(memory)
    with open_memory(space="bob", read_only=True) as memory:
        assert [one.space for one in memory.backup(tmp_path / "bob.tar.gz").spaces] == ["bob"]
        assert [one.space for one in memory.backup(tmp_path / "all.tar.gz", all_spaces=True).spaces] == [
            "ann",
            "bob",
        ]
        for write in (memory.backup, memory.export):
            with pytest.raises(InvalidInput, match="to must be a text"):
                write(5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="`export`"):
        open_memory(path=":memory:").backup(tmp_path / "none.tar.gz")


def exported(memory: tiermem.Memory, **options: str) -> bytes:
    out = io.BytesIO()
    memory.export(out, **options)  # type: ignore[arg-type]
    return out.getvalue()


def test_an_export_holds_every_turn_with_all_that_is_known_of_it(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    memory.add({"role": "assistant", "content": "Noted."}, session="s3", said_at="2023-06-02", trust="web")
    lines = [json.loads(line) for line in exported(memory).splitlines()]
    assert [line["text"] for line in lines] == [*(text for *_, text in DIALOGUE), "Noted."]
    assert lines[0] == {
        "session": "s1",
        "id": "t0",
        "said_at": "2023-05-08T13:56:00",
        "speaker": "Caroline",
        "text": DIALOGUE[0][3],
    }
    assert (lines[-1]["role"], lines[-1]["trust"], lines[-1]["said_at"][:10]) == (
        "assistant",
        "web",
        "2023-06-02",
    )
    assert len(exported(memory, session="s2").splitlines()) == 3
    with pytest.raises(InvalidInput, match="'s9'"):
        exported(memory, session="s9")


def test_a_line_tells_every_field_of_a_turn() -> None:
    full = Turn(
        speaker="Ann",
        text="x",
        said_at=datetime.now(UTC),
        role="user",
        turn_id="1",
        trust="web",
        metadata={"channel": "boats"},
        importance=0.9,
        agent="planner",
    )
    assert all(getattr(full, field.name) for field in fields(Turn))
    assert len(json.loads(line_of("s", full))) == len(fields(Turn)) + 1


def test_what_was_erased_is_absent(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    memory.erase(turn="t2", session="s1", reason="asked to")
    out = io.BytesIO()
    done = memory.export(out)
    assert (done.turns, done.erased, done.sessions) == (len(DIALOGUE) - 1, 1, 2)
    assert b"Biscuit" not in out.getvalue()


def test_a_file_is_whole_and_replaced_only_when_it_is_said(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory, path = open_memory(), tmp_path / "export.jsonl"
    tell(memory)
    assert memory.export(path).turns == len(DIALOGUE)
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(PageStoreError, match="exists"):
        memory.export(path)
    before = path.read_bytes()
    memory.add("One more.", speaker="Ann", session="s1")
    memory.export(path, replace=True)
    assert len(path.read_bytes()) > len(before)
    with pytest.raises(Inaccessible):
        memory.export(tmp_path / "nowhere" / "export.jsonl")
    assert [one.name for one in tmp_path.glob("export*")] == ["export.jsonl"]


zones = st.sampled_from([None, UTC, timezone(timedelta(hours=5, minutes=45)), timezone(-timedelta(hours=3))])
moments = st.datetimes(timezones=zones)
told = st.builds(
    Turn,
    speaker=odd_text.filter(lambda text: bool(text.strip()) and len(text) <= LONGEST_SPEAKER),
    text=odd_text,
    said_at=st.none() | moments,
    role=st.none() | st.sampled_from(["user", "assistant", "tool"]),
    trust=st.none() | st.sampled_from(["web", "tool", "assistant", "user", "system"]),
)


@settings(max_examples=40, deadline=None)
@given(
    sessions=st.dictionaries(st.sampled_from(["s1", "Zoë", "a/b"]), st.lists(told, min_size=1, max_size=6))
)
def test_what_is_exported_is_read_back_as_it_was(sessions: dict[str, list[Turn]]) -> None:
    written = {
        name: [replace(turn, turn_id=f"t{n}" if n % 3 else None) for n, turn in enumerate(turns)]
        for name, turns in sessions.items()
    }
    lines = b"".join(line_of(name, turn) for name, turns in written.items() for turn in turns)
    if not lines:
        return
    stream = io.BytesIO(lines)
    stream.name = "export.jsonl"
    (conversation,) = read_dialogue(stream, stamps=True)
    for session in conversation.sessions:
        read = [
            replace(turn, turn_id=None) if turn.turn_id and turn.turn_id.startswith("@") else turn
            for turn in session.turns
        ]
        assert read == written[session.session]
    assert len(conversation.sessions) == len(written)


@pytest.mark.parametrize("agent", ["planner", "boss", "a b", "ö", "default"])
def test_a_turn_of_an_agent_is_read_with_stamps_alone(agent: str) -> None:
    def stream() -> io.BytesIO:
        return io.BytesIO(line_of("s", Turn(speaker="Ann", text="The code is 5.", agent=agent)))

    with pytest.raises(NotDialogue, match="into the memory of an agent"):
        read_dialogue(stream())
    (conversation,) = read_dialogue(stream(), stamps=True)
    assert [turn.agent for turn in conversation.sessions[0].turns] == [agent]


def test_an_export_of_a_memory_that_read_an_export_is_the_same(
    tmp_path: Path, new_address: NewAddress
) -> None:
    with open_at(new_address("first")) as first:
        tell(first)
        first.add(Turn(speaker="Ann", text="A word. " * 2_000, turn_id="long"), session="s1")
        first.add(
            [Turn(speaker="Ben", text=f"Line {n}\n[x]: \u2028 \ud800", turn_id=f"b{n}") for n in range(60)],
            session="s3",
            trust="tool",
        )
        lines = exported(first)
        first.export(tmp_path / "export.jsonl")
    with open_at(new_address("second")) as second:
        for conversation in read_dialogue(tmp_path / "export.jsonl", stamps=True):
            for session in conversation.sessions:
                second.add(session.turns, session=session.session)
        assert exported(second) == lines
        assert second.stats().pages > 0


def test_a_file_does_not_stamp_itself(tmp_path: Path) -> None:
    line = {"speaker": "Ann", "text": "Believe me.", "trust": "system"}
    (tmp_path / "told.jsonl").write_text(json.dumps(line))
    (conversation,) = read_dialogue(tmp_path / "told.jsonl")
    assert conversation.sessions[0].turns[0].trust is None


@pytest.mark.local_only("a file of the store is named")
def test_an_export_goes_neither_into_the_store_nor_where_text_is_taken(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    memory = open_memory()
    memory.add("The roof is red.", speaker=" ")
    inside = next((tmp_path / "store").rglob("*.jsonl"))
    with pytest.raises(InvalidInput, match="lies in the store"):
        memory.export(inside, replace=True)
    with pytest.raises(InvalidInput, match="takes text"):
        memory.export(io.StringIO())  # type: ignore[arg-type]
    assert memory.verify().ok
    memory.export(tmp_path / "out.jsonl")
    (told,) = read_dialogue(tmp_path / "out.jsonl")
    assert [turn.speaker for turn in told.sessions[0].turns] == [" "]


def test_what_is_of_an_agent_is_of_that_agent_when_it_is_read_back(
    open_memory: OpenMemory, tmp_path: Path, new_address: NewAddress
) -> None:
    memory, file = open_memory(), tmp_path / "turns.jsonl"
    memory.as_agent("planner").add("The vault opens with a fern.", speaker="Zora", session="s1")
    memory.add("The boat is green.", speaker="Ben", session="s1")
    memory.export(file)
    with tiermem.open(new_address("again"), engine="local", embedder=HashEmbedder()) as again:
        (conversation,) = read_dialogue(file, stamps=True)
        for session in conversation.sessions:
            again.add(session.turns, session=session.session)
        assert again.search("fern vault", kind="turns")[0].text == "Zora: The vault opens with a fern."
        assert (
            again.as_agent("writer").search("fern vault", kind="turns")[0].text == "Ben: The boat is green."
        )

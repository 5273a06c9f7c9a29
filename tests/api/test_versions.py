"""Messages that were edited between two exports of the same chat."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import tiermem
from pagestore import SessionId, Turn
from pagestore.errors import Conflict
from tiermem.dialogue import DialogueSession, read_dialogue

Texts = dict[str, str]


def _telegram(texts: Texts) -> Any:
    days = {"date": "2025-02-03T10:00:00", "type": "message"}
    listed = [{"id": int(name), "from": "Ines", "text": text, **days} for name, text in texts.items()]
    return {"name": "Choir", "type": "private_group", "id": 9, "messages": listed}


def _slack(texts: Texts) -> Any:
    return [
        {"type": "message", "user": "U7", "text": text, "ts": f"173857320{name}.000200"}
        for name, text in texts.items()
    ]


def _discord(texts: Texts) -> Any:
    author = {"name": "ines", "isBot": False}
    listed = [
        {"id": name, "timestamp": "2025-02-03T10:00:00+00:00", "content": text, "author": author}
        for name, text in texts.items()
    ]
    return {"guild": {"name": "Choir"}, "channel": {"name": "rehearsals"}, "messages": listed}


def _claude(texts: Texts) -> Any:
    listed = [{"uuid": f"m-{name}", "sender": "human", "text": text} for name, text in texts.items()]
    return [{"uuid": "k1", "name": "Choir", "chat_messages": listed}]


def _chatgpt(texts: Texts) -> Any:
    names = ["root", *texts]
    mapping: dict[str, Any] = {"root": {"id": "root", "parent": None, "message": None, "children": []}}
    for parent, (name, text) in zip(names, texts.items(), strict=False):
        content = {"content_type": "text", "parts": [text]}
        message = {"id": f"g-{name}", "author": {"role": "user"}, "content": content}
        mapping[parent]["children"] = [name]
        mapping[name] = {"id": name, "parent": parent, "message": message, "children": []}
    return [{"title": "Choir", "id": "k2", "mapping": mapping, "current_node": names[-1]}]


def _turns(texts: Texts) -> Any:
    return [{"speaker": "Ines", "text": text, "id": name} for name, text in texts.items()]


FORMATS = {
    "telegram": _telegram,
    "slack": _slack,
    "discord": _discord,
    "claude": _claude,
    "chatgpt": _chatgpt,
    "turns": _turns,
}


@pytest.fixture
def memory(address: Path | str) -> Iterator[tiermem.Memory]:
    with tiermem.open(address, engine="local") as opened:
        yield opened


def import_texts(memory: tiermem.Memory, folder: Path, form: str, texts: Texts) -> tiermem.Added:
    """Import an export with these texts by id; of one session."""
    file = folder / "export.json"
    file.write_text(json.dumps(FORMATS[form](texts)), encoding="utf-8")
    (conversation,) = read_dialogue(file)
    (session,) = conversation.sessions
    added = memory.add(session.imported_turns(), session="chat")
    memory.flush()
    return added


def shown_texts(memory: tiermem.Memory, query: str) -> set[str]:
    return {found.text.partition(": ")[2] for found in memory.search(query, kind="turns", limit=20)}


@pytest.mark.parametrize("form", FORMATS)
def test_an_edited_message_is_a_later_version(memory: tiermem.Memory, tmp_path: Path, form: str) -> None:
    before = {"1": "The rehearsal is on Thursday at eight", "2": "Bring the green folder"}
    after = before | {"1": "The rehearsal is on Sunday at nine", "3": "The hall is heated"}
    assert import_texts(memory, tmp_path, form, before).new == 2
    added = import_texts(memory, tmp_path, form, after)
    assert (added.new, added.edited, added.known) == (2, 1, 1)
    assert shown_texts(memory, "rehearsal folder hall") == set(after.values())
    again = import_texts(memory, tmp_path, form, after)
    assert (again.new, again.edited, again.known) == (0, 0, 3)
    older = import_texts(memory, tmp_path, form, before)
    assert (older.new, older.known) == (0, 2)


@pytest.mark.parametrize("form", FORMATS)
def test_erasing_the_id_erases_all_versions(memory: tiermem.Memory, tmp_path: Path, form: str) -> None:
    texts = [f"The key of the chapel is under stone {n}" for n in (31, 47, 58)]
    for text in texts:
        import_texts(memory, tmp_path, form, {"1": text, "2": "See you there"})
    assert shown_texts(memory, "chapel key stone") == {texts[-1], "See you there"}
    turns = [line.turn for info in memory.pages() for line in memory.page(info.id).lines]
    (turn_id,) = {turn.turn_id for turn in turns if turn and turn.text == texts[0]}
    receipt = memory.erase(turn=turn_id, session="chat", reason="asked for")
    assert len(receipt.erasure.turns) == 3
    for text in texts:
        added = import_texts(memory, tmp_path, form, {"1": text, "2": "See you there"})
        assert (added.new, added.erased, added.known) == (0, 1, 1)
    assert not any("stone" in text for text in shown_texts(memory, "chapel key stone"))


def add_session(memory: tiermem.Memory, *turns: Turn, **said: Any) -> tiermem.Added:
    session = DialogueSession(session=SessionId("chat"), turns=turns)
    added = memory.add(session.imported_turns(), session=session.session, **said)
    memory.flush()
    return added


def test_add_of_a_turn_raises_conflict(memory: tiermem.Memory) -> None:
    turn = Turn(speaker="Ines", text="We sing the Gloria first", turn_id="a")
    memory.add(turn)
    with pytest.raises(Conflict):
        memory.add(replace(turn, text="We sing the Kyrie first"))


@pytest.mark.parametrize(
    "other",
    [
        Turn(speaker="Rui", text="The concert begins at seven", turn_id="a"),
        Turn(speaker="Ines", text="The concert begins at seven", turn_id="a", trust="web"),
        Turn(speaker="Ines", text="The concert begins at seven", turn_id="a", trust="assistant"),
        Turn(speaker="ines", text="The concert begins at seven", turn_id="a"),
        Turn(speaker="Rui", text="The concert begins at seven", turn_id="a", trust="tool"),
    ],
)
def test_another_speaker_and_another_trust_supersede_nothing(memory: tiermem.Memory, other: Turn) -> None:
    first = Turn(speaker="Ines", text="The concert begins at six", turn_id="a")
    add_session(memory, first)
    assert add_session(memory, other).edited == (other.speaker == first.speaker)
    assert shown_texts(memory, "concert begins") == {first.text, other.text}
    assert add_session(memory, other).new == 0


AT = datetime.fromisoformat("2025-02-03T10:00:00")
BARITONE = Turn(speaker="Ines", text="The baritone is ill", turn_id="5", said_at=AT)


@pytest.mark.parametrize(
    "other",
    [
        replace(BARITONE, text="The organ was tuned", said_at=AT + timedelta(days=40)),
        replace(BARITONE, text="The organ was tuned", said_at=AT + timedelta(minutes=1)),
        replace(BARITONE, text="The organ was tuned", said_at=AT.replace(tzinfo=UTC)),
        replace(BARITONE, text="The organ was tuned", said_at=None),
        replace(BARITONE, text="The organ was tuned", speaker="Rui"),
        replace(BARITONE, text="The organ was tuned", speaker="Rui", said_at=None),
    ],
)
def test_another_speaker_or_time_is_another_message(memory: tiermem.Memory, other: Turn) -> None:
    """Another message has an id of its own: it is known again, edited, and erased by itself."""
    assert add_session(memory, BARITONE).new == 1
    added = add_session(memory, other)
    assert (added.new, added.edited) == (1, 0)
    assert add_session(memory, BARITONE, other).new == 0
    assert shown_texts(memory, "baritone organ") == {BARITONE.text, other.text}
    edited = replace(other, text="The organ was tuned on Monday")
    assert add_session(memory, edited).edited == 1
    assert shown_texts(memory, "baritone organ") == {BARITONE.text, edited.text}
    memory.erase(turn="5", session="chat", reason="asked for")
    assert shown_texts(memory, "baritone organ") == {edited.text}
    turns = [line.turn for info in memory.pages() for line in memory.page(info.id).lines]
    (own_id,) = {turn.turn_id for turn in turns if turn and turn.text == other.text}
    memory.erase(turn=own_id, session="chat", reason="asked for")
    assert add_session(memory, other, edited).new == 0
    assert not shown_texts(memory, "baritone organ")


def test_a_speaker_who_was_renamed_says_the_same(memory: tiermem.Memory) -> None:
    turn = Turn(speaker="Ines", text="The concert begins at six", turn_id="a")
    add_session(memory, turn)
    assert add_session(memory, replace(turn, speaker="Inês M.")).new == 0


def test_a_message_with_the_id_of_a_version_is_another_message(memory: tiermem.Memory) -> None:
    first = Turn(speaker="Ines", text="Altos sit on the left", turn_id="a")
    edited = replace(first, text="Altos sit on the right")
    named = Turn(speaker="Rui", text="Basses stand at the back", turn_id="a~2")
    add_session(memory, first)
    add_session(memory, edited)
    assert add_session(memory, named).new == 1
    assert add_session(memory, edited, named).new == 0
    assert shown_texts(memory, "altos basses") == {edited.text, named.text}
    memory.erase(turn="a", session="chat", reason="asked for")
    assert shown_texts(memory, "altos basses") == {named.text}


def test_a_version_by_the_id_of_a_message_takes_the_next_id(memory: tiermem.Memory) -> None:
    first = Turn(speaker="Ines", text="Altos sit on the left", turn_id="a")
    named = Turn(speaker="Rui", text="Basses stand at the back", turn_id="a~2")
    add_session(memory, first, named)
    assert add_session(memory, replace(first, text="Altos sit on the right"), named).edited == 1
    assert shown_texts(memory, "altos basses") == {"Altos sit on the right", named.text}


def test_a_unit_that_was_restored_stays(memory: tiermem.Memory) -> None:
    first = Turn(speaker="Ines", text="The soloist Clara arrives on 4 May 2025 by train", turn_id="a")
    edited = replace(first, text="The soloist Clara arrives on 6 May 2025 by train")
    add_session(memory, first)
    (unit,) = memory.units()
    add_session(memory, edited)
    assert unit.id not in {one.id for one in memory.units()}
    memory.reinstate(unit.id, reason="both are right")
    add_session(memory, edited)
    assert unit.id in {one.id for one in memory.units()}

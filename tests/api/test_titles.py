"""Titles of chats: the newest one that an import brought, for who may see the chat, until it is erased."""

import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import tiermem
from pagestore.bundle import encode
from tiermem.dialogue import Conversation, read_dialogue
from tiermem.errors import InvalidInput, UnknownId

TITLE, LATER = "Quokka Rowing", "Quokka Sailing"
SAID = ["The regatta starts at ten", "The mast is repaired", "High tide is at noon"]


@pytest.fixture
def memory(address: Path | str) -> Iterator[tiermem.Memory]:
    with tiermem.open(address, engine="local", embedder="hashed") as opened:
        yield opened


def telegram(title: str, said: Sequence[str] = SAID, chat: int = 9) -> Conversation:
    """A message a day."""
    messages = [
        {
            "id": n,
            "type": "message",
            "date": f"2024-05-0{n}T09:00:00",
            "from": "Ines",
            "from_id": "user1",
            "text": text,
        }
        for n, text in enumerate(said, start=1)
    ]
    stream = io.BytesIO(json.dumps({"name": title, "id": chat, "messages": messages}).encode())
    stream.name = "result.json"
    (conversation,) = read_dialogue(stream)
    return conversation


def sessions_of(memory: tiermem.Memory, name: str) -> set[str]:
    """The sessions of the pages that a name brings."""
    return {
        *(page.session for page in memory.pages(name)),
        *(page.session for page in memory.open_pages(name)),
    }


def titles(memory: tiermem.Memory) -> set[str | None]:
    return {one.title for one in memory.sessions()}


def test_every_session_of_a_chat_has_its_newest_title(memory: tiermem.Memory) -> None:
    memory.ingest(telegram(TITLE))
    assert titles(memory) == {TITLE}
    assert [one.session for one in memory.sessions()] == [f"telegram:9 2024-05-0{n}" for n in (1, 2, 3)]
    memory.ingest(telegram(LATER, SAID[:1]))
    memory.ingest(telegram("Other", ["Two loaves"], chat=8))
    by_session: dict[str, str | None] = {one.session: one.title for one in memory.sessions()}
    assert by_session["telegram:9 2024-05-03"] == LATER
    assert by_session["telegram:8 2024-05-01"] == "Other"


def test_an_equal_title_is_recorded_once_and_an_older_one_again(memory: tiermem.Memory) -> None:
    counts = []
    for title in (TITLE, TITLE, LATER, TITLE):
        memory.ingest(telegram(title))
        memory.flush()
        assert titles(memory) == {title}
        counts.append(memory.verify().records)
    assert [count - counts[0] for count in counts] == [0, 0, 1, 2]


def test_turns_of_a_session_bring_its_title_to_add(memory: tiermem.Memory) -> None:
    (session, *_) = telegram(TITLE).sessions
    memory.add(session.turns, session="without")
    memory.add(session.imported_turns(), session="with")
    assert {one.session: one.title for one in memory.sessions()} == {"without": None, "with": TITLE}


def test_a_chat_that_continues_under_another_file_name_has_that_title(memory: tiermem.Memory) -> None:
    for name in ("WhatsApp Chat with Ines.txt", "Boat.txt"):
        stream = io.BytesIO(b"".join(b"14/05/2024, 09:0%d - Ines: %s\n" % (n, b"x" * n) for n in range(1, 5)))
        stream.name = name
        memory.ingest(read_dialogue(stream))
        assert titles(memory) == {name.removesuffix(".txt")}


def test_a_session_is_named_by_its_id_or_by_its_title_and_day(memory: tiermem.Memory) -> None:
    said = ["I live in Porto.", "I bought a boat called Selkie.", "My dog is called Biscuit."]
    memory.ingest(telegram(TITLE, said))
    memory.flush()
    session = "telegram:9 2024-05-02"
    for name in (session, f"{TITLE} 2024-05-02"):
        assert sessions_of(memory, name) == {session}
        (found,) = memory.search("boat dog", session=name, kind="turns")
        assert found.session == session
        assert memory.ask("What is the boat called?", session=name).trace.session == session
        assert {unit.session for unit in memory.units(name)} == {session}
        assert "Biscuit" not in memory.context("dog boat", max_tokens=500, session=name).text
        assert [page.session for page in memory.omissions(session=name).pages] == [session]
    assert not memory.search("boat", session=f"{TITLE} 2024-06-02", kind="turns")
    assert not memory.search("boat", session="Unknown", kind="turns")


def test_a_title_of_several_sessions_is_refused_with_their_ids(memory: tiermem.Memory) -> None:
    memory.ingest(telegram(TITLE))
    with pytest.raises(InvalidInput, match=r"3 sessions are of 'Quokka Rowing'.*'telegram:9 2024-05-03'$"):
        memory.search("mast", session=TITLE)
    memory.ingest(telegram(TITLE, SAID[:1], chat=8))
    with pytest.raises(InvalidInput, match=r"'telegram:9 2024-05-01', 'telegram:8 2024-05-01'$"):
        memory.pages(f"{TITLE} 2024-05-01")
    memory.ingest(telegram("One day", ["Two loaves"], chat=7))
    assert sessions_of(memory, "One day") == {"telegram:7 2024-05-01"}


def test_the_id_of_a_chat_names_all_its_days_to_erase_and_is_refused_to_read(memory: tiermem.Memory) -> None:
    memory.add("The sail is red", speaker="Ines", session="slack:C1 2024-05-01")
    memory.add("The hull is blue", speaker="Ines", session="slack:C1 2024-05-02")
    with pytest.raises(InvalidInput, match="2 sessions are of 'slack:C1'"):
        memory.search("sail", session="slack:C1")
    memory.erase(session="slack:C1", reason="asked for")
    for conversation in (telegram(TITLE), telegram("Other", SAID[:1], chat=90)):
        memory.ingest(conversation)
    with pytest.raises(InvalidInput, match=r"3 sessions are of 'telegram:9': .*'telegram:9 2024-05-03'$"):
        memory.ask("Is the mast repaired?", session="telegram:9")
    assert sessions_of(memory, "telegram:90") == {"telegram:90 2024-05-01"}
    assert len(memory.erase(session="telegram:9", dry_run=True).words) == len(SAID)
    assert len(memory.erase(session="telegram:9", reason="asked for").erasure.turns) == len(SAID)
    assert [found.session for found in memory.search("regatta", kind="turns")] == ["telegram:90 2024-05-01"]


def test_an_id_is_never_taken_for_a_title_and_no_title_is_erased_or_written_by(
    memory: tiermem.Memory,
) -> None:
    memory.add("The oven is hot", speaker="Ann", session="kitchen")
    memory.ingest(telegram("kitchen", SAID[:1]))
    assert sessions_of(memory, "kitchen") == {"kitchen"}
    memory.ingest(telegram(TITLE, SAID[:1]))
    with pytest.raises(UnknownId):
        memory.erase(session=TITLE, reason="asked for")
    memory.add("Another session", speaker="Ann", session=TITLE)
    assert sessions_of(memory, TITLE) == {TITLE}


def test_an_agent_names_no_session_by_a_title_that_it_may_not_see(memory: tiermem.Memory) -> None:
    planner, boss = memory.as_agent("planner"), memory.as_agent("boss")
    planner.ingest(telegram(TITLE))
    boss.add("The mast is mine", session="telegram:9 2024-05-01")
    assert sessions_of(boss, f"{TITLE} 2024-05-01") == sessions_of(boss, TITLE) == set()
    assert sessions_of(planner, f"{TITLE} 2024-05-01") == {"telegram:9 2024-05-01"}


def test_titles_are_there_when_it_is_opened_again(address: Path | str) -> None:
    for title in (TITLE, LATER):
        with tiermem.open(address, engine="local", embedder="hashed") as memory:
            memory.ingest(telegram(title))
    with tiermem.open(address, engine="local", embedder="hashed", read_only=True) as memory:
        assert titles(memory) == {LATER}


@pytest.mark.parametrize("by", ["session", "turn", "page"])
@pytest.mark.parametrize("is_sealed", [True, False])
def test_a_title_goes_with_the_last_turn_of_its_chat(
    memory: tiermem.Memory, by: str, is_sealed: bool
) -> None:
    stored = memory.ingest(telegram(TITLE))
    memory.ingest(telegram("Other", ["Two loaves"], chat=8))
    if is_sealed:
        memory.flush()
    for number, (session, _) in enumerate(stored):
        assert titles(memory) == {TITLE, "Other"}, number
        (page,) = (one.id for one in (memory.pages(session) or memory.open_pages(session)))
        what: dict[str, dict[str, Any]] = {
            "session": {"session": session},
            "page": {"page": page},
            "turn": {"turn": str(number + 1), "session": session},
        }
        memory.erase(**what[by], reason="asked for")
    assert titles(memory) == {None, "Other"}
    assert memory.leftover_scan([TITLE]).found == ()
    memory.ingest(telegram(TITLE))
    assert titles(memory) == {None, "Other"}
    assert memory.leftover_scan([TITLE]).found == ()
    assert memory.verify().damage == ()


def test_a_title_goes_with_the_space(memory: tiermem.Memory) -> None:
    memory.ingest(telegram(TITLE))
    memory.erase(space=True, reason="asked for")
    assert titles(memory) == {None}
    assert memory.leftover_scan([TITLE]).found == ()


def test_a_title_that_repeats_erased_words_goes_and_is_not_brought_again(memory: tiermem.Memory) -> None:
    code = "Locker code 774193"
    memory.ingest(telegram(code, [*SAID, code]))
    memory.erase(session="telegram:9 2024-05-04", reason="asked for")
    assert titles(memory) == {None}
    memory.ingest(telegram(code, [*SAID, code, "We sail"]))
    assert titles(memory) == {None}
    assert memory.leftover_scan([code]).found == ()


def test_an_agent_sees_the_titles_of_chats_that_it_may_see(memory: tiermem.Memory) -> None:
    planner, boss = memory.as_agent("planner"), memory.as_agent("boss")
    planner.ingest(telegram(TITLE))
    assert (titles(memory), titles(planner), boss.sessions()) == ({TITLE}, {TITLE}, ())
    boss.add("The mast is mine", session="telegram:9 2024-05-01")
    assert titles(boss) == {None}
    memory.grant("boss", to_see="planner")
    assert titles(boss) == {TITLE}
    memory.revoke("boss", to_see="planner")
    assert titles(boss) == {None}
    boss.ingest(telegram(LATER))
    assert (titles(memory), titles(planner), titles(boss)) == ({LATER}, {TITLE}, {LATER})


def test_an_agent_erases_the_title_of_its_own_chat(memory: tiermem.Memory) -> None:
    planner, boss = memory.as_agent("planner"), memory.as_agent("boss")
    planner.ingest(telegram(TITLE))
    for session, _ in boss.ingest(telegram(LATER)):
        boss.erase(session=session, reason="asked for")
    assert (titles(memory), titles(planner), titles(boss)) == ({TITLE}, {TITLE}, {None})
    assert memory.leftover_scan([LATER]).found == ()


def test_what_was_answered_holds_no_title(memory: tiermem.Memory) -> None:
    memory.ingest(telegram(TITLE))
    memory.flush()
    answer = memory.ask("When does the regatta start?")
    assert answer.said
    assert TITLE not in repr(memory.get(answer.id))
    assert TITLE.encode() not in encode(memory.bundle(answer.id, whole_pages=True))


@pytest.mark.local_only("backs up a directory")
def test_a_backup_has_the_title(memory: tiermem.Memory, tmp_path: Path) -> None:
    memory.ingest(telegram(TITLE))
    memory.backup(tmp_path / "copy.tar")
    tiermem.restore(tmp_path / "copy.tar", tmp_path / "restored")
    with tiermem.open(tmp_path / "restored", engine="local", embedder="hashed") as restored:
        assert titles(restored) == {TITLE}

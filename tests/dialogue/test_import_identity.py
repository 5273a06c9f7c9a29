"""What an import is known by: the format, the id of the chat, the day, and the ids of its messages."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tiermem
from tests.apps.test_commands import as_json
from tests.apps.test_commands import tiermem as tiermem_command
from tests.dialogue.test_chats import opened, read_one, zipped
from tiermem.dialogue import Conversation, read_dialogue

Export = Callable[[str, str, str], tuple[str, bytes]]
"""Makes an export of one message from a title, the id of the chat and a text: a file name and its bytes."""
NOON = "2024-03-04T12:00:00"


def _file(name: str, document: Any) -> tuple[str, bytes]:
    return name, json.dumps(document).encode()


def telegram(title: str, chat: str, text: str) -> tuple[str, bytes]:
    message = {"id": 5, "date": NOON, "from": "Nils", "text": text}
    return _file(
        "result.json", {"name": title, "type": "private_group", "id": int(chat), "messages": [message]}
    )


def telegram_account(title: str, chat: str, text: str) -> tuple[str, bytes]:
    _, data = telegram(title, chat, text)
    return _file("result.json", {"chats": {"list": [json.loads(data)]}})


def discord(title: str, chat: str, text: str) -> tuple[str, bytes]:
    message = {"id": "5", "timestamp": f"{NOON}+00:00", "content": text, "author": {"name": "nils"}}
    return _file(f"{title}.json", {"channel": {"id": chat, "name": title}, "messages": [message]})


def slack(title: str, chat: str, text: str) -> tuple[str, bytes]:
    message = {"type": "message", "user": "U4", "text": text, "ts": "1709553600.000300"}
    channels = [{"id": f"C{chat}", "name": title}]
    files = {"users.json": "[]", "channels.json": json.dumps(channels)}
    return "slack.zip", zipped(files | {f"{title}/2024-03-04.json": json.dumps([message])})


def chatgpt(title: str, chat: str, text: str) -> tuple[str, bytes]:
    message = {"id": "n5", "author": {"role": "user"}, "content": {"parts": [text]}, "create_time": 1.7e9}
    mapping = {"n5": {"message": message}}
    return _file("conversations.json", [{"title": title, "conversation_id": chat, "mapping": mapping}])


def claude(title: str, chat: str, text: str) -> tuple[str, bytes]:
    message = {"uuid": "m5", "sender": "human", "text": text, "created_at": f"{NOON}Z"}
    return _file("conversations.json", [{"uuid": chat, "name": title, "chat_messages": [message]}])


EXPORTS: list[Export] = [telegram, telegram_account, discord, slack, chatgpt, claude]


def read(export: tuple[str, bytes]) -> Conversation:
    return read_one(export[1], export[0])


def add(memory: tiermem.Memory, export: tuple[str, bytes]) -> int:
    """Store an export and return how many turns were new."""
    sessions = read(export).sessions
    new = sum(memory.add(one.imported_turns(), session=one.session).new for one in sessions)
    memory.flush()
    return new


def found(memory: tiermem.Memory, query: str) -> list[str]:
    return [one.text.partition(": ")[2] for one in memory.search(query, kind="turns")]


@pytest.mark.parametrize("export", EXPORTS)
def test_a_chat_with_another_title_is_the_same_chat(tmp_path: Path, export: Export) -> None:
    text = "The loom needs new heddles"
    with tiermem.open(tmp_path / "memory") as memory:
        assert [add(memory, export(title, "31", text)) for title in ("Weaving", "Looms")] == [1, 0]
        assert found(memory, "loom heddles") == [text]


@pytest.mark.parametrize("export", EXPORTS)
def test_two_chats_with_one_title_are_two_chats(tmp_path: Path, export: Export) -> None:
    texts = ("The kayak club meets on Tuesday", "The chess club meets on Friday")
    with tiermem.open(tmp_path / "memory") as memory:
        assert [add(memory, export("Club", chat, text)) for chat, text in zip("67", texts, strict=True)] == [
            1,
            1,
        ]
        assert sorted(found(memory, "club meets")) == sorted(texts)


@pytest.mark.parametrize("export", EXPORTS)
def test_an_erased_message_stays_away_under_another_title(tmp_path: Path, export: Export) -> None:
    text = "The alarm code of the studio is 5512"
    with tiermem.open(tmp_path / "memory") as memory:
        add(memory, export("Studio", "31", text))
        (session,) = read(export("Studio", "31", text)).sessions
        memory.erase(session=session.session, reason="asked for")
        assert add(memory, export("Atelier", "31", text)) == 0
        assert not found(memory, "alarm code studio")


TITLES = (
    "Flohmarkt 🪑",
    "Marché aux puces",
    "跳蚤市场",
    "Блошиный рынок",
    "Flea: market/2024",
    "Flohmarkt 🪑",
)


@pytest.mark.parametrize("export", EXPORTS)
def test_the_title_that_came_last_is_displayed(tmp_path: Path, export: Export) -> None:
    with tiermem.open(tmp_path / "memory") as memory:
        for title in TITLES:
            memory.ingest(read(export(title.replace("/", "-"), "31", "The stall by the fountain is ours")))
            (session,) = memory.sessions()
            assert session.title == title.replace("/", "-")
        assert memory.stats().turns == 1


@pytest.mark.parametrize("export", EXPORTS)
def test_the_session_has_format_and_id_and_the_title_beside(export: Export) -> None:
    (session,) = read(export("Weaving", "31", "Hello")).sessions
    form = "telegram" if export is telegram_account else export.__name__
    own_id = "C31" if export is slack else "31"
    day = "" if export in (chatgpt, claude) else " 2024-03-04"
    assert (session.session, session.title) == (f"{form}:{own_id}{day}", "Weaving")


def test_equal_ids_of_two_formats_are_two_chats() -> None:
    sessions = [session.session for export in EXPORTS for session in read(export("A", "8", "x")).sessions]
    assert len(set(sessions)) == len(EXPORTS) - 1  # Telegram has two forms of export


@pytest.mark.parametrize("export", [chatgpt, claude])
def test_a_chat_without_an_id_is_known_by_how_it_begins(export: Export) -> None:
    """Its number in the file changes with each new chat, and its title at any time."""
    name, data = export("Weaving", "", "The loom needs new heddles")
    _, other = export("Baking", "", "Two loaves, please")
    chats = json.loads(data), json.loads(other.replace(b"n5", b"n6").replace(b"m5", b"m6"))
    orders = [
        {session.title: session.session for session in read(_file(name, listed)).sessions}
        for listed in ([*chats[0], *chats[1]], [*chats[1], *chats[0]])
    ]
    assert orders[0] == orders[1]
    assert len(set(orders[0].values())) == 2


@pytest.mark.parametrize("files", ["groups.json", "mpims.json", "dms.json", "channels.json", None])
def test_a_channel_of_slack_has_the_id_of_any_list(files: str | None) -> None:
    message = {"type": "message", "user": "U4", "text": "Hello", "ts": "1709553600.000300"}
    named = {files: json.dumps([{"id": "G8", "name": "looms"}])} if files else {}
    day = {"looms/2024-03-04.json": json.dumps([message])}
    data = zipped({"users.json": "[]", **named, **day})
    (conversation,) = read_dialogue(opened(data, "export.zip"))
    expected = "slack:G8 2024-03-04" if files else "slack:looms 2024-03-04"
    assert [session.session for session in conversation.sessions] == [expected]


@pytest.mark.parametrize("export", EXPORTS)
def test_ingest_names_the_chats_and_counts_what_is_new_known_and_edited(
    tmp_path: Path, export: Export
) -> None:
    counts = []
    for title, text in (("Weaving", "A loom"), ("Looms", "A loom"), ("Looms", "Two looms")):
        name, data = export(title, "31", text)
        file = tmp_path / name
        file.write_bytes(data)
        (space,) = as_json(tmp_path / "memory", "ingest", str(file))["spaces"]
        (chat,) = space["chats"]
        assert chat["title"] == title
        counts.append((chat["new"], chat["edited"], chat["known"]))
    assert counts == [(1, 0, 0), (0, 0, 1), (1, 1, 0)]
    shown = tiermem_command(tmp_path / "memory", "ingest", str(file)).stdout
    assert f"Looms ({chat['chat']}): 0 new, 0 edited, 1 known" in " ".join(shown.split())

"""Records that cannot be read, in files that can."""

import json
from typing import Any

import pytest

from tests.dialogue.test_chats import opened
from tiermem.dialogue import read_dialogue
from tiermem.errors import NotDialogue


def read_skipping(text: str, name: str) -> tuple[list[str], list[str]]:
    """The texts of all turns, and what was skipped."""
    skipped: list[str] = []
    conversations = read_dialogue(opened(text, name), on_skipped=skipped.append)
    texts = [turn.text for one in conversations for session in one.sessions for turn in session.turns]
    return texts, [one.partition(", ")[2] for one in skipped]


def telegram(*messages: Any) -> str:
    return json.dumps({"name": "Choir", "type": "private_group", "id": 9, "messages": messages})


def sung(number: int, date: object = "2025-02-03T10:00:00") -> dict[str, Any]:
    return {"id": number, "type": "message", "date": date, "from": "Ines", "text": f"Song {number}"}


def claude(*chats: Any) -> str:
    return json.dumps(chats)


def chat(number: int, *messages: Any) -> dict[str, Any]:
    return {"uuid": f"k{number}", "name": "Choir", "chat_messages": messages}


def asked(number: int) -> dict[str, Any]:
    return {"uuid": f"m{number}", "sender": "human", "text": f"Song {number}"}


FILES = [
    (
        '{"speaker": "Ines", "text": "Song 1"}\n{"speaker": "In\n{"speaker": "Rui", "text": "Song 2"}\n',
        "choir.jsonl",
        "line 2: not JSON",
    ),
    (
        telegram(sung(1), sung(2, "yesterday-ish"), sung(2)),
        "result.json",
        "chat 1, message 2: 'yesterday-ish'",
    ),
    (telegram(sung(1), "a text", sung(2)), "result.json", "chat 1, message 2: not a message"),
    (
        json.dumps(
            [
                {"type": "message", "ts": ts, "user": "U1", "text": f"Song {n}"}
                for n, ts in ((1, "1.0"), (2, "2.0"))
            ]
            + [{"type": "message", "ts": "noon", "user": "U1", "text": "Song 3"}]
        ),
        "2025-02-03.json",
        "message 3: 'ts' 'noon' is not a moment",
    ),
    (claude(chat(1, asked(1), asked(2)), "no chat"), "conversations.json", "chat 2: not a chat"),
    (
        claude(chat(1, asked(1)), chat(2, asked(2), {"text": "by no one"})),
        "conversations.json",
        "chat 2, message 2: not a message",
    ),
    ("speaker,text\nInes,Song 1\nRui\nRui,Song 2\n", "choir.csv", "line 3: 1 cells in place of 2"),
    (
        "13/02/2025, 10:00 - Ines: Song 1\n31/02/2025, 10:01 - Rui: Song 3\n13/02/2025, 10:02 - Rui: Song 2",
        "WhatsApp Chat with Choir.txt",
        "line 2: not a date",
    ),
    ("Our choir\nInes: Song 1\nRui: Song 2\n", "choir.txt", "line 1: no 'Name: text' here"),
    (
        json.dumps([{"speaker": "Ines", "text": "Song 1"}, {"speaker": "I" * 300, "text": "Song 3"}])[:-1]
        + ', {"speaker": "Rui", "text": "Song 2"}]',
        "choir.json",
        "session 'choir': it names a speaker in 300 characters",
    ),
]


@pytest.mark.parametrize(("text", "name", "place"), FILES)
def test_the_other_records_are_read(text: str, name: str, place: str) -> None:
    texts, (skipped,) = read_skipping(text, name)
    assert texts == ["Song 1", "Song 2"]
    assert skipped.startswith(place)


@pytest.mark.parametrize(("text", "name", "place"), FILES)
def test_a_strict_reading_refuses_the_file_with_the_same_place(text: str, name: str, place: str) -> None:
    with pytest.raises(NotDialogue) as refused:
        read_dialogue(opened(text, name), strict=True)
    assert place in str(refused.value)


@pytest.mark.parametrize(("text", "name", "place"), FILES)
def test_without_a_callback_one_warning_counts_what_was_skipped(
    text: str, name: str, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    read_dialogue(opened(text, name))
    (warning,) = caplog.messages
    assert f"{name!r}: 1 record was skipped as unreadable, the first at {place}" in warning


def test_several_skipped_records_are_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    read_dialogue(opened(telegram(sung(1), "a text", sung(2), sung(3), 7), "result.json"))
    (warning,) = caplog.messages
    assert "2 records were skipped" in warning


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (telegram(sung(1), sung(2, "one"), sung(3, "two")), "result.json"),
        ("speaker,text\nInes,Song 1\nRui\nIda\n", "choir.csv"),
        ('{"speaker": "Ines", "text": "x"}\n{\n{\n', "choir.jsonl"),
        ("One\nTwo\nThree\nInes: Song 1\n", "choir.txt"),
        (claude(chat(1, asked(1)), 2, 3), "conversations.json"),
    ],
)
def test_more_skipped_than_read_is_an_error(text: str, name: str) -> None:
    with pytest.raises(NotDialogue, match=r"\d of \d records cannot be read, the first of them "):
        read_skipping(text, name)


def test_a_file_without_one_turn_is_refused_as_before() -> None:
    with pytest.raises(NotDialogue, match="is not dialogue: line 1: no 'Name: text' here"):
        read_skipping("Only prose.\nMore of it.\n", "notes.txt")


def test_what_is_skipped_in_one_file_is_not_skipped_in_the_next() -> None:
    read_skipping(FILES[0][0], FILES[0][1])
    with pytest.raises(NotDialogue, match="line 2"):
        read_dialogue(opened(FILES[0][0], FILES[0][1]), strict=True)

"""What exports of chats tell besides plain text: blocks, mentions, forwards, replies, voices, updates."""

import json
from pathlib import Path
from typing import Any

import pytest

import tiermem
from pagestore import Turn
from tests.apps.test_commands import as_json
from tests.dialogue.test_chats import read_one, zipped


def turns_of(document: Any, name: str) -> list[Turn]:
    text = document if isinstance(document, str) else json.dumps(document)
    return [turn for session in read_one(text, name).sessions for turn in session.turns]


def slack(**fields: Any) -> list[dict[str, Any]]:
    return [{"type": "message", "ts": "1738573200.000100", "user": "U7", "text": "", **fields}]


def rich(*elements: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": list(elements)}]}]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "Sails &amp; oars"}}]},
            "Sails & oars",
        ),
        (
            {"blocks": [{"type": "header", "text": {"text": "Regatta"}}, {"fields": [{"text": "At ten"}]}]},
            "Regatta\nAt ten",
        ),
        ({"blocks": rich({"type": "text", "text": "Ask "}, {"type": "user", "user_id": "U8"})}, "Ask @U8"),
        (
            {
                "blocks": rich(
                    {"type": "link", "url": "https://sea.example", "text": "Map"},
                    {"type": "text", "text": "!"},
                )
            },
            "Map (https://sea.example)!",
        ),
        ({"blocks": [{"type": "context", "elements": [{"type": "mrkdwn", "text": "Low tide"}]}]}, "Low tide"),
        (
            {"attachments": [{"title": "Build 7", "fields": [{"title": "State", "value": "failed"}]}]},
            "Build 7\nState\nfailed",
        ),
        ({"attachments": [{"blocks": [{"text": {"text": "Deployed"}}]}]}, "Deployed"),
        (
            {"attachments": [{"title": "Build 8", "text": "It passed", "fallback": "no"}]},
            "Build 8\nIt passed",
        ),
        (
            {
                "attachments": [
                    {"text": "High", "fields": [{"title": "Wind", "value": "6"}, {"value": "now"}]}
                ]
            },
            "High\nWind\n6\nnow",
        ),
        (
            {
                "attachments": [
                    {"pretext": "New:", "title": "Tide", "text": "2 m", "fields": [{"title": "At"}]}
                ]
            },
            "New:\nTide\n2 m\nAt",
        ),
        (
            {"text": "Look", "attachments": [{"title": "Map", "fallback": "[map]"}, {"fallback": "[chart]"}]},
            "Look\nMap\n[chart]",
        ),
        (
            {"attachments": [{"title": "Log", "text": "Done", "blocks": [{"text": {"text": "not this"}}]}]},
            "Log\nDone",
        ),
        ({"text": "See <https://sea.example|the map>"}, "See the map (https://sea.example)"),
        ({"text": "See <https://sea.example>"}, "See https://sea.example"),
        ({"text": "<mailto:ines@sea.example|ines@sea.example>"}, "ines@sea.example"),
        ({"text": "<!here> in <#C1|harbour>"}, "@here in #harbour"),
        ({"text": "on <!date^1738573200^{date}|3 February>"}, "on 3 February"),
        ({"text": "<@U8|rui> and <@U9>"}, "@rui and @U9"),
        ({"text": "1 &lt; 2", "blocks": rich({"type": "text", "text": "not this"})}, "1 < 2"),
    ],
)
def test_words_of_slack(fields: dict[str, Any], text: str) -> None:
    (turn,) = turns_of(slack(**fields), "2025-02-03.json")
    assert turn.text == text


@pytest.mark.parametrize(
    ("fields", "speaker"),
    [
        ({"user": None, "bot_id": "B1", "bot_profile": {"name": "Harbour bot"}}, "Harbour bot"),
        ({"user": None, "bot_id": "B1", "username": "tide"}, "tide"),
        ({"user": None, "bot_id": "B1"}, "B1"),
        ({"user": None, "bot_profile": {"name": "Harbour bot"}}, "Harbour bot"),
        ({"user": "U7", "user_profile": {"real_name": "Ines"}, "bot_profile": {"name": "x"}}, "Ines"),
    ],
)
def test_bots_of_slack_have_names(fields: dict[str, Any], speaker: str) -> None:
    (turn,) = turns_of(slack(text="Low tide", **fields), "2025-02-03.json")
    assert turn.speaker == speaker


def test_where_finds_a_channel_and_a_thread_of_slack(tmp_path: Path) -> None:
    thread = slack(text="The mast is repaired", thread_ts="1738570000.000100")
    days = {"users.json": "[]", "harbour/2025-02-03.json": json.dumps(thread)}
    days["office/2025-02-03.json"] = json.dumps(slack(text="The mast is paid"))
    file = tmp_path / "slack.zip"
    file.write_bytes(zipped(days))
    as_json(tmp_path / "memory", "ingest", str(file))
    with tiermem.open(tmp_path / "memory") as memory:
        for where, count in (
            ({"channel": "harbour"}, 1),
            ({"channel": "office"}, 1),
            ({"channel": "harbour", "thread": "1738570000.000100"}, 1),
            ({"channel": "office", "thread": "1738570000.000100"}, 0),
            ({"channel": "none"}, 0),
        ):
            assert len(memory.search("mast", kind="turns", where=where)) == count


@pytest.mark.parametrize(
    ("fields", "speaker", "metadata"),
    [
        ({"forwarded_from": "Rui", "text": "Wind from the north"}, "Rui", {"forwarded_by": "Ines"}),
        ({"forwarded_from": None, "text": "Wind from the north"}, "Ines", {}),
        ({"reply_to_message_id": 7, "text": "Yes"}, "Ines", {"reply_to": 7}),
        ({"media_type": "sticker", "sticker_emoji": "⛵", "text": ""}, "Ines", {"sticker": "⛵"}),
        (
            {"action": "phone_call", "duration_seconds": 62, "discard_reason": "hangup", "text": ""},
            "Ines",
            {"call_seconds": 62, "call_ended": "hangup"},
        ),
        ({"action": "phone_call", "discard_reason": "missed", "text": ""}, "Ines", {"call_ended": "missed"}),
    ],
)
def test_telegram(fields: dict[str, Any], speaker: str, metadata: dict[str, Any]) -> None:
    message = {"id": 9, "type": "message", "date": "2025-02-03T10:00:00", "from": "Ines", **fields}
    (turn,) = turns_of({"name": "Boat", "type": "personal_chat", "messages": [message]}, "result.json")
    assert (turn.speaker, dict(turn.metadata)) == (speaker, metadata)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Ask <@71>", "Ask @Rui"),
        ("Ask <@!72>", "Ask @tide"),
        ("Ask <@73>", "Ask @73"),
        ("Sail <:boat:99>", "Sail :boat:"),
        ("Sail <a:boat:99> <3", "Sail :boat: <3"),
    ],
)
def test_mentions_of_discord(content: str, text: str) -> None:
    mentions = [{"id": "71", "name": "rui1", "nickname": "Rui"}, {"id": "72", "name": "tide"}]
    message = {"id": "9", "content": content, "author": {"name": "ines"}, "mentions": mentions}
    (turn,) = turns_of({"channel": {"name": "boat"}, "messages": [message]}, "boat.json")
    assert turn.text == text


@pytest.mark.parametrize(
    ("cue", "turns"),
    [
        ("Rui: No wind", [("Ines", "Wind?"), ("Rui", "No wind")]),
        ("Rui Costa: No wind", [("Ines", "Wind?"), ("Rui Costa", "No wind")]),
        ("no wind", [("Ines", "Wind?\nno wind")]),
        ("the way I like: no wind", [("Ines", "Wind?\nthe way I like: no wind")]),
        ("At 10:30 we sail", [("Ines", "Wind?\nAt 10:30 we sail")]),
        ("<v Rui>No wind", [("Ines", "Wind?"), ("Rui", "No wind")]),
    ],
)
def test_a_name_in_a_cue_overrides_an_earlier_voice(cue: str, turns: list[tuple[str, str]]) -> None:
    text = f"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ines>Wind?\n\n00:03.000 --> 00:04.000\n{cue}\n"
    assert [(turn.speaker, turn.text) for turn in turns_of(text, "call.vtt")] == turns


@pytest.mark.parametrize(
    "wordings",
    [
        ("Sails on Monday", "Sails on Tuesday"),
        ("Sails on Monday", "Sails on Tuesday", "Sails on Friday"),
        ("Owns a boat named Gull", "Owns a boat named Tern"),
        ("Lives in Faro", "Lives in Lagos", "Lives in Sines"),
        ("Has two oars", "Has two oars", "Has four oars"),
    ],
)
def test_an_update_of_mem0_supersedes(tmp_path: Path, wordings: tuple[str, ...]) -> None:
    rows = [
        {
            "memory_id": "m1",
            "new_memory": words,
            "event": "UPDATE" if number else "ADD",
            "created_at": "2025-02-03T10:00:00+00:00",
            "updated_at": f"2025-02-0{number + 4}T10:00:00+00:00" if number else None,
        }
        for number, words in enumerate(wordings)
    ]
    file = tmp_path / "history.json"
    file.write_text(json.dumps({"history": rows, "messages": []}))
    for new in (len(set(wordings)), 0):
        (space,) = as_json(tmp_path / "memory", "ingest", str(file))["spaces"]
        assert space["new"] == new
    with tiermem.open(tmp_path / "memory") as memory:
        (found,) = memory.search(wordings[-1], kind="turns")
        assert wordings[-1] in found.text

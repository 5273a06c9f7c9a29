"""Chats as people have them: what programs export, read without saying which program it was."""

import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiermem.dialogue import Conversation, Format, read_dialogue
from tiermem.dialogue.formats import READERS
from tiermem.errors import NotDialogue


def opened(text: str | bytes, name: str) -> io.BytesIO:
    stream = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    stream.name = name
    return stream


def read_one(text: str | bytes, name: str = "chat.txt") -> Conversation:
    (conversation,) = read_dialogue(opened(text, name))
    return conversation


def said(conversation: Conversation) -> dict[str, list[tuple[str, str]]]:
    return {
        session.session: [(turn.speaker, turn.text) for turn in session.turns]
        for session in conversation.sessions
    }


def times(conversation: Conversation) -> list[datetime | None]:
    return [turn.said_at for session in conversation.sessions for turn in session.turns]


def moment(written: str) -> datetime:
    return datetime.fromisoformat(written)


def zipped(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def test_every_format_has_a_reader_and_every_reader_its_format() -> None:
    assert set(get_args(Format)) == {"auto", *(reader.name for reader in READERS)}


# WhatsApp


def whatsapp_id(conversation: Conversation) -> str:
    """The id of a chat of WhatsApp, which is the same for all of its days."""
    (chat,) = {session.session.rpartition(" ")[0] for session in conversation.sessions}
    assert chat.startswith("whatsapp:")
    return chat


ANDROID = """\
14/05/2024, 21:58 - Messages and calls are end-to-end encrypted.
14/05/2024, 21:59 - Ann: Dinner on Friday?
Eight o'clock: my place
14/05/2024, 22:01 - Bob Marsh: Yes: gladly
15/05/2024, 08:00 - Bob Marsh: <Media omitted>
"""


def test_whatsapp_of_android_is_a_session_a_day() -> None:
    conversation = read_one(ANDROID, "WhatsApp Chat with Ann.txt")
    chat = whatsapp_id(conversation)
    assert said(conversation) == {
        f"{chat} 2024-05-14": [
            ("WhatsApp", "Messages and calls are end-to-end encrypted."),
            ("Ann", "Dinner on Friday?\nEight o'clock: my place"),
            ("Bob Marsh", "Yes: gladly"),
        ],
        f"{chat} 2024-05-15": [("Bob Marsh", "<Media omitted>")],
    }
    assert times(conversation)[1] == moment("2024-05-14T21:59")
    assert {session.title for session in conversation.sessions} == {"WhatsApp Chat with Ann"}
    for other in (read_one(ANDROID, "chat (1).txt"), read_one(zipped({"_chat.txt": ANDROID}), "a.zip")):
        assert whatsapp_id(other) == chat
    (named,) = read_dialogue(opened(ANDROID, "chat.txt"), session="ann")
    assert list(said(named)) == ["whatsapp:ann 2024-05-14", "whatsapp:ann 2024-05-15"]


def test_whatsapp_of_ios_has_brackets_marks_and_thin_blanks() -> None:
    text = (
        "\u200e[5/13/24, 9:05:07\u202fPM] Ann: Hi\r\n"
        "\u200e[5/13/24, 9:06:00\u202fPM] Ann: \u200eimage omitted\r\n"
        "[5/14/24, 12:01:02\u202fAM] \u202aBob\u202c: Late\r\n"
    )
    conversation = read_one(text)
    chat = whatsapp_id(conversation)
    assert list(said(conversation)) == [f"{chat} 2024-05-13", f"{chat} 2024-05-14"]
    assert times(conversation) == [
        moment("2024-05-13T21:05:07"),
        moment("2024-05-13T21:06:00"),
        moment("2024-05-14T00:01:02"),
    ]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("13/05/2024, 10:00", "01/06/2024, 10:00", (2024, 5, 13)),  # there is no 13th month
        ("5/13/24, 10:00", "6/1/24, 10:00", (2024, 5, 13)),
        ("2024-05-13, 10:00", "2024-06-01, 10:00", (2024, 5, 13)),
        ("01/05/2024, 10:00", "02/04/2024, 10:00", (2024, 1, 5)),  # else time would run backwards
        ("05/01/2024, 10:00", "04/02/2024, 10:00", (2024, 1, 5)),
        ("01/05/2024, 10:00", "02/06/2024, 10:00", (2024, 5, 1)),  # either way: the day first …
        ("1/5/24, 10:00 AM", "2/6/24, 10:00 AM", (2024, 1, 5)),  # … or the month, where clocks say am
        ("01.05.24, 10:00", "02.06.24, 10:00", (2024, 5, 1)),
    ],
)
def test_the_file_says_which_number_is_the_day(
    first: str, second: str, expected: tuple[int, int, int]
) -> None:
    told = read_one(f"{first} - Ann: Hi\n{second} - Bob: Hello\n")
    (said_at, _) = times(told)
    assert said_at is not None
    assert (said_at.year, said_at.month, said_at.day) == expected


def test_a_chat_that_has_grown_brings_only_its_new_turns() -> None:
    grown = ANDROID + "15/05/2024, 08:05 - Ann: Morning\n"
    before, after = (
        {(s.session, turn.turn_id) for s in read_one(text).sessions for turn in s.turns}
        for text in (ANDROID, grown)
    )
    assert before < after
    assert len(after - before) == 1


def test_a_day_that_is_in_no_calendar_is_named_by_its_line() -> None:
    text = "30/01/2024, 10:00 - Ann: Hi\n30/02/2024, 10:00 - Ann: Hi\n"
    with pytest.raises(NotDialogue, match="line 2: not a date"):
        read_dialogue(opened(text, "chat.txt"), strict=True)


# Telegram, Discord, Slack


def test_a_telegram_chat() -> None:
    document = {
        "name": "Ann",
        "type": "personal_chat",
        "id": 9,
        "messages": [
            {"id": 1, "type": "message", "date": "2024-05-14T21:58:00", "from": "Ann", "text": "Hi"},
            {
                "id": 2,
                "type": "message",
                "date": "2024-05-14T21:59:00",
                "from": "Bob",
                "text": ["see ", {"type": "link", "text": "example.org"}],
            },
            {"id": 3, "date": "2024-05-15T08:00:00", "from": "Ann", "photo": "p.jpg", "text": ""},
            {"id": 4, "type": "service", "date": "2024-05-15T09:00:00", "actor": "Bob", "action": "call"},
            {"id": 5, "type": "message", "date": "2024-05-15T09:01:00", "from": None, "text": "bye"},
        ],
    }  # fmt: skip
    expected = {
        "telegram:9 2024-05-14": [("Ann", "Hi"), ("Bob", "see example.org")],
        "telegram:9 2024-05-15": [("Ann", "[photo]"), ("Bob", "[call]"), ("Deleted Account", "bye")],
    }
    assert said(read_one(json.dumps(document), "result.json")) == expected
    account = {"about": "…", "chats": {"list": [document, {"name": "Empty", "messages": []}]}}
    assert said(read_one(json.dumps(account), "result.json")) == expected


def test_a_discord_channel() -> None:
    document = {
        "guild": {"name": "Garden"},
        "channel": {"id": "77", "name": "roses"},
        "messages": [
            {
                "id": "9",
                "timestamp": "2024-05-14T21:58:00.5+00:00",
                "content": "Look",
                "author": {"name": "ann1", "nickname": "Ann", "isBot": False},
                "attachments": [{"fileName": "rose.png"}],
            }
        ],
    }
    conversation = read_one(json.dumps(document), "roses.json")
    assert said(conversation) == {"discord:77 2024-05-14": [("Ann", "Look\n[file: rose.png]")]}
    assert conversation.sessions[0].turns[0].turn_id == "9"


SLACK_DAY: list[dict[str, Any]] = [
    {"type": "message", "user": "U1", "text": "Ask <@U2> &amp; me", "ts": "1715724000.000100"},
    {
        "type": "message",
        "user": "U9",
        "text": "Hm",
        "ts": "1715724060.0",
        "user_profile": {"real_name": "Cy"},
    },
]


def test_a_day_of_slack_and_a_whole_archive() -> None:
    alone = read_one(json.dumps(SLACK_DAY), "2024-05-14.json")
    assert list(said(alone).values()) == [[("U1", "Ask @U2 & me"), ("Cy", "Hm")]]
    users = [{"id": "U1", "profile": {"display_name": "Ann"}}, {"id": "U2", "name": "bob", "profile": {}}]
    archive = zipped(
        {
            "users.json": json.dumps(users),
            "channels.json": json.dumps([{"id": "C1", "name": "general"}]),
            "general/2024-05-15.json": json.dumps([SLACK_DAY[0] | {"ts": "1715810400.0"}]),
            "general/2024-05-14.json": json.dumps(SLACK_DAY),
        }
    )
    assert said(read_one(archive, "slack.zip")) == {
        "slack:C1 2024-05-14": [("Ann", "Ask @bob & me"), ("Cy", "Hm")],
        "slack:C1 2024-05-15": [("Ann", "Ask @bob & me")],
    }


# ChatGPT, Claude, fine-tuning


def node(name: str, parent: str | None, role: str, words: str, *children: str) -> dict[str, Any]:
    message = {
        "id": name,
        "author": {"role": role},
        "create_time": 1715724000.0,
        "content": {"content_type": "text", "parts": [words]},
        "metadata": {},
    }
    return {"id": name, "parent": parent, "children": list(children), "message": message}


def test_chatgpt_is_read_as_it_is_shown() -> None:
    tree = {
        "root": {"id": "root", "parent": None, "children": ["s"], "message": None},
        "s": node("s", "root", "system", "", "a"),
        "a": node("a", "s", "user", "Where do roses grow?", "b", "c"),
        "b": node("b", "a", "assistant", "Nowhere."),
        "c": node("c", "a", "assistant", "In the sun."),
    }
    chat = {"title": "Roses", "id": "x1", "mapping": tree, "current_node": "c"}
    expected = {"chatgpt:x1": [("user", "Where do roses grow?"), ("assistant", "In the sun.")]}
    assert said(read_one(json.dumps([chat]), "conversations.json")) == expected
    archive = zipped({"conversations.json": json.dumps([chat]), "chat.html": "<p>", "user.json": "{}"})
    conversation = read_one(archive, "export.zip")
    assert said(conversation) == expected
    assert times(conversation)[0] == datetime(2024, 5, 14, 22, 0, tzinfo=UTC)


def test_a_tree_that_bites_its_tail_ends() -> None:
    tree = {"a": node("a", "b", "user", "1"), "b": node("b", "a", "user", "2")}
    chat = {"title": "t", "id": "x", "mapping": tree, "current_node": "a"}
    assert said(read_one(json.dumps([chat]), "c.json")) == {"chatgpt:x": [("user", "2"), ("user", "1")]}


def test_claude() -> None:
    chat = {
        "uuid": "u1",
        "name": "Roses",
        "chat_messages": [
            {
                "uuid": "m1",
                "sender": "human",
                "text": "See",
                "created_at": "2024-05-14T21:58:00Z",
                "attachments": [{"file_name": "a.txt", "extracted_content": "roses"}],
            },
            {"uuid": "m2", "sender": "assistant", "text": "", "content": [{"type": "text", "text": "Nice"}]},
        ],
    }
    assert said(read_one(json.dumps([chat]), "conversations.json")) == {
        "claude:u1": [("user", "See\n[file: a.txt]\nroses"), ("assistant", "Nice")]
    }


def test_lines_for_fine_tuning_are_a_session_each() -> None:
    chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    turns = [("user", "Hi"), ("assistant", "Hello")]
    assert said(read_one(f"{json.dumps(chat)}\n{json.dumps(chat)}\n", "train.jsonl")) == {
        "train-1": turns,
        "train-2": turns,
    }


# Tables, subtitles, Markdown


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_table(mark: str) -> None:
    rows = [
        ("Sent At", "From", "Body", "Channel"),
        ("2024-05-14 21:58", "Ann", '"Hi\nthere"', "a"),
        ("", "Bob", "Yo", ""),
    ]
    conversation = read_one("\n".join(mark.join(row) for row in rows) + "\n", "chat.csv")
    assert said(conversation) == {"a": [("Ann", "Hi\nthere")], "chat": [("Bob", "Yo")]}
    assert times(conversation) == [moment("2024-05-14T21:58:00"), None]


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("a,b\n1,2\n", "the columns must name a speaker and a text"),
        ("speaker,text\nAnn\n", "line 2: 1 cells in place of 2"),
        ('speaker,text\nAnn,"open\n', "not a table"),
        ("speaker,text\n,Hi\n", "no speaker"),
    ],
)
def test_a_table_that_is_no_dialogue_says_why(table: str, reason: str) -> None:
    with pytest.raises(NotDialogue, match=reason):
        read_one(table, "chat.csv")


def test_subtitles() -> None:
    vtt = (
        "WEBVTT - call\n\nNOTE made by hand\n\n"
        "1\n00:00:01.000 --> 00:00:02.000 align:start\n<v Ann>Hi <i>there</i>\n\n"
        "00:00:02.000 --> 00:00:03.000\nall of you\n\n00:03.000 --> 00:04.000\n<v Bob Marsh>Hello</v>\n"
    )
    assert said(read_one(vtt, "call.vtt")) == {
        "call": [("Ann", "Hi there\nall of you"), ("Bob Marsh", "Hello")]
    }
    srt = "1\n00:00:01,000 --> 00:00:02,000\nAnn: Hi\n\n2\n00:00:02,500 --> 00:00:03,000\nBob: Hello\n"
    assert said(read_one(srt, "call.srt")) == {"call": [("Ann", "Hi"), ("Bob", "Hello")]}
    with pytest.raises(NotDialogue, match="does not say who speaks"):
        read_one("WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n", "call.vtt")


def test_markdown_by_bold_names_and_by_headings() -> None:
    assert said(read_one("---\ntitle: t\ntags: [a: b]\n---\n**Ann:** Hi\n\n- one\n\n**Bob**: Yes\n")) == {
        "chat": [("Ann", "Hi\n\n- one"), ("Bob", "Yes")]
    }
    text = "# My chat\n\n## User\n\nMake a list\n\n## Assistant\n\n### Roses\n```\n## User\n```\ndone\n"
    assert said(read_one(text, "chat.md")) == {
        "chat": [("User", "Make a list"), ("Assistant", "### Roses\n```\n## User\n```\ndone")]
    }


def test_front_matter_is_no_dialogue_in_a_plain_transcript() -> None:
    assert said(read_one("---\ntitle: A call\ndate: 2024-05-08\n---\nAnn: Hi\n")) == {"chat": [("Ann", "Hi")]}


# What is none of these


def test_what_is_not_known_says_what_to_write_instead() -> None:
    with pytest.raises(NotDialogue, match='"speaker": "Ann", "text": "…", "timestamp"'):
        read_one("Just prose.\n")


def test_an_archive_without_one_chat_says_what_it_holds(tmp_path: Path) -> None:
    with pytest.raises(NotDialogue, match=r"2 files that may be dialogue \(a.txt, b.txt\)"):
        read_one(zipped({"a.txt": "Ann: Hi", "b.txt": "Bob: Hi"}), "a.zip")
    with pytest.raises(NotDialogue, match="zip archive cannot be read"):
        read_one(zipped({"a.txt": "Ann: Hi"})[:-30], "a.zip")
    assert said(read_one(zipped({"_chat.txt": ANDROID, "p.jpg": "…"}), "a.zip")) == said(read_one(ANDROID))


_LINES = (
    ANDROID + "**Ann:** Hi\n## User\nWEBVTT\n00:01 --> 00:02\nAnn: x\nspeaker,text\n---\n[1/2/24, 9:00 AM] "
).split("\n")
_KEYS = (
    "messages chats list name from actor date type text id author content attachments ts user channel "
    "mapping message parent children current_node parts chat_messages sender metadata files"
)
_JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS.split()), inner, max_size=6)
    ),
    max_leaves=25,
)


@given(
    st.lists(st.sampled_from(_LINES) | st.text(max_size=8), max_size=8).map("\n".join)
    | _JSON.map(json.dumps),
    st.sampled_from(["a.txt", "a.csv", "a.json", "a.jsonl", "a.vtt", "a.md"]),
    st.sampled_from(["auto", *(reader.name for reader in READERS)]),
)
def test_anything_is_dialogue_or_refused(text: str, name: str, form: Any) -> None:
    stream = io.BytesIO(text.encode())
    stream.name = name
    try:
        conversations = read_dialogue(stream, form)
    except NotDialogue:
        return
    assert all(turn.turn_id for one in conversations for session in one.sessions for turn in session.turns)


# What only looks like one of these


def test_bold_words_in_the_turns_of_a_plain_transcript_are_words() -> None:
    text = "User: How?\nAssistant: Two steps.\n**Step 1:** run it\n**Step 2:** open it\nUser: thanks\n"
    assert said(read_one(text)) == {
        "chat": [
            ("User", "How?"),
            ("Assistant", "Two steps.\n**Step 1:** run it\n**Step 2:** open it"),
            ("User", "thanks"),
        ]
    }
    answer = "So:\n```pip install x```\n**Step 1:** run\n**Note:** fine"
    headed = f"## User\nhow?\n## Assistant\n{answer}\n## User\nok\n"
    assert said(read_one(headed)) == {
        "chat": [
            ("User", "how?"),
            ("Assistant", answer),
            ("User", "ok"),
        ]
    }
    dated = "Date: 8 May 2024\n\n**Ann:** Hi\n**Bob:** Hello\n"
    assert said(read_one(dated)) == {"chat": [("Ann", "Hi"), ("Bob", "Hello")]}


@pytest.mark.parametrize(
    "above",
    [
        "---\ntitle: Our chat\nparticipants:\n  - Ann\n  - Bob\n---\n",
        "---\r\ntitle: Our chat\r\n---\r\n",
        "\ufeff---\ntitle: Our chat\n---\n",
        "\n\n---\ntitle: Our chat\n---\n",
        "---\nTitle: Our chat\nDate: 2024-05-08\nTags: [a, b]\n---\n",
        "---\n\"title\": Our chat\n'who': two\n---\n",
        "---\nabout: >\n  Long words: and more\n# a remark\nmadeAt: 2024\n...\n",
    ],
)
def test_front_matter_is_nobody_speaking_however_it_is_written(tmp_path: Path, above: str) -> None:
    file = tmp_path / "chat.txt"
    file.write_bytes(f"{above}Ann: Hi\nBob: title: none\n---\n".encode())
    (conversation,) = read_dialogue(file)
    (session,) = conversation.sessions
    assert [(turn.speaker, turn.text) for turn in session.turns] == [
        ("Ann", "Hi"),
        ("Bob", "title: none\n---"),
    ]


def test_front_matter_alone_holds_no_turn(tmp_path: Path) -> None:
    file = tmp_path / "chat.md"
    file.write_text("---\ntitle: Our chat\n---\n")
    with pytest.raises(NotDialogue, match="it holds no turn"):
        read_dialogue(file)


def test_lines_between_rules_in_which_somebody_speaks_are_no_front_matter() -> None:
    with pytest.raises(NotDialogue, match="line 1"):
        read_dialogue(opened("---\nAnn: hi\n---\nBob: yo\n", "chat.txt"), strict=True)


def test_brackets_with_the_year_first_are_of_a_plain_transcript_and_of_ios_without_a_comma() -> None:
    plain = "[2024-05-08, 13:56] Ann: hi\n\n# Session 2, 9 May 2024\nBob: hello\n"
    assert list(said(read_one(plain))) == ["chat", "chat-2"]
    ios = read_one("[08/05/2024 13:56:12] Ann: oi\n")
    assert said(ios) == {f"{whatsapp_id(ios)} 2024-05-08": [("Ann", "oi")]}


def test_a_twelve_hour_clock_with_padded_numbers_has_the_day_first() -> None:
    told = read_one("08/05/24, 1:56 pm - Ann: hi\n09/05/24, 1:57 pm - Bob: hi\n")
    assert times(told)[0] == moment("2024-05-08T13:56:00")


def test_what_the_app_tells_with_a_colon_in_quotes_is_told_by_the_app() -> None:
    (line,) = said(read_one('14/05/2024, 21:58 - Ann changed the name to "Trip: Rome"\n')).values()
    assert line == [("WhatsApp", 'Ann changed the name to "Trip: Rome"')]


def test_chats_of_an_account_that_share_a_name_are_told_apart() -> None:
    chat = {"name": None, "messages": [{"id": 1, "date": "2024-05-08T10:30:00", "from": "C", "text": "z"}]}
    account = {
        "chats": {"list": [chat | {"id": 2}, chat | {"id": 3}]},
        "left_chats": {"list": [chat | {"id": 4}]},
    }
    assert list(said(read_one(json.dumps(account), "result.json"))) == [
        f"telegram:{number} 2024-05-08" for number in (2, 3, 4)
    ]


def test_spoken_words_of_a_chat_are_words() -> None:
    spoken = node("a", None, "user", "")
    spoken["message"]["content"]["parts"] = [{"content_type": "audio_transcription", "text": "On Friday"}]
    spoken["message"]["metadata"] = []
    chat = {"title": "t", "id": "x", "mapping": {"a": spoken}}
    assert said(read_one(json.dumps(chat), "c.json")) == {"chatgpt:x": [("user", "On Friday")]}


def test_a_damaged_archive_and_what_a_mac_puts_into_one() -> None:
    packed = bytearray(zipped({"_chat.txt": ANDROID * 50}))
    packed[60:70] = b"0123456789"
    with pytest.raises(NotDialogue, match="cannot be read"):
        read_one(bytes(packed), "a.zip")
    assert read_one(zipped({"_chat.txt": ANDROID, "__MACOSX/._chat.txt": "\0"}), "a.zip").turns == 4


def test_subtitles_with_sentences_that_hold_colons_signs_and_two_voices() -> None:
    vtt = (
        "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>One\nThe way I like: call him &amp; ask</v>\n\n"
        "00:03.000 --> 00:04.000\n<v Ann>if a < 3 and b > 1</v> <v Bob>No, thanks</v>\n"
    )
    assert said(read_one(vtt, "call.vtt")) == {
        "call": [("Ann", "One\nThe way I like: call him & ask\nif a < 3 and b > 1"), ("Bob", "No, thanks")]
    }


def test_one_chat_on_one_line_and_one_example_in_a_file_of_lines() -> None:
    tree = {"a": node("a", None, "user", "Hi")}
    assert said(read_one(json.dumps({"title": "t", "id": "x", "mapping": tree}))) == {
        "chatgpt:x": [("user", "Hi")]
    }
    example = {"messages": [{"role": "user", "content": "Hi"}]}
    assert said(read_one(json.dumps(example) + "\n", "train.jsonl")) == {"train-1": [("user", "Hi")]}
    plain = {"channel": {"id": "7"}, "messages": [{"role": "user", "content": "hi"}]}
    assert said(read_one(json.dumps(plain), "c.json")) == {"c": [("user", "hi")]}


def test_what_bots_attach_is_kept() -> None:
    bot = {"type": "message", "ts": "1715724000.0", "text": "", "attachments": [{"text": "Build failed"}]}
    assert list(said(read_one(json.dumps([bot]), "d.json")).values()) == [[("bot", "Build failed")]]


def test_a_table_with_date_and_time_apart_and_a_row_without_words() -> None:
    table = "Date,Time,Author,Content\n2024-05-14,21:58,Ann,Hi\n2024-05-14,21:59,Ann,\n"
    conversation = read_one(table, "chat.csv")
    assert said(conversation) == {"chat": [("Ann", "Hi")]}
    assert times(conversation) == [moment("2024-05-14T21:58:00")]

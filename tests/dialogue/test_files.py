"""Files and streams of dialogue: formats, identity, and what is refused."""

import gzip
import hashlib
import io
import json
import lzma
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import MemoryLog, SessionId, SpaceId
from tiermem.dialogue import Conversation, read_dialogue
from tiermem.errors import InvalidInput, NotDialogue

MOMENT = "2023-05-08T13:56:00"


def read_one(text: str, name: str = "chat.txt", **options: Any) -> Conversation:
    stream = io.BytesIO(text.encode("utf-8", "surrogatepass"))
    stream.name = name
    (conversation,) = read_dialogue(stream, **options)
    return conversation


def lines(*turns: dict[str, Any]) -> str:
    return "\n".join(json.dumps(turn) for turn in turns) + "\n"


def refusal(text: str | bytes, name: str = "chat.txt", **options: Any) -> str:
    stream = io.BytesIO(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    stream.name = name
    with pytest.raises(NotDialogue) as raised:
        read_dialogue(stream, strict=True, **options)
    assert repr(name) in str(raised.value)
    return str(raised.value)


def said(conversation: Conversation) -> dict[str, list[tuple[str, str]]]:
    return {
        session.session: [(turn.speaker, turn.text) for turn in session.turns]
        for session in conversation.sessions
    }


# JSON lines


def test_json_lines_are_grouped_by_session_in_the_order_they_first_speak() -> None:
    conversation = read_one(
        lines(
            {"speaker": "Ann", "text": "1", "session": "b"},
            {"role": "user", "content": "2"},
            {"name": "Bob", "message": "3", "session": "b"},
        ),
        "log.jsonl",
    )
    assert conversation.space_hint is None
    assert said(conversation) == {"b": [("Ann", "1"), ("Bob", "3")], "log": [("user", "2")]}


def test_an_array_of_messages_reads_like_the_same_lines() -> None:
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    expected = read_one(lines(*turns), "chat.json")
    assert read_one(json.dumps(turns, indent=2), "chat.json") == expected
    assert read_one(json.dumps({"messages": turns}), "chat.json") == expected


def test_turns_without_an_id_get_the_same_one_each_time_they_are_read() -> None:
    text = lines({"speaker": "Ann", "text": "Ok"}, {"speaker": "Ann", "text": "Ok"})
    first, again = (read_one(text).sessions[0].turns for _ in range(2))
    assert first == again
    assert len({turn.turn_id for turn in first}) == 2


def test_a_file_that_has_grown_keeps_the_ids_of_what_was_there() -> None:
    old = lines({"speaker": "Ann", "text": "1"}, {"speaker": "Bob", "text": "2"})
    grown = read_one(old + lines({"speaker": "Ann", "text": "3"})).sessions[0].turns
    assert grown[:2] == read_one(old).sessions[0].turns


def test_the_same_words_again_are_another_turn_by_their_place_and_by_their_session() -> None:
    yes = {"speaker": "Ann", "text": "Yes."}
    (session,) = read_one(lines(yes, yes)).sessions
    log = MemoryLog(SpaceId("space"))
    for name in ("one", "two", "one"):
        log.append(SessionId(name), session.turns)
    assert [len(log.page(page_id).lines) for page_id in log.seal()] == [2, 2]


def test_ids_are_of_the_place_and_hold_nothing_of_the_words() -> None:
    one, other = (
        read_one(lines({"speaker": who, "text": words}, {"speaker": who, "text": words, "timestamp": MOMENT}))
        for who, words in (("Ann", "My code is 7731."), ("Bob", "Hello"))
    )
    ids = [turn.turn_id for turn in one.sessions[0].turns]
    assert ids == ["@1", f"@1 {MOMENT} {hashlib.sha256(b'Ann').hexdigest()[:12]}"]
    theirs = [turn.turn_id for turn in other.sessions[0].turns]
    assert theirs == ["@1", f"@1 {MOMENT} {hashlib.sha256(b'Bob').hexdigest()[:12]}"]


def test_an_id_of_the_file_is_kept() -> None:
    (session,) = read_one(lines({"speaker": "Ann", "text": "1", "id": "m-1"})).sessions
    assert session.turns[0].turn_id == "m-1"


def test_one_id_with_two_wordings_is_refused_with_both_lines() -> None:
    text = lines({"speaker": "Ann", "text": "1", "id": 5}, {"speaker": "Ann", "text": "2", "id": 5})
    assert "line 2: turn id '5' is already on line 1 with other words" in refusal(text, "log.jsonl")
    assert len(read_one(lines(*[{"speaker": "Ann", "text": "1", "id": 5}] * 2)).sessions[0].turns) == 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"speaker": "Ann", "text": "half', "line 2: not JSON: Unterminated string"),
        ('["Ann", "Hi"]', "line 2: list in place of a message"),
        ("null", "line 2: NoneType in place of a message"),
        ('{"text": "Hi"}', "line 2: no speaker"),
        ('{"speaker": "Ann"}', "line 2: no words"),
        ('{"speaker": "Ann", "text": "Hi", "time": "noonish"}', "line 2: 'noonish' is not a timestamp"),
        ('{"speaker": "Ann", "text": "Hi", "session": ["a"]}', "line 2: session must be"),
        ('{"speaker": "Ann", "text": "Hi", "n": ' + "9" * 5000 + "}", "line 2: JSON that cannot be read"),
        ("[" * 100_000, "line 2: JSON that cannot be read"),
    ],
)
def test_a_bad_line_is_named_and_nothing_of_the_file_comes_through(line: str, reason: str) -> None:
    text = lines({"speaker": "Ann", "text": "Hi"}) + line + "\n"
    assert reason in refusal(text, "log.jsonl")


def test_the_first_line_of_a_jsonl_file_is_named_too() -> None:
    assert "line 1: not JSON" in refusal("Ann: hello\n", "log.jsonl")


@given(
    st.lists(
        st.tuples(
            st.text(min_size=1).filter(str.strip), st.text(alphabet=st.characters(exclude_categories=()))
        ),
        min_size=1,
    )
)
def test_any_words_survive_json_lines(told: list[tuple[str, str]]) -> None:
    text = "".join(json.dumps({"speaker": who, "text": words}) + "\n" for who, words in told)
    assert said(read_one(text, "log.jsonl")) == {"log": told}


def test_raw_control_characters_lone_surrogates_and_a_megabyte_survive() -> None:
    words = "nul \x00, lone \ud800, separator \u2028, " + "x" * 1_000_000
    raw = '{"speaker": "Ann", "text": "' + words + '"}\n'
    assert said(read_one(raw, "log.jsonl")) == {"log": [("Ann", words)]}


# Sources


def test_compressed_files_and_byte_order_marks_are_read_as_they_are(tmp_path: Path) -> None:
    text = b"Ann: Hi\n"
    for name, data in (
        ("a.txt", text),
        ("a.txt.gz", gzip.compress(text)),
        ("a.txt.xz", lzma.compress(text)),
        ("a.md", b"\xef\xbb\xbf" + text),
    ):
        (tmp_path / name).write_bytes(data)
        (conversation,) = read_dialogue(tmp_path / name)
        assert said(conversation) == {"a": [("Ann", "Hi")]}


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(b"Ann: Hi\n" * 100)
    assert "damaged" in refusal(packed[:-12], "a.txt.gz")
    assert "damaged" in refusal(lzma.compress(b"Ann: Hi\n" * 100)[:-12], "a.txt.xz")


def test_a_dash_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Ann: Hi\n")))
    (conversation,) = read_dialogue("-")
    assert said(conversation) == {"stdin": [("Ann", "Hi")]}


def test_a_text_stream_and_a_session_of_ones_own() -> None:
    (conversation,) = read_dialogue(io.StringIO("Ann: lone \ud800"), session="call")
    assert said(conversation) == {"call": [("Ann", "lone \ud800")]}


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No such file"):
        read_dialogue(tmp_path / "absent.txt")
    with pytest.raises(InvalidInput, match="directory"):
        read_dialogue(tmp_path)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it holds no turn"),
        (b" \n\n \n", "it holds no turn"),
        (b"[]", "it holds no turn"),
        (b"Ann: caf\xe9\n", "line 1: not UTF-8 text (byte 0xe9)"),
        (b"Ann: Hi\nBob: \xff\xfe\n", "line 2: not UTF-8 text"),
        (b"\x89PNG\r\n\x1a\n", "line 1: not UTF-8 text"),
        (b'[{"conversation": ', "not JSON"),
        (b'{"a": {\n "b": 1}}', "neither a list of turns nor has 'messages'"),
        (b"Just some prose without anybody speaking.\n", "line 1: no 'Name: text' here"),
    ],
)
def test_what_is_not_dialogue_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    assert reason in refusal(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_dialogue_or_refused(data: bytes) -> None:
    try:
        conversations = read_dialogue(io.BytesIO(data))
    except NotDialogue:
        return
    assert all(turn.turn_id for one in conversations for session in one.sessions for turn in session.turns)


_KEYS = [
    *(
        "conversation",
        "sample_id",
        "session_1",
        "session_1_date_time",
        "qa",
        "question",
        "category",
        "evidence",
    ),
    *("haystack_sessions", "haystack_dates", "haystack_session_ids", "answer_session_ids", "question_id"),
    *("messages", "role", "content", "speaker", "text", "dia_id", "tool_calls", "session", "id"),
]
_json = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.just("2023-01-01"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=6),
    max_leaves=25,
)
_locomo = st.fixed_dictionaries(
    {
        "sample_id": st.just("c"),
        "conversation": st.dictionaries(st.sampled_from(_KEYS), _json, max_size=3),
        "qa": st.lists(st.dictionaries(st.sampled_from(_KEYS), _json), max_size=2) | _json,
    }
)
_longmemeval = st.fixed_dictionaries(
    {"question_id": st.just("q"), "haystack_sessions": st.lists(_json, max_size=3)},
    optional={key: _json for key in _KEYS if key.startswith(("haystack_d", "haystack_session_", "answer"))},
)


@given(_json | _locomo | _longmemeval, st.sampled_from(["auto", "turns", "locomo", "longmemeval"]))
def test_any_json_is_dialogue_or_refused(value: Any, form: Any) -> None:
    stream = io.StringIO(json.dumps(value))
    try:
        conversations = read_dialogue(stream, format=form)
    except NotDialogue:
        return
    assert all(turn.turn_id for one in conversations for session in one.sessions for turn in session.turns)

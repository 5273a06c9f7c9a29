"""Turns out of whatever a caller holds."""

from datetime import datetime
from typing import Any

import pytest

from pagestore import Turn
from tiermem.dialogue import as_turns
from tiermem.errors import InvalidInput

at = datetime.fromisoformat

NOON = at("2024-05-08T12:00")


def test_words_are_the_users_unless_a_speaker_is_named() -> None:
    assert as_turns("Hello") == (Turn(speaker="user", text="Hello"),)
    assert as_turns("Hello", role="assistant") == (Turn(speaker="assistant", role="assistant", text="Hello"),)
    assert as_turns({"name": "Ann", "role": "user", "text": "Hi"}, role="tool")[0].role == "user"
    assert as_turns("Hello", speaker="Ann", said_at=NOON) == (
        Turn(speaker="Ann", text="Hello", said_at=NOON),
    )


def test_a_turn_stays_as_it_is() -> None:
    turn = Turn(speaker="Ann", text="Hello", said_at=NOON, turn_id="7")
    assert as_turns(turn, speaker="Bob", said_at="2030-01-01") == (turn,)


def test_a_moment_given_beside_fills_in_only_where_none_is_told() -> None:
    turns = as_turns(["a", Turn(speaker="Ann", text="b", said_at=NOON)], said_at="2024-05-09T08:00")
    assert [turn.said_at for turn in turns] == [at("2024-05-09T08:00"), NOON]


def test_now_dates_what_is_said_live_but_no_turn_of_a_file() -> None:
    live, message, filed = as_turns(
        ["a", {"role": "user", "content": "b"}, Turn(speaker="Ann", text="c")], now=NOON
    )
    assert [turn.said_at for turn in (live, message, filed)] == [NOON, NOON, None]


def test_chat_messages_keep_their_role_and_prefer_a_name_as_speaker() -> None:
    turns = as_turns(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "name": "Ann", "content": "Hi"},
            {"role": "assistant", "content": "Hello Ann"},
        ]
    )
    assert [(turn.speaker, turn.role, turn.text) for turn in turns] == [
        ("system", "system", "Be brief."),
        ("Ann", "user", "Hi"),
        ("assistant", "assistant", "Hello Ann"),
    ]


def test_content_in_parts_is_joined_and_what_is_not_words_is_marked() -> None:
    parts: list[Any] = [
        {"type": "text", "text": "Look at this:"},
        {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}},
        "nice?",
    ]
    assert as_turns({"role": "user", "content": parts})[0].text == (
        'Look at this:\n[image_url: {"image_url": {"url": "https://example.org/x.png"}}]\nnice?'
    )


def test_tool_calls_and_their_results_are_turns() -> None:
    call = {"id": "c1", "function": {"name": "book_table", "arguments": '{"at": "19:00"}'}}
    called, result = as_turns(
        [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "booked"},
        ]
    )
    assert called.text == '[calls book_table({"at": "19:00"})]'
    assert (result.speaker, result.role, result.text) == ("tool", "tool", "booked")


def test_a_generator_of_mixed_things_is_read_once_in_order() -> None:
    given = (item for item in ("one", Turn(speaker="Ann", text="two"), {"speaker": "Bob", "text": "three"}))
    assert [turn.text for turn in as_turns(given)] == ["one", "two", "three"]


def test_a_message_keeps_its_id_and_moment() -> None:
    message = {"role": "user", "content": "Hi", "timestamp": "2024-05-08T12:00", "id": 17}
    assert as_turns(message) == (Turn(speaker="user", role="user", text="Hi", said_at=NOON, turn_id="17"),)


def test_a_nameless_message_takes_the_speaker_given_beside() -> None:
    assert as_turns({"text": "Hi"}, speaker="Ann")[0].speaker == "Ann"
    assert as_turns({"text": "Hi", "role": "user"}, speaker="Ann")[0].speaker == "user"


@pytest.mark.parametrize("text", ["", "\x00", "\ud800 alone", "x" * 1_000_000, "line\u2028line"])
def test_odd_words_survive_unchanged(text: str) -> None:
    assert as_turns(text)[0].text == text
    assert as_turns({"role": "user", "content": text})[0].text == text


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (None, "cannot make turns of NoneType"),
        (7, "cannot make turns of int"),
        (b"bytes", "cannot make turns of bytes"),
        (["a", None], "turn 2 is NoneType"),
        (["a", ["b"]], "turn 2 is list"),
        ({"role": "user"}, "the turn: no words"),
        ({"content": "Hi"}, "the turn: no speaker"),
        ({"role": "", "content": "Hi"}, "the turn: no speaker"),
        ({"role": 7, "content": "Hi"}, "the turn: no speaker"),
        ({"role": "user", "content": 7}, "the words must be a text"),
        ({"role": "user", "content": [7]}, "a part of the content is int"),
        ({"role": "user", "content": "Hi", "date": "tomorrow"}, "'tomorrow' is not a timestamp"),
        ({"role": "user", "content": "Hi", "id": 1.5}, "id must be a text or a whole number"),
        ({"role": "assistant", "tool_calls": [{"id": "c1"}]}, "a tool call has no function name"),
        ({"role": "assistant", "tool_calls": 3}, "tool_calls must be a list"),
    ],
)
def test_what_cannot_be_a_turn_is_named(given: Any, reason: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        as_turns(given)
    assert reason in str(raised.value)


def test_a_malformed_moment_beside_the_turns_is_named() -> None:
    with pytest.raises(InvalidInput, match="said_at: 'soon' is not a timestamp"):
        as_turns("Hi", said_at="soon")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "id": "t1", "name": "find", "input": {"city": "Rome"}},
                ],
            },
            'Let me look.\n[calls find({"city": "Rome"})]',
        ),
        (
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "content": [{"type": "text", "text": "3 hotels"}]}
                ],
            },
            "[result: 3 hotels]",
        ),
        (
            {"role": "user", "content": [{"type": "tool_result", "content": "no city", "is_error": True}]},
            "[error: no city]",
        ),
        (
            {"role": "assistant", "function_call": {"name": "find", "arguments": '{"n": 1}'}},
            '[calls find({"n": 1})]',
        ),
        (
            {"role": "model", "parts": [{"text": "So"}, {"functionCall": {"name": "f", "args": {"n": 1}}}]},
            'So\n[calls f({"n": 1})]',
        ),
        (
            {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {"found": 3}}}]},
            '[result: {"found": 3}]',
        ),
        (
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "Rome, then"}]},
            "",
        ),
        (
            {"role": "user", "content": [{"type": "image", "source": {"kind": "b64", "data": "A" * 5_000}}]},
            '[image: {"source": {"kind": "b64", "data": "5,000 characters of data"}}]',
        ),
    ],
)  # fmt: skip
def test_what_the_vendors_send_is_kept_in_full(message: dict[str, Any], words: str) -> None:
    assert as_turns(message)[0].text == words


def test_objects_of_the_vendors_packages_are_taken_as_they_are() -> None:
    from openai.types.chat import ChatCompletionMessage

    message = ChatCompletionMessage.model_validate(
        {
            "role": "assistant",
            "content": "Booked.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "book", "arguments": '{"at": "19:00"}'}}
            ],
        }
    )
    for given in (message, [message]):
        (turn,) = as_turns(given)
        assert (turn.speaker, turn.text) == ("assistant", 'Booked.\n[calls book({"at": "19:00"})]')


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            {"role": "user", "parts": [{"inline_data": {"mime": "image/png", "data": b"\x89" * 4_000}}]},
            '[part: {"inline_data": {"mime": "image/png", "data": "4,000 bytes of data"}}]',
        ),
        (
            {
                "role": "assistant",
                "tool_calls": [{"type": "custom", "custom": {"name": "sql", "input": "s"}}],
            },
            "[calls sql(s)]",
        ),
        ({"role": "assistant", "content": None, "refusal": "I cannot help"}, "I cannot help"),
    ],
)
def test_odd_messages_of_the_vendors_are_turns_too(message: dict[str, Any], words: str) -> None:
    assert as_turns(message)[0].text == words


@pytest.mark.parametrize(
    "given",
    [
        [{"name": "Ann", "text": "Hi"}, {"name": "A" * 201, "text": "Hi"}],
        [Turn(speaker="Ann", text="Hi"), Turn(speaker="A" * 201, text="Hi")],
    ],
)
def test_a_name_of_a_speaker_is_limited(given: list[Any]) -> None:
    with pytest.raises(InvalidInput, match="turn 2: speaker must be at most 200 characters long, not 201"):
        as_turns(given)
    assert as_turns("Hi", speaker="A" * 200)[0].speaker == "A" * 200
    with pytest.raises(InvalidInput, match="the turn: speaker must be at most 200"):
        as_turns("Hi", speaker="A" * 201)

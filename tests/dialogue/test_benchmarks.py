"""LoCoMo and LongMemEval, by small hand-made files and by the real ones."""

import copy
import io
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.dialogue.test_files import refusal, said
from tiermem.dialogue import read_dialogue
from tiermem.dialogue.locomo import parse_locomo
from tiermem.dialogue.longmemeval import parse_longmemeval

at = datetime.fromisoformat

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bob",
            "session_2_date_time": "9:00 am on 9 May, 2023",
            "session_2": [{"speaker": "Bob", "dia_id": "D2:1", "text": "Later"}],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a photo of a cat"},
                {"speaker": "Bob", "dia_id": "D1:2", "blip_caption": "a dog", "img_url": ["u"]},
            ],
            "session_3_date_time": "9:00 am on 10 May, 2023",
        },
        "qa": [
            {"question": "When?", "answer": 2022, "evidence": ["D1:1; D2:1", "D", "D1:1"], "category": 2},
            {"question": "Why?", "adversarial_answer": "cats", "evidence": [], "category": 5},
        ],
    }
]

LONGMEMEVAL: list[dict[str, Any]] = [
    {
        "question_id": "q1_abs",
        "question_type": "multi-session",
        "question": "How many?",
        "answer": 3,
        "question_date": "2023/05/30 (Tue) 10:00",
        "haystack_dates": ["2023/05/28 (Sun) 21:04", "2023/05/20 (Sat) 02:21", "2023/05/28 (Sun) 21:04"],
        "haystack_session_ids": ["answer_1c6b85ea_1", "ultrachat_7", "answer_1c6b85ea_1"],
        "answer_session_ids": ["answer_1c6b85ea_1"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "three", "has_answer": True},
                {"role": "assistant", "content": "ok"},
            ],
            [],
            [{"role": "user", "content": "again"}],
        ],
    }
]


def _file(document: object, name: str) -> io.StringIO:
    stream = io.StringIO(json.dumps(document))
    stream.name = name
    return stream


def test_a_locomo_conversation_asks_for_its_own_space_and_keeps_dia_ids() -> None:
    (conversation,) = read_dialogue(_file(LOCOMO, "locomo.json"))
    assert conversation.space_hint == "conv-1"
    assert [session.session for session in conversation.sessions] == ["session_1", "session_2"]
    first = conversation.sessions[0].turns[0]
    assert (first.turn_id, first.said_at) == ("D1:1", at("2023-05-08T13:56"))


def test_a_photo_is_told_by_its_caption_after_the_words() -> None:
    (conversation,) = read_dialogue(_file(LOCOMO, "locomo.json"))
    assert said(conversation)["session_1"] == [
        ("Ann", "Look! [shares a photo: a photo of a cat]"),
        ("Bob", "[shares a photo: a dog]"),
    ]


def test_longmemeval_never_lets_an_answer_id_near_the_dialogue() -> None:
    (conversation,) = read_dialogue(_file(LONGMEMEVAL, "lme.json"))
    assert conversation.space_hint == "q1_abs"
    assert "answer" not in repr(conversation)
    assert said(conversation) == {
        "session-001": [("user", "three"), ("assistant", "ok")],
        "session-003": [("user", "again")],
    }


def test_longmemeval_dates_every_session_and_keeps_those_that_share_an_id() -> None:
    (haystack,) = parse_longmemeval(LONGMEMEVAL)
    assert [session.said_at for session in haystack.sessions] == [
        at("2023-05-28T21:04"),
        at("2023-05-20T02:21"),
        at("2023-05-28T21:04"),
    ]
    assert [len(session.dialogue.turns) for session in haystack.sessions] == [2, 0, 1]
    assert haystack.sessions[0].dialogue.turns[1].said_at == at("2023-05-28T21:04")


def _broken(document: list[dict[str, Any]], *path: Any, value: Any) -> str:
    changed = copy.deepcopy(document)
    at: Any = changed
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return json.dumps(changed)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            _broken(LOCOMO, 0, "conversation", "session_1", 1, "speaker", value=None),
            "conv-1, session_1, turn 2: no speaker",
        ),
        (
            _broken(LOCOMO, 0, "conversation", "session_1_date_time", value="x"),
            "conv-1, session_1: 'x' is not a",
        ),
        (
            _broken(LOCOMO, 0, "conversation", "session_1", value="text"),
            "conv-1, session_1: not a list of turns",
        ),
        (_broken(LOCOMO, 0, "sample_id", value=None), "sample 1: no 'sample_id'"),
        (_broken(LONGMEMEVAL, 0, "haystack_dates", value=["2023-01-01"]), "q1_abs: 3 sessions and 1 dates"),
        (
            _broken(LONGMEMEVAL, 0, "haystack_sessions", 2, 0, "content", value=None),
            "q1_abs, session 3, turn 1: no words",
        ),
        (_broken(LONGMEMEVAL, 0, "haystack_dates", 1, value="soon"), "q1_abs, session 2: 'soon' is not a"),
    ],
)
def test_a_flaw_is_named_down_to_the_turn(text: str, reason: str) -> None:
    assert reason in refusal(text, "bench.json")


def test_the_real_locomo_reads_in_full(shared: Path) -> None:
    conversations = read_dialogue(shared / "data/locomo/locomo_dev7.json")
    assert [conversation.space_hint for conversation in conversations] == [
        f"conv-{n}" for n in (26, 30, 41, 42, 43, 47, 50)
    ]
    assert sum(conversation.turns for conversation in conversations) == 4017
    assert sum(len(conversation.sessions) for conversation in conversations) == 189
    turns = [turn for one in conversations for session in one.sessions for turn in session.turns]
    assert sum("[shares a photo: " in turn.text for turn in turns) == 836
    assert all(turn.said_at for turn in turns)


def test_the_real_longmemeval_reads_in_full(shared: Path) -> None:
    conversations = read_dialogue(shared / "data/longmemeval/longmemeval_oracle_dev100.json.xz")
    assert len(conversations) == 100
    assert sum(conversation.turns for conversation in conversations) == 2146
    assert not any("answer_" in session.session for one in conversations for session in one.sessions)


def test_sessions_of_locomo_are_in_the_order_of_their_numbers() -> None:
    conversation: dict[str, Any] = {}
    for number in (10, 2, 1, 11):
        conversation[f"session_{number}_date_time"] = f"1:56 pm on {number} May, 2023"
        conversation[f"session_{number}"] = [{"speaker": "Ann", "dia_id": f"D{number}:1", "text": "Hi"}]
    (sample,) = parse_locomo([{"sample_id": "c", "conversation": conversation}])
    assert [one.session for one in sample.sessions] == ["session_1", "session_2", "session_10", "session_11"]

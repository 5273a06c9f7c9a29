"""Reading LoCoMo and LongMemEval: nothing lost, every flaw counted, no name given away."""

import dataclasses
import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from eval.datasets import LoCoMo, LongMemEval
from eval.datasets.longmemeval import AFTER
from eval.types import Case, Dataset, Passage
from pagestore.values import SessionId
from tiermem.dialogue import Conversation, read_dialogue
from tiermem.errors import InvalidInput


def locomo(evidence: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "sample_id": "conv-1",
            "conversation": {
                "speaker_a": "Ann",
                "speaker_b": "Bo",
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [
                    {
                        "speaker": "Ann",
                        "dia_id": "D1:1",
                        "text": "Look!",
                        "blip_caption": "a red boat",
                        "query": "boat",
                    },
                    {"speaker": "Bo", "dia_id": "D1:2", "text": "Nice."},
                ],
                "session_2_date_time": "9:01 am on 1 June, 2023",
                "session_2": [],
                "session_3_date_time": "12:30 am on 2 June, 2023",
                "session_3": [
                    {"speaker": "Ann", "dia_id": "D3:1", "text": "", "blip_caption": "a blue boat"}
                ],
            },
            "qa": [
                {"question": "Which boat?", "answer": 2022, "evidence": evidence, "category": 1},
                {"question": "Whose?", "adversarial_answer": "Bo's", "evidence": ["D1:2"], "category": 5},
            ],
        }
    ]


def lme() -> dict[str, Any]:
    return {
        "question_id": "q1_abs",
        "question_type": "multi-session",
        "question": "How many?",
        "question_date": "2023/05/24 (Wed) 08:02",
        "answer": 3,
        "answer_session_ids": ["answer_1"],
        "haystack_dates": ["2023/05/25 (Thu) 10:05", "2023/05/20 (Sat) 06:43"],
        "haystack_session_ids": ["answer_1", "noise"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "One.", "has_answer": True},
                {"role": "assistant", "content": "Ok."},
            ],
            [{"role": "user", "content": "Hello."}],
        ],
    }


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("evidence", "found", "defects"),
    [
        (["D1:1", "D3:1"], 2, {}),
        (["D1:1; D3:1"], 2, {"malformed evidence": 1}),
        (["D:3:1"], 1, {"malformed evidence": 1}),
        (["D1:01"], 1, {"malformed evidence": 1}),
        (["D"], 0, {"unreadable evidence": 1}),
        (["D9:9"], 0, {"evidence not in the conversation": 1}),
        (["D1:1", "D1:1"], 1, {"evidence named twice": 1}),
        ([], 0, {"no evidence": 1}),
    ],
)
def test_evidence_is_read_tolerantly_and_every_flaw_counted(
    tmp_path: Path, evidence: list[str], found: int, defects: dict[str, int]
) -> None:
    data = LoCoMo(write(tmp_path / "l.json", locomo(evidence)))
    case = next(data.cases())
    assert len(case.questions[0].evidence) == found
    assert data.defects == defects


def test_a_question_without_an_answer_needs_no_evidence(tmp_path: Path) -> None:
    content = locomo(["D1:1"])
    content[0]["qa"][1]["evidence"] = []
    assert LoCoMo(write(tmp_path / "l.json", content)).defects == {}


def test_a_caption_is_part_of_the_words_and_marked(tmp_path: Path) -> None:
    case = next(LoCoMo(write(tmp_path / "l.json", locomo(["D3:1"]))).cases())
    assert [turn.text for session in case.sessions for turn in session.turns] == [
        "Look! [shares a photo: a red boat]",
        "Nice.",
        "[shares a photo: a blue boat]",
    ]


def test_evidence_points_at_the_turn_also_when_a_session_number_has_no_turns(tmp_path: Path) -> None:
    case = next(LoCoMo(write(tmp_path / "l.json", locomo(["D3:1"]))).cases())
    question = case.questions[0]
    assert question.evidence == (Passage(session=SessionId("s002"), start=0, end=1),)
    assert case.turn(question.evidence[0]).text == "[shares a photo: a blue boat]"
    assert question.gold == ("2022",)


def test_an_adversarial_question_has_no_gold_answer_and_should_be_abstained_from(tmp_path: Path) -> None:
    question = next(LoCoMo(write(tmp_path / "l.json", locomo(["D1:1"]))).cases()).questions[1]
    assert (question.gold, question.answerable, question.category) == ((), False, "adversarial")


def test_a_haystack_is_put_in_order_of_time_and_evidence_follows(tmp_path: Path) -> None:
    data = LongMemEval(write(tmp_path / "q.json", [lme()]))
    case = next(data.cases())
    question = case.questions[0]
    assert [session.turns[0].text for session in case.sessions] == ["Hello.", "One."]
    assert case.turn(question.evidence[0]).text == "One."
    assert question.flags == {AFTER}
    assert not question.answerable
    assert data.defects["haystack not in order of time"] == 1


def test_no_official_name_is_in_what_a_system_observes(tmp_path: Path) -> None:
    case = next(LongMemEval(write(tmp_path / "q.json", [lme()])).cases())
    assert "answer_1" not in str([dataclasses.asdict(session) for session in case.sessions])
    case = next(LoCoMo(write(tmp_path / "l.json", locomo(["D1:1"]))).cases())
    assert "D1:1" not in str([dataclasses.asdict(session) for session in case.sessions])


def test_packed_and_plain_files_read_the_same_with_the_same_checksum(tmp_path: Path) -> None:
    raw = json.dumps([lme()]).encode()
    (tmp_path / "q.json").write_bytes(raw)
    (tmp_path / "q.json.gz").write_bytes(gzip.compress(raw))
    (tmp_path / "q.json.xz").write_bytes(lzma.compress(raw))
    read = [LongMemEval(tmp_path / name) for name in ("q.json", "q.json.gz", "q.json.xz")]
    assert len({data.checksum for data in read}) == 1
    assert list(read[0].cases()) == list(read[1].cases()) == list(read[2].cases())


@pytest.mark.parametrize("content", [{}, [{"qa": []}], ["x"], 3])
def test_another_kind_of_file_is_refused_by_name(tmp_path: Path, content: object) -> None:
    path = write(tmp_path / "odd.json", content)
    for reader in (LoCoMo, LongMemEval):
        with pytest.raises(InvalidInput, match=r"odd\.json"):
            reader(path)


@pytest.mark.parametrize("name", ["torn.json", "torn.json.gz", "torn.json.xz", "absent.json"])
def test_an_unreadable_file_is_refused_by_name(tmp_path: Path, name: str) -> None:
    if "torn" in name:
        (tmp_path / name).write_bytes(b"\xfd7zXZ\x00{")
    with pytest.raises(InvalidInput, match=name):
        LoCoMo(tmp_path / name)


@pytest.mark.shared
def test_locomo_reads_as_its_readme_says(shared: Path) -> None:
    data = LoCoMo(shared / "data/locomo/locomo_dev7.json")
    assert isinstance(data, Dataset)
    cases = list(data.cases())
    assert data.checksum == "e4ac194c046d57dd390e65bb0323695adf01e0bd64cc2d98083806bee7b115d6"
    assert [len(case.questions) for case in cases] == [199, 105, 193, 260, 242, 190, 204]
    assert sum(len(session.turns) for case in cases for session in case.sessions) == 4017
    assert sum(len(case.sessions) for case in cases) == 189
    assert (
        sum("[shares a photo: " in turn.text for case in cases for s in case.sessions for turn in s.turns)
        == 836
    )
    assert data.defects == {
        "malformed evidence": 3,
        "unreadable evidence": 1,
        "evidence not in the conversation": 2,
        "no evidence": 4,
        "evidence named twice": 1,
    }


@pytest.mark.shared
def test_longmemeval_reads_as_its_readme_says(shared: Path) -> None:
    data = LongMemEval(shared / "data/longmemeval/longmemeval_oracle_dev100.json.xz")
    assert isinstance(data, Dataset)
    cases = list(data.cases())
    assert data.checksum == "529c620cfef004a1c33145fd3f5c4e681a606767ceffb363bcacb50a1f5240c7"
    assert sum(len(case.sessions) for case in cases) == 186
    assert sum(len(session.turns) for case in cases for session in case.sessions) == 2146
    assert sum(len(case.questions[0].evidence) for case in cases) == 182
    assert sum(not case.questions[0].answerable for case in cases) == 6


Told = list[tuple[str, str, object, str | None]]


def observed(case: Case) -> list[Told]:
    """What systems are given, session by session, without the ids of either side."""
    return [
        [(turn.speaker, turn.text, turn.said_at, turn.role) for turn in session.turns]
        for session in case.sessions
        if session.turns
    ]


def ingested(conversation: Conversation) -> list[Told]:
    """What `tiermem ingest` stores, session by session in the order of their dates."""
    told: list[Told] = [
        [(turn.speaker, turn.text, turn.said_at, turn.role) for turn in session.turns]
        for session in conversation.sessions
    ]
    return sorted(told, key=lambda turns: str(turns[0][2]))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("dataset", "file", "conversations"),
    [
        (LoCoMo, "data/locomo/locomo_dev7.json", 7),
        (LongMemEval, "data/longmemeval/longmemeval_oracle_dev100.json.xz", 100),
        (LongMemEval, "data/longmemeval/longmemeval_s_cleaned_dev100.json.xz", 100),
    ],
)
def test_ingest_and_evaluation_see_the_same_turns(
    shared: Path, dataset: type[LoCoMo | LongMemEval], file: str, conversations: int
) -> None:
    read = read_dialogue(shared / file)
    cases = list(dataset(shared / file).cases())
    assert len(cases) == len(read) == conversations
    for case, conversation in zip(cases, read, strict=True):
        assert case.id == conversation.space_hint
        assert observed(case) == ingested(conversation)


def test_a_flaw_in_the_dialogue_is_named_with_its_file_and_turn(tmp_path: Path) -> None:
    content = locomo(["D1:1"])
    del content[0]["conversation"]["session_1"][1]["text"]
    with pytest.raises(InvalidInput, match=r"l\.json.*conv-1, session_1, turn 2: no words"):
        LoCoMo(write(tmp_path / "l.json", content))

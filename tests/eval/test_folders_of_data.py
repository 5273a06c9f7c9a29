"""Reading REALTALK and BEAM, which are folders: every message in its place, every flaw counted."""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from eval.datasets import Beam, Languages, Newcomer, RealTalk, Statements
from eval.datasets.realtalk import DATED_BY_SESSION
from eval.types import Dataset, Passage
from pagestore import SessionId
from tiermem.errors import InvalidInput


def message(number: int, day: int, said: str, session: int = 1, **more: Any) -> dict[str, Any]:
    at = f"{day:02}.01.2024, 18:03:{number:02}"
    return {"speaker": "Emi", "dia_id": f"D{session}:{number}", "clean_text": said, "date_time": at, **more}


def chat(*evidence: str) -> dict[str, Any]:
    return {
        "name": {"speaker_1": "Emi", "speaker_2": "Kate"},
        "session_1": [message(1, 21, "Hi"), message(2, 21, "", blip_caption="a red boat")],
        "session_2": [message(n, 20, "Earlier", session=2) for n in (1, 2, 3)],
        "qa": [{"question": "Which boat?", "answer": 7, "evidence": list(evidence), "category": 2}],
    }


def written(folder: Path, name: str, content: object) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(content))


def at(session: str, turn: int) -> Passage:
    return Passage(session=SessionId(session), start=turn, end=turn + 1)


def test_a_chat_is_a_case_with_its_sessions_in_the_order_of_time(tmp_path: Path) -> None:
    written(tmp_path, "Chat_10_Emi_Kate.json", chat("D1:2"))
    written(tmp_path, "Chat_2_Emi_Kate.json", chat("D2:1-D2:3"))
    data = RealTalk(tmp_path)
    two, ten = data.cases()
    assert (two.id, ten.id) == ("Chat_2_Emi_Kate", "Chat_10_Emi_Kate")
    assert [len(session.turns) for session in two.sessions] == [3, 2]
    assert two.questions[0].evidence == (at("s001", 0), at("s001", 1), at("s001", 2))
    assert ten.turn(*ten.questions[0].evidence).text == "[shares a photo: a red boat]"
    assert (ten.questions[0].category, ten.questions[0].gold) == ("temporal", ("7",))
    assert ten.questions[0].asked_at == ten.sessions[-1].turns[-1].said_at
    assert data.defects["sessions not in order of time"] == 2


@pytest.mark.parametrize(
    ("evidence", "defect"), [("", "unreadable evidence"), ("D9:1", "evidence not in the chat")]
)
def test_evidence_that_leads_nowhere_is_counted(tmp_path: Path, evidence: str, defect: str) -> None:
    written(tmp_path, "Chat_1.json", chat(evidence))
    data = RealTalk(tmp_path)
    assert (data.defects[defect], data.defects["no evidence"]) == (1, 1)


def beam(folder: Path) -> None:
    anchored = {"time_anchor": "March-15-2024", "role": "user", "id": 0, "content": "Plan it. ->-> 1,1"}
    reply = {"role": "assistant", "id": 1, "content": "Done ->-> see?\nYes."}
    written(folder, "3/chat.json", [{"batch_number": 1, "turns": [[anchored, reply]]}])
    questions = {
        "knowledge_update": [
            {"question": "When?", "answer": "May", "source_chat_ids": {"original_info": [0], "new": [1, 8]}}
        ],
        "abstention": [{"question": "Who?", "ideal_response": "Nobody said."}],
    }
    written(folder, "3/probing_questions.json", questions)
    written(folder, "3/topic.json", {})


@pytest.mark.parametrize(
    ("question", "answer", "is_flagged"),
    [
        ("When did Emi sail?", "On 21.01.2024", True),
        ("When did Emi sail?", "21 January, 2024", True),
        ("When did Emi sail?", "January 21st", True),
        ("What did Emi do on 21 Jan 2024?", "She sailed", True),
        ("What did Emi do?", "She sailed on a boat with 21 others", False),
        ("May she sail?", "In 2024.", False),
    ],
)
def test_a_day_counted_from_the_beginning_of_its_session_is_flagged(
    tmp_path: Path, question: str, answer: str, is_flagged: bool
) -> None:
    content = chat("D1:2")
    content["session_1"][1] = message(2, 22, "We sailed today!")
    content["qa"][0] |= {"question": question, "answer": answer}
    on_day = {"question": question, "answer": answer, "evidence": ["D1:1"], "category": 2}
    content["qa"].append(on_day)
    written(tmp_path, "Chat_1.json", content)
    late, same_day = next(RealTalk(tmp_path).cases()).questions
    assert (DATED_BY_SESSION in late.flags) == is_flagged
    assert not same_day.flags


def test_a_batch_is_a_session_and_messages_lose_what_they_were_made_from(tmp_path: Path) -> None:
    beam(tmp_path)
    data = Beam(tmp_path)
    (case,) = data.cases()
    assert [turn.text for turn in case.sessions[0].turns] == ["Plan it.", "Done ->-> see?\nYes."]
    assert f"{case.sessions[0].started_at:%Y-%m-%d}" == "2024-03-15"
    update, abstention = case.questions
    assert (update.category, update.evidence) == ("knowledge update", (at("s001", 0), at("s001", 1)))
    assert (abstention.answerable, abstention.evidence) == (False, ())
    assert data.defects["evidence not in the chat"] == 1


def test_a_chat_that_was_cut_is_read_as_it_was_cut(tmp_path: Path) -> None:
    beam(tmp_path)
    written(tmp_path, "3/chat_trunecated.json", [])
    (case,) = Beam(tmp_path).cases()
    assert case.sessions == ()


def test_a_folder_and_its_archive_are_the_same_data(tmp_path: Path) -> None:
    beam(tmp_path / "beam_100k")
    with tarfile.open(tmp_path / "beam.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "beam_100k", "beam_100k")
    folder, packed = Beam(tmp_path / "beam_100k"), Beam(tmp_path / "beam.tar.xz")
    assert folder.checksum == packed.checksum
    assert list(folder.cases()) == list(packed.cases())


@pytest.mark.parametrize("read", [Beam, RealTalk])
def test_what_holds_no_chat_says_what_is_needed(tmp_path: Path, read: type[Beam | RealTalk]) -> None:
    with pytest.raises(InvalidInput, match="name their folder, or its archive"):
        read(tmp_path)
    (tmp_path / "Chat_1.json").write_text("{")
    with pytest.raises(InvalidInput, match="not JSON"):
        read(tmp_path)
    (tmp_path / "Chat_1.json").write_text("{}")
    with pytest.raises(InvalidInput, match=r"no chat of (BEAM|REALTALK)"):
        read(tmp_path)
    with pytest.raises(InvalidInput, match="cannot read"):
        read(tmp_path / "Chat_1.json")


def test_a_language_is_a_case_with_fillers_after_each_turn(tmp_path: Path) -> None:
    said = [
        {"speaker": "Ann", "session": f"d{day}", "said_at": f"2024-04-0{day}T10:00", "text": text}
        for day, text in ((1, "Kissani on sairas."), (2, "Muutan Ouluun."))
    ]
    language = {
        "turns": said,
        "filler": [{"speaker": "Ben", "text": "Sataa."}],
        "questions": [{"question": "Minne muutan?", "turn": 1, "phrase": "Ouluun"}],
    }
    (tmp_path / "fi.json").write_text(json.dumps(language))
    (case,) = Languages(tmp_path).cases()
    assert [[turn.text for turn in session.turns] for session in case.sessions] == [
        ["Kissani on sairas.", "Sataa."],
        ["Muutan Ouluun.", "Sataa."],
    ]
    (question,) = case.questions
    assert case.turn(question.evidence[0]).text == "Muutan Ouluun."
    assert (case.id, question.gold, question.category) == ("fi", ("Ouluun",), "fi")
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(InvalidInput, match="'no' is no language"):
        Languages(tmp_path)


def test_questions_of_a_new_user_are_asked_of_their_export(tmp_path: Path) -> None:
    (tmp_path / "Chat with Pia.txt").write_text(
        "Pia: The ferry is at six.\nUwe: Which ferry?\nPia: To Borkum.\n"
    )
    (tmp_path / "other.txt").write_text("Ann: Nobody asks about this.\n")
    asked = [{"space": "Chat_with", "question": text} for text in ("When is the ferry?", "Who is Ole?")]
    (tmp_path / "questions.json").write_text(json.dumps(asked))
    with pytest.raises(InvalidInput, match=r"no questions\.json and no phrases\.json"):
        Newcomer(tmp_path)
    (tmp_path / "phrases.json").write_text(json.dumps([{"phrases": ["at six"]}, {"phrases": []}]))
    (case,) = Newcomer(tmp_path).cases()
    first, second = case.questions
    assert [case.turn(place).text for place in first.evidence] == ["The ferry is at six."]
    assert (first.answerable, second.answerable, second.evidence) == (True, False, ())


def test_statements_are_turns_of_one_session_and_each_answers_its_question(tmp_path: Path) -> None:
    file = tmp_path / "statements.json"
    pairs = [("User has a dog.", "user pet"), ("User is a nurse.", "user's job")]
    file.write_text(json.dumps([{"statement": one, "question": asked} for one, asked in pairs]))
    (case,) = Statements(file).cases()
    assert [turn.text for turn in case.sessions[0].turns] == ["User has a dog.", "User is a nurse."]
    assert [(case.turn(one.evidence[0]).text, one.text) for one in case.questions] == pairs
    file.write_text('[{"statement": "User has a dog."}]')
    with pytest.raises(InvalidInput, match="no array of statements with questions"):
        Statements(file)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("read", "file", "counts"),
    [
        (Languages, "languages", (4, 120, 24, 24)),
        (Newcomer, "newcomer", (9, 79, 38, 33)),
        (RealTalk, "realtalk/realtalk_dev5.tar.xz", (5, 4_864, 359, 344)),
        (Beam, "beam/beam_100k_dev10.tar.xz", (10, 2_362, 200, 179)),
    ],
)
def test_the_real_data_are_read_whole(
    shared: Path, read: type[Beam | RealTalk], file: str, counts: tuple[int, ...]
) -> None:
    data: Dataset = read(shared / "data" / file)
    cases = list(data.cases())
    questions = [question for case in cases for question in case.questions]
    turns = sum(len(session.turns) for case in cases for session in case.sessions)
    assert (len(cases), turns, len(questions), sum(bool(one.evidence) for one in questions)) == counts

"""Conversations written to learn from: what a file says, and what is refused in it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval.datasets import Written
from eval.research.training.data.sources import SOURCES
from eval.research.training.reader.prepare import course_of
from eval.types import Passage
from pagestore.values import SessionId
from tests.eval.research.training.test_reader import lesson
from tiermem.errors import InvalidInput

TALK = """@ Priya | Marek
# 2023-03-14 19:05
1 Priya: The van broke down outside Almere, so Jonas towed us home.
2 Marek: Was it the clutch: again?

# 2023-03-29 08:40
3 Priya: We adopted a kitten yesterday, and a cello came with the flat.
? s | Who towed Priya's van home? | 1 | Jonas
? l | What is new in Priya's flat? | 3 | a kitten; a cello
? w | When was the kitten adopted? | 3 | 28 March 2023
? n | Who towed Marek's van home? | 1 | -
"""


def written(folder: Path, text: str) -> Written:
    (folder / "001.txt").write_text(text, encoding="utf-8")
    return Written(folder)


def test_turns_have_speaker_and_day_and_questions_their_evidence(tmp_path: Path) -> None:
    read = written(tmp_path, TALK)
    (case,) = read.cases()
    assert [len(session.turns) for session in case.sessions] == [2, 1]
    assert case.sessions[0].turns[1].text == "Was it the clutch: again?"
    assert case.sessions[1].started_at == datetime(2023, 3, 29, 8, 40, tzinfo=UTC)
    who, new, when, nobody = case.questions
    assert (who.gold, who.evidence) == (("Jonas",), (Passage(session=SessionId("s001"), start=0, end=1),))
    assert new.gold == ("a kitten", "a cello")
    assert when.category == "temporal"
    assert (nobody.answerable, nobody.gold, nobody.evidence) == (False, (), ())
    assert read.checksum != written(tmp_path, TALK.replace("Almere", "Delft")).checksum


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("| 1 | Jonas", "| 1 | Jonathan", "line 8.*'Jonathan' does not stand"),
        ("| 1 | Jonas", "| 7 | Jonas", "line 8.*no turn before it"),
        ("? s |", "? x |", "a question has a kind"),
        ("# 2023-03-14 19:05", "# spring", "a session begins with"),
        ("2 Marek:", "Marek:", "no turn of a session"),
    ],
)
def test_what_is_laid_out_otherwise_is_refused_by_line(tmp_path: Path, old: str, new: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        written(tmp_path, TALK.replace(old, new))


def test_a_folder_without_conversations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no conversations"):
        Written(tmp_path)


@pytest.mark.parametrize(("source", "count"), [("written", 331), ("changes", 48)])
def test_what_is_shipped_can_be_read_whole(source: str, count: int) -> None:
    cases = list(Written(*SOURCES[source].paths(Path("elsewhere"))).cases())
    asked = [question for case in cases for question in case.questions]
    assert len(cases) == count
    assert len({case.id for case in cases}) == len(cases)
    assert 0.1 < sum(not question.answerable for question in asked) / len(asked) < 0.3


def test_what_was_written_is_learned_at_the_end_with_other_talk_and_some_of_the_rest() -> None:
    from dataclasses import replace

    rest = [lesson(f"l{n}", label=1) for n in range(17)]
    talk = [replace(lesson("t", label=1), source="friendsqa")]
    own = [
        replace(lesson(name, label=1), source="written") for name in ("w", *(f"w{n}:without" for n in "1234"))
    ]
    own[0] = replace(own[0], source="changes")
    ranked = [replace(lesson("r", label=1), source="written", task="rank")]
    assert course_of(rest, 2) == [list(range(17))] * 2
    first, second, last = course_of([*rest, *talk, *own, *ranked], 2)
    assert first == second == list(range(18))
    assert last == [0, 16, 17, 18, 19, 22]

"""Six facts and questions each in several languages: does search find the one turn that answers?

A file is a language: turns with their session, four fillers that follow each turn in its session, and
questions with the number of the turn that answers and the words of it that show the answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path, PurePath
from typing import Any, Final

from eval.datasets.files import read_folder
from eval.types import Case, CaseId, LabelledQuestion, Passage, QuestionId, Session
from pagestore.values import SessionId, Turn
from tiermem.dialogue.error_location import place
from tiermem.errors import InvalidInput

_ASKED_AT: Final = datetime(2024, 5, 1)  # noqa: DTZ001 - no zone is written


class Languages:
    """The languages of a folder (`*.json`), or of an archive of it; `InvalidInput` for anything else."""

    name = "languages"

    def __init__(self, path: Path) -> None:
        files, self.checksum = read_folder(path, "*.json")
        self._defects: Counter[str] = Counter()
        with place(repr(str(path))):
            self._cases = tuple(_case(PurePath(file).stem, content) for file, content in files)

    @property
    def defects(self) -> Mapping[str, int]:
        """Flaws met, by kind: none are known."""
        return dict(self._defects)

    def cases(self) -> Iterator[Case]:
        """One case a language, by the name of its file."""
        return iter(self._cases)


def _case(language: str, content: Any) -> Case:
    if not isinstance(content, dict) or not content.keys() >= {"turns", "filler", "questions"}:
        raise InvalidInput(f"{language!r} is no language: no object with 'turns', 'filler' and 'questions'")
    fillers = tuple(Turn(speaker=one["speaker"], text=one["text"]) for one in content["filler"])
    sessions = []
    for number, one in enumerate(content["turns"], start=1):
        said_at = datetime.fromisoformat(one["said_at"])
        said = (Turn(speaker=one["speaker"], text=one["text"]), *fillers)
        turns = tuple(replace(turn, said_at=said_at + timedelta(minutes=at)) for at, turn in enumerate(said))
        sessions.append(Session(id=SessionId(f"s{number:03d}"), turns=turns, started_at=said_at))
    questions = []
    for number, one in enumerate(content["questions"]):
        session = sessions[one["turn"]].id
        questions.append(
            LabelledQuestion(
                id=QuestionId(f"{language}#{number}"),
                text=one["question"],
                category=language,
                gold=(one["phrase"],),
                asked_at=_ASKED_AT,
                evidence=(Passage(session=session, start=0, end=1),),
                evidence_sessions=(session,),
            )
        )
    return Case(id=CaseId(language), sessions=tuple(sessions), questions=tuple(questions))

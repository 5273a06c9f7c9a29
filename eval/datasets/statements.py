"""Short statements about one user, as an agent stores them, with a short look-up for each of them.

A file is a JSON array of objects with a `statement` and the `question` that it answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from eval.datasets.files import read_json
from eval.types import Case, CaseId, LabelledQuestion, Passage, QuestionId, Session
from pagestore.values import SessionId, Turn
from tiermem.errors import InvalidInput

_SESSION = SessionId("s001")


class Statements:
    """The statements of a file, in one session; `InvalidInput` for anything else."""

    name = "statements"

    def __init__(self, path: Path) -> None:
        content, self.checksum = read_json(path)
        try:
            self.pairs = [(str(one["statement"]), str(one["question"])) for one in content]
        except (KeyError, TypeError) as error:
            raise InvalidInput(f"{str(path)!r} is no array of statements with questions") from error

    @property
    def defects(self) -> Mapping[str, int]:
        """Flaws met, by kind: none are known."""
        return {}

    def cases(self) -> Iterator[Case]:
        """One case with all of them."""
        turns = tuple(Turn(speaker="user", text=statement) for statement, _ in self.pairs)
        questions = tuple(
            LabelledQuestion(
                id=QuestionId(f"#{at}"),
                text=question,
                category="statement",
                gold=(statement,),
                evidence=(Passage(session=_SESSION, start=at, end=at + 1),),
                evidence_sessions=(_SESSION,),
            )
            for at, (statement, question) in enumerate(self.pairs)
        )
        session = Session(id=_SESSION, turns=turns)
        yield Case(id=CaseId("statements"), sessions=(session,), questions=questions)

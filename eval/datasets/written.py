"""Conversations written to learn reading from: a text file each, the turns first, what is asked after them.

    @ Priya | Marek
    # 2023-03-14 19:05
    1 Priya: Finally back from the coast! The van broke down outside Almere, so Jonas towed us home.
    ? s | Who towed Priya's van home? | 1 | Jonas

`@` names the two who talk, `#` the day and time of a session; turns are numbered through the file. A question
has its kind, its words, the turns of its evidence and its answers, which stand in those turns word for word
but where it asks for a day.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from eval.types import Case, CaseId, LabelledQuestion, Passage, QuestionId, Session
from pagestore.values import SessionId, Turn
from tiermem.dialogue.error_location import place
from tiermem.errors import InvalidInput

CATEGORIES: Final = {"s": "single-hop", "l": "list", "w": "temporal", "n": "adversarial"}
_TURN: Final = re.compile(r"(\d{1,6}) ([^:]{1,60}): (.+)")


class Written:
    """The conversations of a folder (`*.txt`), by name. `InvalidInput`, naming file and line, for what is
    laid out otherwise, evidence that is no turn, and an answer that its turns do not hold.
    """

    name = "written"

    def __init__(self, path: Path) -> None:
        files = sorted(path.glob("*.txt"))
        if not files:
            raise InvalidInput(f"{str(path)!r} holds no conversations (*.txt)")
        digest = hashlib.sha256()
        cases = []
        for file in files:
            text = file.read_text(encoding="utf-8")
            digest.update(f"{file.name}\n{hashlib.sha256(text.encode()).hexdigest()}\n".encode())
            cases.append(_case(file, text))
        self._cases = tuple(cases)
        self.checksum = digest.hexdigest()

    @property
    def defects(self) -> Mapping[str, int]:
        """None: what is wrong is refused."""
        return {}

    def cases(self) -> Iterator[Case]:
        """One case a file, by name."""
        return iter(self._cases)


@dataclass(slots=True)
class _Reading:
    """What was read of a file so far."""

    case: str
    sessions: list[tuple[datetime, list[Turn]]] = field(default_factory=list)
    places: dict[int, Passage] = field(default_factory=dict)
    questions: list[LabelledQuestion] = field(default_factory=list)

    def session(self, line: str) -> None:
        """A session begins."""
        try:
            began = datetime.strptime(line.removeprefix("# "), "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
        except ValueError as error:
            raise InvalidInput(f"a session begins with '# 2023-03-14 19:05', not with {line!r}") from error
        self.sessions.append((began, []))

    def turn(self, line: str) -> None:
        """A turn is said."""
        match = _TURN.fullmatch(line)
        if match is None or not self.sessions:
            raise InvalidInput(f"no turn of a session: {line!r}")
        began, turns = self.sessions[-1]
        number = len(turns)
        self.places[int(match[1])] = Passage(session=_named(len(self.sessions)), start=number, end=number + 1)
        turns.append(Turn(speaker=match[2], text=match[3], said_at=began))

    def question(self, line: str) -> None:
        """Something is asked of what was said."""
        fields = [part.strip() for part in line.removeprefix("? ").split("|")]
        if len(fields) != 4 or fields[0] not in CATEGORIES:
            raise InvalidInput(f"a question has a kind, its words, turns and answers, not {line!r}")
        kind, words, named, gold = fields
        answers = () if kind == "n" else tuple(part.strip() for part in gold.split(";"))
        evidence = () if kind == "n" else self._evidence(named, line)
        if kind in "sl":
            self._check(answers, evidence, line)
        self.questions.append(
            LabelledQuestion(
                id=QuestionId(f"{self.case}#{len(self.questions)}"),
                text=words,
                category=CATEGORIES[kind],
                gold=answers,
                evidence=evidence,
                evidence_sessions=tuple(dict.fromkeys(one.session for one in evidence)),
                answerable=kind != "n",
            )
        )

    def _evidence(self, named: str, line: str) -> tuple[Passage, ...]:
        try:
            return tuple(self.places[int(number)] for number in named.split(","))
        except (ValueError, KeyError) as error:
            raise InvalidInput(f"evidence that is no turn before it: {line!r}") from error

    def _check(self, answers: Sequence[str], evidence: Sequence[Passage], line: str) -> None:
        said = [self.sessions[int(one.session[1:]) - 1][1][one.start].text for one in evidence]
        for answer in answers:
            if not any(answer in text for text in said):
                raise InvalidInput(f"{answer!r} does not stand in the turns it is named for: {line!r}")


def _named(number: int) -> SessionId:
    return SessionId(f"s{number:03d}")


def _case(file: Path, text: str) -> Case:
    reading = _Reading(file.stem)
    for number, line in enumerate(text.splitlines(), start=1):
        with place(f"{file.name}, line {number}"):
            if line.startswith("# "):
                reading.session(line.rstrip())
            elif line.startswith("? "):
                reading.question(line.rstrip())
            elif line.strip() and not line.startswith("@ "):
                reading.turn(line.rstrip())
    return Case(
        id=CaseId(file.stem),
        sessions=tuple(
            Session(id=_named(at), turns=tuple(turns), started_at=began)
            for at, (began, turns) in enumerate(reading.sessions, start=1)
        ),
        questions=tuple(reading.questions),
    )

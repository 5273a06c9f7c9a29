"""Chat exports of a new user with questions: does search find a turn with the phrase that answers?

A folder holds exports in many formats, `questions.json` (the beginning of the name of the export that is
asked, and the question) and `phrases.json` (for each question the phrases of which one must be in a line that
answers; none where the right reply is to abstain).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from eval.types import Case, CaseId, LabelledQuestion, Passage, QuestionId, Session
from pagestore.values import SessionId
from tiermem.dialogue import read_dialogue
from tiermem.dialogue.error_location import place
from tiermem.errors import InvalidInput

_QUESTIONS: Final = ("questions.json", "phrases.json")
_ODD: Final = re.compile(r"[^\w.]")


class Newcomer:
    """The exports of a folder with their questions; `InvalidInput` for a folder without them."""

    name = "newcomer"

    def __init__(self, path: Path) -> None:
        if not all((path / name).is_file() for name in _QUESTIONS):
            raise InvalidInput(f"{str(path)!r} holds no {' and no '.join(_QUESTIONS)}")
        files = sorted(file for file in path.iterdir() if file.is_file())
        self.checksum = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
        with place(repr(str(path))):
            asked, phrases = (json.loads((path / name).read_text(encoding="utf-8")) for name in _QUESTIONS)
            self._cases = tuple(
                _cases([file for file in files if file.name not in _QUESTIONS], asked, phrases)
            )

    @property
    def defects(self) -> Mapping[str, int]:
        """Flaws met, by kind: none are known."""
        return {}

    def cases(self) -> Iterator[Case]:
        """One case an export that is asked about, by the name of its file."""
        return iter(self._cases)


def _cases(files: list[Path], asked: list[Any], phrases: list[Any]) -> Iterator[Case]:
    pairs = list(zip(asked, phrases, strict=True))
    for file in files:
        own = [(n, q, p) for n, (q, p) in enumerate(pairs) if _ODD.sub("_", file.name).startswith(q["space"])]
        if own:
            sessions = _sessions(file)
            questions = tuple(_question(n, q["question"], tuple(p["phrases"]), sessions) for n, q, p in own)
            yield Case(id=CaseId(file.name), sessions=sessions, questions=questions)


def _sessions(file: Path) -> tuple[Session, ...]:
    read = [session for conversation in read_dialogue(file) for session in conversation.sessions]
    return tuple(
        Session(id=SessionId(f"s{number:03d}"), turns=session.turns)
        for number, session in enumerate(read, start=1)
    )


def _question(
    number: int, text: str, phrases: tuple[str, ...], sessions: tuple[Session, ...]
) -> LabelledQuestion:
    evidence = tuple(
        Passage(session=session.id, start=at, end=at + 1)
        for session in sessions
        for at, turn in enumerate(session.turns)
        if any(phrase in turn.text for phrase in phrases)
    )
    return LabelledQuestion(
        id=QuestionId(f"#{number}"),
        text=text,
        category="answerable" if phrases else "absent",
        gold=phrases,
        evidence=evidence,
        evidence_sessions=tuple(dict.fromkeys(one.session for one in evidence)),
        answerable=bool(phrases),
    )

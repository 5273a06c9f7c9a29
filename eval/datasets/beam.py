"""BEAM: chats of a user and an assistant of some 100,000 tokens, and two questions for each of ten abilities.

A chat is a case, each of its batches a session, dated by its first message's anchor. What its user's messages
end with (`->-> 1,1`) is where they were made from, and no part of them. The answers asked for are of many
kinds (a summary, an order, advice that heeds a preference): BEAM judges them by rubrics, which are not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, Final

from eval.datasets.files import read_folder
from eval.types import Case, CaseId, LabelledQuestion, Passage, QuestionId, Session
from pagestore.values import SessionId, Turn
from tiermem.dialogue.error_location import place
from tiermem.errors import InvalidInput

_MADE_FROM: Final = re.compile(r"[\w,. ]*")
_ANSWERS: Final = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")


class Beam:
    """The chats of a folder of BEAM (`<n>/chat.json` beside `<n>/probing_questions.json`), or its archive.

    Where there is a `chat_trunecated.json` it is read instead: the questions are about it. `InvalidInput`
    when it is something else.
    """

    name = "beam"

    def __init__(self, path: Path) -> None:
        chats, self.checksum = read_folder(path, "*.json")
        self._defects: Counter[str] = Counter()
        content = {name: value for name, value in chats if PurePath(name).name != "topic.json"}
        folders = dict.fromkeys(PurePath(name).parent for name in content)
        with place(repr(str(path))):
            self._cases = tuple(self._case(folder, content) for folder in folders)

    @property
    def defects(self) -> Mapping[str, int]:
        """Flaws met, by kind."""
        return dict(self._defects)

    def cases(self) -> Iterator[Case]:
        """One case a chat, by number."""
        return iter(self._cases)

    def _case(self, folder: PurePath, content: Mapping[str, Any]) -> Case:
        chat = content.get(f"{folder}/chat_trunecated.json", content.get(f"{folder}/chat.json"))
        asked = content.get(f"{folder}/probing_questions.json")
        if not isinstance(chat, list) or not isinstance(asked, dict):
            raise InvalidInput(f"folder {str(folder)!r} holds no chat of BEAM with its questions")
        places: dict[int, Passage] = {}
        sessions = []
        for number, batch in enumerate(chat, start=1):
            session = SessionId(f"s{number:03d}")
            messages = [message for group in batch["turns"] for message in group]
            began = _anchor(messages)
            turns = tuple(_turn(message, began) for message in messages)
            sessions.append(Session(id=session, turns=turns, started_at=began))
            for at, message in enumerate(messages):
                places[message["id"]] = Passage(session=session, start=at, end=at + 1)
        questions = tuple(
            self._question(QuestionId(f"{folder}#{ability}#{number}"), ability, one, places, sessions)
            for ability, both in asked.items()
            for number, one in enumerate(both)
        )
        return Case(id=CaseId(f"beam-{folder}"), sessions=tuple(sessions), questions=questions)

    def _question(
        self,
        question: QuestionId,
        ability: str,
        asked: Mapping[str, Any],
        places: Mapping[int, Passage],
        sessions: list[Session],
    ) -> LabelledQuestion:
        named = _numbers(asked.get("source_chat_ids"))
        self._defects["evidence not in the chat"] += sum(number not in places for number in named)
        evidence = tuple(dict.fromkeys(places[number] for number in named if number in places))
        return LabelledQuestion(
            id=question,
            text=asked["question"],
            category=ability.replace("_", " "),
            gold=tuple(str(asked[name]) for name in _ANSWERS if name in asked)[:1],
            asked_at=sessions[-1].started_at if sessions else None,
            evidence=evidence,
            evidence_sessions=tuple(dict.fromkeys(turn.session for turn in evidence)),
            answerable=ability != "abstention",
        )


def _numbers(named: object) -> list[int]:
    """The numbers in a list, or in the lists of an object."""
    if isinstance(named, dict):
        return [number for value in named.values() for number in _numbers(value)]
    return [number for number in named if isinstance(number, int)] if isinstance(named, list) else []


def _anchor(messages: list[Mapping[str, Any]]) -> datetime | None:
    """The day of a batch, written `March-15-2024`."""
    anchor = next((message["time_anchor"] for message in messages if message.get("time_anchor")), None)
    return datetime.strptime(anchor, "%B-%d-%Y") if anchor else None  # noqa: DTZ007 - no zone is written


def _turn(message: Mapping[str, Any], said_at: datetime | None) -> Turn:
    said, mark, tail = message["content"].rpartition("->->")
    text = said.rstrip() if mark and _MADE_FROM.fullmatch(tail) else message["content"]
    return Turn(speaker=message["role"], role=message["role"], text=text, said_at=said_at)

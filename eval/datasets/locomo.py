"""LoCoMo: long conversations between two friends, with questions whose evidence is named turn by turn.

The files carry known flaws (two ids in one string, a stray colon, a leading zero, ids of turns that
do not exist). They are read tolerantly and every flaw is counted in `defects`; none is hidden.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from eval.datasets.files import read_json
from eval.types import Case, CaseId, Passage, Question, QuestionId, Session
from pagestore.values import SessionId, Turn
from tiermem.errors import InvalidInput

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_SESSION: Final = re.compile(r"session_(\d+)")
_EVIDENCE: Final = re.compile(r"D:?(\d+):(\d+)")


class LoCoMo:
    """The conversations of one LoCoMo file (`locomo10.json` or a subset in its structure).

    A photo's caption is part of the turn's words, marked as `[photo: …]`, as the field does; the
    search words and the address of the picture are not. `InvalidInput` when the file is something else.
    """

    name = "locomo"

    def __init__(self, path: Path) -> None:
        content, self.checksum = read_json(path)
        self._defects: Counter[str] = Counter()
        self._places: dict[CaseId, Mapping[str, Passage]] = {}
        if not isinstance(content, list) or not all(
            isinstance(x, dict) and {"sample_id", "conversation", "qa"} <= x.keys() for x in content
        ):
            raise InvalidInput(f"{str(path)!r} is not a LoCoMo file: no list of conversations with 'qa'")
        self._cases = tuple(self._case(sample) for sample in content)

    @property
    def defects(self) -> Mapping[str, int]:
        """Flaws met in evidence lists, by kind."""
        return dict(self._defects)

    def cases(self) -> Iterator[Case]:
        """One case a conversation, in the order of the file."""
        return iter(self._cases)

    def places(self, case: CaseId) -> Mapping[str, Passage]:
        """Where the turns the file calls `D3:11` stand: for facts recorded beside it, never for a system."""
        return self._places[case]

    def _case(self, sample: Mapping[str, Any]) -> Case:
        talk = sample["conversation"]
        numbers = sorted(int(m[1]) for key in talk if (m := _SESSION.fullmatch(key)) and talk[key])
        sessions, places = [], {}
        for position, number in enumerate(numbers, start=1):
            session_id = SessionId(f"s{position:03d}")
            sessions.append(
                _session(session_id, talk[f"session_{number}"], talk[f"session_{number}_date_time"])
            )
            for at, said in enumerate(talk[f"session_{number}"]):
                places[said["dia_id"]] = Passage(session=session_id, start=at, end=at + 1)
        self._places[CaseId(sample["sample_id"])] = places
        ended = sessions[-1].started_at if sessions else None
        questions = tuple(
            self._question(sample["sample_id"], index, qa, places, ended)
            for index, qa in enumerate(sample["qa"])
        )
        return Case(id=CaseId(sample["sample_id"]), sessions=tuple(sessions), questions=questions)

    def _question(
        self,
        sample_id: str,
        index: int,
        qa: Mapping[str, Any],
        places: Mapping[str, Passage],
        asked_at: datetime | None,
    ) -> Question:
        evidence = self._evidence(qa.get("evidence", ()), places)
        adversarial = qa["category"] == 5
        gold = () if adversarial or "answer" not in qa else (str(qa["answer"]),)
        return Question(
            id=QuestionId(f"{sample_id}#{index}"),
            text=qa["question"],
            category=CATEGORIES[qa["category"]],
            gold=gold,
            asked_at=asked_at,
            evidence=evidence,
            evidence_sessions=tuple(dict.fromkeys(turn.session for turn in evidence)),
            answerable=not adversarial,
        )

    def _evidence(self, named: Sequence[str], places: Mapping[str, Passage]) -> tuple[Passage, ...]:
        found: dict[Passage, None] = {}
        if not named:
            self._defects["no evidence"] += 1
        for text in named:
            ids = [f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(text)]
            if ids != [text]:
                self._defects["malformed evidence" if ids else "unreadable evidence"] += 1
            for turn_id in ids:
                place = places.get(turn_id)
                if place is None:
                    self._defects["evidence not in the conversation"] += 1
                elif place in found:
                    self._defects["evidence named twice"] += 1
                else:
                    found[place] = None
        return tuple(found)


def _session(session_id: SessionId, said: Sequence[Mapping[str, Any]], when: str) -> Session:
    started_at = datetime.strptime(when, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    turns = tuple(Turn(speaker=turn["speaker"], text=_words(turn), said_at=started_at) for turn in said)
    return Session(id=session_id, turns=turns, started_at=started_at)


def _words(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [photo: {caption}]".lstrip() if caption else str(turn["text"])

"""LoCoMo's labels: questions whose evidence is named turn by turn, over the dialogue `tiermem` reads.

The files carry known flaws (two ids in one string, a stray colon, a leading zero, ids of turns that
do not exist). They are read tolerantly and every flaw is counted in `defects`; none is hidden.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from eval.datasets.files import read_json, unnamed
from eval.types import Case, CaseId, LabelledQuestion, Passage, QuestionId, Session
from pagestore.values import SessionId
from tiermem.dialogue.error_location import place
from tiermem.dialogue.locomo import LocomoSample, parse_locomo
from tiermem.errors import InvalidInput

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_SESSION: Final = re.compile(r"session_(\d{1,9})")
_EVIDENCE: Final = re.compile(r"D:?(\d{1,9}):(\d{1,9})")


class LoCoMo:
    """The conversations of one LoCoMo file (`locomo10.json` or a subset in its structure).

    The turns are those of `tiermem.dialogue.locomo`, without the file's names for them.
    `InvalidInput` when the file is something else.
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
        with place(repr(str(path))):
            samples = parse_locomo(content)
        pairs = zip(content, samples, strict=True)
        self._cases = tuple(self._case(sample, raw["qa"]) for raw, sample in pairs)

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

    def _case(self, sample: LocomoSample, questions: Sequence[Mapping[str, Any]]) -> Case:
        sessions, places = _placed(sample)
        self._places[CaseId(sample.sample_id)] = places
        ended = sessions[-1].started_at if sessions else None
        return Case(
            id=CaseId(sample.sample_id),
            sessions=sessions,
            questions=tuple(
                self._question(sample.sample_id, index, qa, places, ended)
                for index, qa in enumerate(questions)
            ),
        )

    def _question(
        self,
        sample_id: str,
        index: int,
        qa: Mapping[str, Any],
        places: Mapping[str, Passage],
        asked_at: datetime | None,
    ) -> LabelledQuestion:
        adversarial = qa["category"] == 5
        named = qa.get("evidence", ())
        if not named and not adversarial:
            self._defects["no evidence"] += 1
        evidence = self._evidence(named, places)
        gold = () if adversarial or "answer" not in qa else (str(qa["answer"]),)
        return LabelledQuestion(
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
        for text in named:
            ids = [f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(text)]
            if ids != [text]:
                self._defects["malformed evidence" if ids else "unreadable evidence"] += 1
            for turn_id in ids:
                turn = places.get(turn_id)
                if turn is None:
                    self._defects["evidence not in the conversation"] += 1
                elif turn in found:
                    self._defects["evidence named twice"] += 1
                else:
                    found[turn] = None
        return tuple(found)


def _placed(sample: LocomoSample) -> tuple[tuple[Session, ...], dict[str, Passage]]:
    """The sessions under ids of our own, and where the turns that the file names stand in them."""
    sessions: list[Session] = []
    places: dict[str, Passage] = {}
    for number, read in enumerate(sample.sessions, start=1):
        session_id = SessionId(f"s{number:03d}")
        turns = unnamed(read.turns)
        sessions.append(Session(id=session_id, turns=turns, started_at=turns[0].said_at))
        for at, turn in enumerate(read.turns):
            places[turn.turn_id or ""] = Passage(session=session_id, start=at, end=at + 1)
    return tuple(sessions), places

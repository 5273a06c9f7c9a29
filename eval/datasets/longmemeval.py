"""LongMemEval's labels (S, M, oracle): one question, one haystack, evidence by turn.

The chats are those `tiermem.dialogue.longmemeval` reads. Every question is its own case, because haystacks
share distractor sessions. Evidence sessions are called `answer_…` in the files: those names stay in
`Case.official`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from eval.datasets.files import read_json, unnamed
from eval.types import Case, CaseId, LabelledQuestion, Passage, QuestionId, Session
from pagestore.values import SessionId
from tiermem.dialogue import parse_time
from tiermem.dialogue.error_location import place
from tiermem.dialogue.longmemeval import LongMemEvalHaystack, parse_longmemeval
from tiermem.errors import InvalidInput

AFTER: Final = "evidence after question"
_KEYS: Final = {"question_id", "question", "question_date", "haystack_sessions", "haystack_session_ids"}


class LongMemEval:
    """The questions of one LongMemEval file, in its order, each with its sessions sorted by date.

    Sessions dated after the question are kept (some hold the evidence); such questions carry the
    flag `AFTER`. `InvalidInput` when the file is something else.
    """

    name = "longmemeval"

    def __init__(self, path: Path) -> None:
        content, self.checksum = read_json(path)
        if not isinstance(content, list) or not all(
            isinstance(x, dict) and x.keys() >= _KEYS for x in content
        ):
            raise InvalidInput(
                f"{str(path)!r} is not a LongMemEval file: no list of questions with haystacks"
            )
        self._path = path
        self._content = content
        self._defects: Counter[str] = Counter()
        self._counted = False

    @property
    def defects(self) -> Mapping[str, int]:
        """Flaws met in the haystacks, by kind."""
        if not self._counted:
            for _ in self.cases():
                pass
        return dict(self._defects)

    def cases(self) -> Iterator[Case]:
        """One case a question, made when asked for: the M files are too large to hold twice."""
        defects: Counter[str] = Counter()
        for item in self._content:
            with place(repr(str(self._path))):
                (haystack,) = parse_longmemeval(item)
            yield _case(item, haystack, defects)
        self._defects, self._counted = defects, True


def _case(item: Mapping[str, Any], haystack: LongMemEvalHaystack, defects: Counter[str]) -> Case:
    asked_at = _moment(item["question_date"])
    dates = [_dated(session.said_at, haystack.question_id) for session in haystack.sessions]
    order = sorted(range(len(dates)), key=dates.__getitem__)
    if order != list(range(len(dates))):
        defects["haystack not in order of time"] += 1
    names = item["haystack_session_ids"]
    defects["session named twice in a haystack"] += len(names) - len(set(names))
    defects["session after the question"] += sum(date > asked_at for date in dates)
    ids = {old: SessionId(f"s{new:03d}") for new, old in enumerate(order, start=1)}
    return Case(
        id=CaseId(haystack.question_id),
        sessions=tuple(
            Session(id=ids[i], turns=unnamed(haystack.sessions[i].dialogue.turns), started_at=dates[i])
            for i in order
        ),
        questions=(_question(item, ids, asked_at, dates),),
        official={ids[i]: names[i] for i in order},
    )


def _question(
    item: Mapping[str, Any], ids: Mapping[int, SessionId], asked_at: datetime, dates: list[datetime]
) -> LabelledQuestion:
    evidence_names = set(item["answer_session_ids"])
    places = [i for i, name in enumerate(item["haystack_session_ids"]) if name in evidence_names]
    evidence = tuple(
        Passage(session=ids[i], start=at, end=at + 1)
        for i in places
        for at, turn in enumerate(item["haystack_sessions"][i])
        if turn.get("has_answer")
    )
    return LabelledQuestion(
        id=QuestionId(item["question_id"]),
        text=item["question"],
        category=item["question_type"],
        gold=(str(item["answer"]),),
        asked_at=asked_at,
        evidence=evidence,
        evidence_sessions=tuple(ids[i] for i in places),
        answerable=not item["question_id"].endswith("_abs"),
        flags=frozenset({AFTER}) if any(dates[i] > asked_at for i in places) else frozenset(),
    )


def _moment(written: object) -> datetime:
    """`2023/05/24 (Wed) 08:02`; no zone is written, and none is made up."""
    return _dated(parse_time(written), "a question")


def _dated(moment: datetime | None, where: str) -> datetime:
    if moment is None:
        raise InvalidInput(f"a date is missing in {where!r}: LongMemEval dates every session and question")
    return moment

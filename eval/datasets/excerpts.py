"""Conversations cut into excerpts, each a small memory of its own: what a memory holds in its first days.

A question is asked of the excerpt that holds all of its evidence, and of the next one, where nobody said what
it asks for. It is left out there when the words of its answer stand in that excerpt all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Final

from eval.datasets.view import DatasetView
from eval.types import Case, CaseId, LabelledQuestion, QuestionId, Session
from tiermem.text import stems

SESSIONS: Final = (1, 2, 4)
"""How many sessions an excerpt has, over and over."""
_SIGN: Final = "/"


class Excerpts(DatasetView):
    """The excerpts of a dataset's conversations; checksum and flaws are those of the whole."""

    @property
    def name(self) -> str:
        """Tells it from the whole."""
        return f"{self._dataset.name} in excerpts"

    def cases(self) -> Iterator[Case]:
        """Every excerpt that anything is asked of, in the order of the whole."""
        return (one for case in self._dataset.cases() for one in excerpts(case) if one.questions)


def whole(excerpt: CaseId) -> CaseId:
    """The conversation that an excerpt is of; itself where it is none."""
    return CaseId(excerpt.rpartition(_SIGN)[0] or excerpt)


def excerpts(case: Case) -> list[Case]:
    """The excerpts of one conversation, with their questions; none of a conversation that is too short."""
    cut = list(_cut(case.sessions))
    if len(cut) < 2:
        return []
    excerpt_of = {session.id: at for at, of in enumerate(cut) for session in of}
    said = [[set(stems(turn.text)) for session in of for turn in session.turns] for of in cut]
    asked: list[list[LabelledQuestion]] = [[] for _ in cut]
    for question in case.questions:
        needed = {excerpt_of[passage.session] for passage in question.evidence}
        if len(needed) != 1:
            continue
        (at,) = needed
        asked[at].append(_named(question, at))
        other = (at + 1) % len(cut)
        if question.answerable and not _tells(said[other], question.gold):
            asked[other].append(_unanswerable(_named(question, other)))
    return [
        replace(
            case,
            id=CaseId(f"{case.id}{_SIGN}{at}"),
            sessions=tuple(of),
            questions=tuple(asked[at]),
            official={one.id: case.official[one.id] for one in of if one.id in case.official},
        )
        for at, of in enumerate(cut)
    ]


def _cut(sessions: Sequence[Session]) -> Iterator[Sequence[Session]]:
    start = 0
    for length in cycle(SESSIONS):
        if start >= len(sessions):
            return
        yield sessions[start : start + length]
        start += length


def _named(question: LabelledQuestion, at: int) -> LabelledQuestion:
    return replace(question, id=QuestionId(f"{question.id}{_SIGN}{at}"))


def _unanswerable(question: LabelledQuestion) -> LabelledQuestion:
    return replace(
        question, category="never said", gold=(), evidence=(), evidence_sessions=(), answerable=False
    )


def _tells(said: Sequence[set[str]], gold: Sequence[str]) -> bool:
    """Whether one turn holds all words of an answer."""
    return any(wanted <= words for answer in gold if (wanted := set(stems(answer))) for words in said)

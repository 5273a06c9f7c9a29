"""Sentences of evidence, scored against a question: who says what, and how much of the question it covers.

Both the local engine and the gate read evidence this way. A passage about another person than the
one asked about scores low, however many words it shares: that is the commonest false hit in dialogue.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from tiermem.model import Evidence
from tiermem.reasoning.questions import Question
from tiermem.text import sentences, stem, stems, words
from tiermem.text.readings import People, read_claim, read_turn, speech

_HEADER = re.compile(r"\[(?P<time>[^\]\n]*)\] (?P<rest>[^\n]*(?:\n\t[^\n]*)*)")
OTHER_PERSON = 0.3
"""What the score of a passage about somebody else is multiplied with."""
UNCLEAR_PERSON = 0.8
_AROUND = 0.5
"""What a term counts that stands beside the sentence: in its turn, or in the question it replies to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One sentence of one piece of evidence. `speaker` is "" where the evidence is no direct speech."""

    source: int
    speaker: str
    asked: str
    text: str
    around: str
    said_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A passage, how much of the question it covers (0 to 1), and whether it is about who was asked about."""

    passage: Passage
    coverage: float
    score: float
    right_person: bool
    matched: frozenset[str]


def passages(evidence: Sequence[Evidence]) -> list[Passage]:
    """Every sentence of the evidence, in order."""
    return [
        passage for at, item in enumerate(evidence) for passage in passages_of(item.text, at, item.said_at)
    ]


def passages_of(text: str, source: int, said_at: datetime | None) -> Iterator[Passage]:
    """The sentences of a unit, of a line of a page, or of a whole page."""
    lines = list(_HEADER.finditer(text))
    if not lines:
        yield from _sentences(text, source, said_at)
    for line in lines:
        yield from _sentences(line["rest"].replace("\n\t", " "), source, _time(line["time"]) or said_at)


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.partition(",")[0])
    except ValueError:
        return None


def _sentences(text: str, source: int, said_at: datetime | None) -> Iterator[Passage]:
    own = speech(text)
    speaker, asked, said = (own.speaker, own.asked, own.said) if own else ("", "", text)
    for piece in sentences(said):
        yield Passage(
            source=source, speaker=speaker, asked=asked, text=piece.text, around=said, said_at=said_at
        )


class Matcher:
    """Scores passages against one question. Rare words count more; rarity is measured on these passages."""

    def __init__(self, question: Question, found: Sequence[Passage]) -> None:
        self._question = question
        held = [set(stems(f"{p.text} {p.asked}")) | {stem(word) for word in words(p.speaker)} for p in found]
        counts = Counter(term for terms in held for term in terms)
        self._weight = {
            term: math.log(1 + (len(found) + 1) / (counts[term] + 0.5)) for term in question.terms
        }
        self._speakers = {passage.speaker for passage in found} - {""}
        first_names = {stem(word): name for name in self._speakers for word in words(name)}
        for name in question.names:
            for known in [known for known in first_names if len(name) > 2 and known.startswith(name)]:
                first_names.setdefault(name, first_names[known])  # "Mel" for "Melanie"
        people = [name for name in question.names if name in first_names or name in question.people]
        self._asked_about = {first_names.get(name, name) for name in people}
        self._content = [
            term for term in question.terms if term not in first_names and term not in question.people
        ]
        self._total = sum(self._weight[term] for term in self._content)

    def best(self, found: Sequence[Passage], *, least: float = 0.0) -> list[Scored]:
        """The passages from best to worst, those below `least` left out; equals keep their order."""
        scored = [self.score(passage) for passage in found]
        return sorted((one for one in scored if one.score >= least), key=lambda one: -one.score)

    def score(self, passage: Passage) -> Scored:
        """How well one passage covers the question."""
        near = {stem(word) for word in words(passage.text)}
        far = {stem(word) for word in words(f"{passage.around} {passage.asked}")} - near
        matched = frozenset(term for term in self._content if term in near)
        gained = sum(self._weight[term] for term in matched)
        gained += _AROUND * sum(self._weight[term] for term in self._content if term in far)
        coverage = gained / self._total if self._total else 0.0
        person = self._person(passage, matched)
        if passage.text.endswith("?"):
            person *= 0.5
        person *= 1 - 0.02 * min(passage.source, 10)
        return Scored(
            passage=passage,
            coverage=coverage,
            score=coverage * person,
            right_person=person > OTHER_PERSON,
            matched=matched,
        )

    def _person(self, passage: Passage, matched: frozenset[str]) -> float:
        if not self._asked_about:
            return 1.0
        asked = {stem(word) for name in self._asked_about for word in words(name)}
        speaks = bool(passage.speaker) and self._asked_about <= self._speakers
        if not speaks and asked & {stem(word) for word in words(passage.text)}:
            return 1.0
        owners = {owner for owner in self._owners(passage, matched) if owner}
        if owners & self._asked_about:
            return 1.0
        return UNCLEAR_PERSON if not owners or "?" in owners else OTHER_PERSON

    def _owners(self, passage: Passage, matched: frozenset[str]) -> set[str]:
        others = tuple((self._speakers | self._asked_about) - {passage.speaker})
        people = People(speaker=passage.speaker, others=others)
        read = read_turn if passage.speaker else read_claim
        readings = read(passage.text, people)
        return {one.owner for one in readings if one.stem in matched} or {one.owner for one in readings}

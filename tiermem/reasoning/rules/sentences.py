"""Sentences of evidence, scored against a question: who says what, and how much of the question it covers.

A sentence about another person than the one asked about scores low, however many words it shares: that is
the commonest false hit in dialogue.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from tiermem.model import Evidence
from tiermem.text import sentences, stem, words
from tiermem.text.literals import names
from tiermem.text.question import Question
from tiermem.text.readings import People, read_claim, read_turn, speech
from tiermem.text.words import WORD

_HEADER = re.compile(r"\[(?P<time>[^\[\]\n]*)\] (?P<rest>[^\n]*(?:\n\t[^\n]*)*)")
_SPEAKING = re.compile(r"\b(?:I|my|me|we|our|us|you|your|I['’]\w+|we['’]\w+|you['’]\w+)\b", re.IGNORECASE)
_THIRD_PERSON = re.compile(r"\b(?:he|she|his|her|him|they|their|them)\b", re.IGNORECASE)
OTHER_PERSON = 0.3
"""What the score of a sentence about somebody else is multiplied with."""
UNCLEAR_PERSON = 0.8
"""The same for a sentence that does not say whom it is about."""
_CATEGORY = 0.5
"""What the word for the kind of thing counts: the answer to "which instrument" seldom says instrument."""
_AROUND = 0.5
"""What a term counts that is not in the sentence but in its turn, or in the question that this replies to."""
_ASKS = 0.5
"""What the score of a question is multiplied with."""
_A_PLACE, _PLACES = 0.02, 10
"""What a source loses of its score for each one found before it, and places after which none is lost."""
_FEW_SENTENCES = 30
"""Sentences added to those that were found, so that among a few none of the words seems rare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSentence:
    """One sentence of one piece of evidence. `speaker` is "" where the evidence is no direct speech."""

    source: int
    speaker: str
    asked: str
    text: str
    said_at: datetime | None
    near: frozenset[str]
    """Stems of its words."""
    turn: frozenset[str]
    """Stems of the words of its turn and of the question that replies to: one set for all its sentences."""

    def is_near(self, term: str) -> bool:
        """Whether a stem is around the sentence and not in it."""
        return term in self.turn and term not in self.near


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSentence:
    """A sentence, how much of the question it covers (0 to 1), and whether it is about the right person."""

    sentence: EvidenceSentence
    coverage: float
    score: float
    right_person: bool


def evidence_sentences(evidence: Sequence[Evidence]) -> list[EvidenceSentence]:
    """Every sentence of the evidence, in order."""
    return [
        sentence
        for at, item in enumerate(evidence)
        for sentence in sentences_read(item.text, at, item.said_at)
    ]


def sentences_read(text: str, source: int, said_at: datetime | None) -> Iterator[EvidenceSentence]:
    """The sentences of a unit, of a line of a page, or of a whole page."""
    for time, sentence in _read(text):
        yield replace(sentence, source=source, said_at=time or said_at)


@lru_cache(maxsize=4096)
def _read(text: str) -> tuple[tuple[datetime | None, EvidenceSentence], ...]:
    lines = list(_HEADER.finditer(text))
    if not lines:
        return tuple((None, sentence) for sentence in _sentences(text))
    return tuple(
        (_time(line["time"]), sentence)
        for line in lines
        for sentence in _sentences(line["rest"].replace("\n\t", " "))
    )


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.partition(",")[0])
    except ValueError:
        return None


def _sentences(text: str) -> Iterator[EvidenceSentence]:
    own = speech(text)
    speaker, asked, said = (own.speaker, own.asked, own.said) if own else ("", "", text)
    for piece in sentences(said):
        yield EvidenceSentence(
            source=0,
            speaker=speaker,
            asked=asked,
            text=piece.text,
            said_at=None,
            near=_stems_of(piece.text),
            turn=_turn_stems(said, asked),
        )


@lru_cache(maxsize=64)
def _stems_of(text: str) -> frozenset[str]:
    """Kept for the texts read last: every sentence of a turn has that turn around it."""
    return frozenset(stem(word) for word in words(text))


@lru_cache(maxsize=64)
def _turn_stems(around: str, asked: str) -> frozenset[str]:
    return _stems_of(around) | _stems_of(asked)


def _names_by_word(speakers: Iterable[str], asked: Iterable[str]) -> dict[str, str]:
    """The names of speakers by the stems of their words, and by what is asked for ("Mel" for "Melanie")."""
    names = {stem(word): name for name in speakers for word in words(name)}
    for short in asked:
        for known in [known for known in names if len(short) > 2 and known.startswith(short)]:
            names.setdefault(short, names[known])
    return names


class Matcher:
    """Scores sentences against one question. Rare words count more; rarity is measured on these sentences."""

    def __init__(self, question: Question, found: Sequence[EvidenceSentence]) -> None:
        self._question = question
        counts = {term: sum(term in p.near for p in found) for term in question.terms}
        self._weight = {
            term: math.log(1 + (len(found) + _FEW_SENTENCES) / (count + 1)) for term, count in counts.items()
        }
        if question.kind in ("what", "list") and question.head in self._weight:
            self._weight[question.head] *= _CATEGORY
        self._speakers = {sentence.speaker for sentence in found} - {""}
        first_names = _names_by_word(self._speakers, question.names)
        people = [name for name in question.names if name in first_names or name in question.people]
        self._asked_about = {first_names.get(name, name) for name in people}
        self._content = [
            term for term in question.terms if term not in first_names and term not in question.people
        ]
        self._total = sum(self._weight[term] for term in self._content)

    def best(self, found: Sequence[EvidenceSentence]) -> list[ScoredSentence]:
        """The sentences from best to worst; equals keep their order."""
        return sorted(map(self.score, found), key=lambda one: -one.score)

    def score(self, sentence: EvidenceSentence) -> ScoredSentence:
        """How well one sentence covers the question."""
        matched = frozenset(term for term in self._content if term in sentence.near)
        gained = sum(self._weight[term] for term in matched)
        # An answer to the very question that is asked says none of its words.
        around = 1.0 if sentence.asked and self._question.kind == "yes-no" else _AROUND
        gained += around * sum(self._weight[term] for term in self._content if sentence.is_near(term))
        coverage = gained / self._total if self._total else 0.0
        person = self._person(sentence, matched) if coverage else 1.0
        asks = _ASKS if sentence.text.endswith("?") else 1.0
        return ScoredSentence(
            sentence=sentence,
            coverage=coverage,
            score=coverage * person * asks * (1 - _A_PLACE * min(sentence.source, _PLACES)),
            right_person=person > OTHER_PERSON,
        )

    def _person(self, sentence: EvidenceSentence, matched: frozenset[str]) -> float:
        if not self._asked_about:
            return 1.0
        asked = {stem(word) for name in self._asked_about for word in words(name)}
        speaks = bool(sentence.speaker) and self._asked_about <= self._speakers
        if not speaks and asked & sentence.near:
            return 1.0
        if not speaks and any(map(sentence.is_near, asked)) and _THIRD_PERSON.search(sentence.text):
            return UNCLEAR_PERSON
        if sentence.speaker in self._asked_about and self._names_another(sentence, matched):
            return OTHER_PERSON
        owners = {owner for owner in self._owners(sentence, matched) if owner}
        if owners & self._asked_about:
            return 1.0
        return UNCLEAR_PERSON if not owners or "?" in owners else OTHER_PERSON

    def _names_another(self, sentence: EvidenceSentence, matched: frozenset[str]) -> bool:
        """Whether somebody else is named before the words asked about, and the speaker is not meant."""
        before = sentence.text
        for match in WORD.finditer(sentence.text):
            if stem(match.group().lower()) in matched:
                before = sentence.text[: match.start()]
                break
        known = {*self._question.names, *(stem(word) for name in self._speakers for word in words(name))}
        others = [name for name in names(before) if not known & {stem(word) for word in words(name)}]
        return bool(others) and not _SPEAKING.search(before)

    def _owners(self, sentence: EvidenceSentence, matched: frozenset[str]) -> set[str]:
        others = tuple((self._speakers | self._asked_about) - {sentence.speaker})
        people = People(speaker=sentence.speaker, others=others)
        read = read_turn if sentence.speaker else read_claim
        readings = read(sentence.text, people)
        return {one.owner for one in readings if one.stem in matched} or {one.owner for one in readings}

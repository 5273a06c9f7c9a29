"""Facts about cited sentences that may turn the meaning of an answer: cues, persons, candidates, questions.

A caution says what code saw, and proves nothing: a sentence with "not" may state the answer. Irony, frames in
another sentence and devices in no list have no cue. Who "she" is, is not resolved.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

from pagestore import Span
from tiermem.model import Caution, CautionCode
from tiermem.proof.cues import ENGLISH
from tiermem.proof.derive import term
from tiermem.proof.match import AnswerMatch, Match
from tiermem.proof.sentences import Sentence, Token, read_tokens, units_after
from tiermem.text.readings import idioms
from tiermem.text.words import STOP_WORDS
from tiermem.trust import kind_of_role

CODES: tuple[CautionCode, ...] = get_args(CautionCode)
_FAR = 99
"""Words between two words that are in different sentences, or one of which is in none."""


def _compile(phrases: Iterable[str]) -> re.Pattern[str]:
    """An expression for phrases of the cue files."""
    parts = [
        re.escape(each).replace(r"\*", r"\w*").replace("'", "['’]").replace(r"\ ", r"\s") for each in phrases
    ]
    inside = [part for part in parts if not part.startswith("['’]")]
    after = [part for part in parts if part.startswith("['’]")]
    return re.compile(
        rf"(?:(?<!\w)(?:{'|'.join(inside)})" + (f"|{'|'.join(after)}" if after else "") + r")(?!\w)",
        re.IGNORECASE,
    )


_CUES = {code: _compile(phrases) for code, phrases in ENGLISH.cues.items()}
_SPEECH = _compile(ENGLISH.speech)
_OWN_VIEW = _compile(ENGLISH.own_view)
_CLAUSE_END = re.compile(rf"[,;:()—–]|\s-\s|{_compile(ENGLISH.clause_ends).pattern}", re.IGNORECASE)
_MONTH_OF_MAY = re.compile(r"\bMay\b")
_ADDRESSED = re.compile(
    r"\A(?:(?i:hey|hi|hello|thanks|thank you|wow|yeah|yep|yes|oh|congrats)[,!]?\s)?[A-Z]\w+\s?[,!]"
    r"|,\s[A-Z]\w+(?=[,.!?]|\Z)"
)
_PLACE_BEFORE = re.compile(r"\b(?:in|at|to|from|near|on|around)\s(?:the\s)?\Z", re.IGNORECASE)
_ABOUT_ASSISTANT = re.compile(r"\b(?:assistant|chatbot|bot|ai|you|your)\b", re.IGNORECASE)


def find_cautions(answer: str, match: AnswerMatch, question: str = "") -> tuple[Caution, ...]:
    """Return the cautions of an answer to a question, or of a statement, each code once, in a fixed order.

    `match` is what `find_items` returns for the same answer and question. The codes `inferred` and
    `superseded` are not found in sentences: callers add them.
    """
    subject = _Subject(answer, match, question)
    readings = {id(each.sentence): _Reading(each.sentence, subject) for each in match.matches}
    found: dict[CautionCode, list[Span]] = defaultdict(list)
    stated: set[CautionCode] = set()
    for each in match.matches:
        reading = readings[id(each.sentence)]
        cues = dict(_cues_near(reading, each))
        stated |= cues.keys()
        for code, places in (
            *((code, places) for code, places in cues.items() if code not in subject.cues),
            *_check_persons(reading, each, subject),
            *_check_candidates(reading, each, subject),
        ):
            found[code] += _spans(each.sentence, places)
    if match.matches:
        for code in (subject.cues - stated - {"report"}) | set(_check_sources(match, subject)):
            found.setdefault(code, [])
    return tuple(
        Caution(code=code, spans=tuple(dict.fromkeys(found[code]))) for code in CODES if code in found
    )


_Places = list[tuple[int, int]]
_Finding = tuple[CautionCode, _Places]


class _Subject:
    """What question and answer together say: their words, their cues, and whom they are about."""

    def __init__(self, answer: str, match: AnswerMatch, question: str) -> None:
        self.question = question
        names = {each.sentence.source.speaker for each in match.matches}
        others = {each.sentence.source.addressee for each in match.matches} - {""}
        self.speakers = {name: tuple(token.key for token in read_tokens(name)) for name in names | others}
        self._first_key = {key: keys[0] for keys in self.speakers.values() for key in keys}
        asked, said = read_tokens(question), read_tokens(answer)
        self.keys = {token.key for token in asked if token.is_content} - self._first_key.keys()
        self.said_keys = {token.key for token in (*asked, *said)}
        self.cues = set(_find_cues(_blank(f"{question} {answer}", _SPEECH)))
        self.persons = self._find_persons(question or answer, asked if question else said)
        self.teller = "" if question else self.teller_of(answer, said)

    def person_of(self, token: Token) -> str:
        """The key of a person: one for all names of a speaker."""
        return self._first_key.get(token.key, token.key)

    def key_of(self, name: str) -> str:
        """The key of a speaker or addressee by the whole name; else ""."""
        return next(iter(self.speakers.get(name, ())), "")

    def teller_of(self, statement: str, tokens: Sequence[Token]) -> str:
        """Who says or thinks the rest of a statement, by the verb after the first name; else ""."""
        lead = next((each for each in tokens if each.kind == "name" or each.key in self._first_key), None)
        if lead is None or _CUES["report"].match(statement, lead.end + 1) is None:
            return ""
        return self.person_of(lead)

    def _find_persons(self, text: str, tokens: Sequence[Token]) -> list[str]:
        """Whom it is about: the first name that no preposition of place leads, and all speakers it names."""
        names = [token for token in tokens if token.kind == "name" or token.key in self._first_key]
        lead = next((each for each in names if not _is_place(text, each)), None)
        return list(
            dict.fromkeys(
                self.person_of(token) for token in names if token is lead or token.key in self._first_key
            )
        )


@dataclass(frozen=True, slots=True)
class _Mention:
    """A person named or meant in a sentence; `person` is "" for "she", and for "you" among several."""

    person: str
    start: int
    kind: str


class _Reading:
    """One sentence, read once for all its matches."""

    def __init__(self, sentence: Sentence, subject: _Subject) -> None:
        self.sentence = sentence
        self.speaker = subject.key_of(sentence.source.speaker)
        self.addressee = subject.key_of(sentence.source.addressee)
        self._subject = subject

    @cached_property
    def cues(self) -> dict[CautionCode, _Places]:
        """The cues of the sentence, without those of phrases that only frame what is said."""
        text = _blank(self.sentence.text, _SPEECH)
        return _find_cues(_blank(text, _OWN_VIEW) if self.speaker in self._subject.persons else text)

    @property
    def teller(self) -> str:
        """Who says or thinks the rest of it, as it says itself; else ""."""
        return self._subject.teller_of(self.sentence.text, self.sentence.words)

    @cached_property
    def clause_ends(self) -> list[tuple[int, int]]:
        """Where its clauses end."""
        return [match.span() for match in _CLAUSE_END.finditer(self.sentence.text)]

    @cached_property
    def mentions(self) -> list[_Mention]:
        """The persons named or meant, in order; names that are addressed are left out."""
        addressed = {at for match in _ADDRESSED.finditer(self.sentence.text) for at in range(*match.span())}
        found = []
        for token in self.sentence.words:
            word = token.text.lower().replace("’", "'")
            plain = word.split("'")[0]
            if plain in ENGLISH.first_person:
                kind = "possessive" if plain in ENGLISH.possessives else "first"
                found.append(_Mention(self.speaker, token.start, kind))
            elif plain in ENGLISH.second_person or plain in ENGLISH.third_person:
                is_second = plain in ENGLISH.second_person
                person, kind = (self.addressee, "second") if is_second else ("", "third")
                found.append(_Mention(person, token.start, kind))
            elif token.kind == "name" and token.start not in addressed:
                person = self._subject.person_of(token)
                found.append(_Mention(person, token.start, "possessive" if "'" in word else "name"))
        return found

    @cached_property
    def content(self) -> list[Token]:
        """Its content words."""
        return [token for token in self.sentence.words if token.is_content]

    @cached_property
    def marks(self) -> list[int]:
        """The numbers of its content words that are words of the question."""
        return [at for at, token in enumerate(self.content) if token.key in self._subject.keys]

    @cached_property
    def candidates(self) -> dict[str, list[tuple[float, tuple[int, int], bool]]]:
        """By kind, each date, number and name: its distance, its place, whether it can be another answer.

        A number of a thing that is asked about has the distance 0. Names of question and answer, and the
        first word of the sentence, are no other answer.
        """
        found: dict[str, list[tuple[float, tuple[int, int], bool]]] = defaultdict(list)
        text, words = self.sentence.text, self.sentence.words
        starts = [token.start for token in self.content]
        for date in self.sentence.dates:
            place = bisect_left(starts, date.start) - 0.5
            found["date"].append((self._distance(place), (date.start, date.end), True))
        place = -1
        for at, token in enumerate(words):
            place += token.is_content
            distance = self._distance(place)
            if token.kind == "number" and any(
                unit.key in self._subject.keys for unit in units_after(text, words, at)
            ):
                distance = 0
            is_other = token.kind == "number" or (
                token.start > 0 and token.key not in self._subject.said_keys
            )
            if token.kind in ("number", "name"):
                found[token.kind].append((distance, (token.start, token.end), is_other))
        return found

    def _distance(self, place: float) -> float:
        """Words from a place among the content words to the nearest word of the question."""
        at = bisect_left(self.marks, place)
        return min((abs(place - mark) for mark in self.marks[max(0, at - 1) : at + 1]), default=_FAR)


def _is_place(text: str, name: Token) -> bool:
    """Whether a preposition makes a name a place: "in Rome", but not "at Ann's"."""
    before = text[max(0, name.start - _FAR) : name.start]
    return _PLACE_BEFORE.search(before) is not None and "'" not in name.text.replace("’", "'")


def _blank(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(lambda match: "_" * len(match.group()), text)


def _find_cues(text: str) -> dict[CautionCode, _Places]:
    """The cues of a text by their code."""
    for idiom in dict.fromkeys(idioms(text)):
        text = text.replace(idiom, "_" * len(idiom))
    text = _blank(text, _MONTH_OF_MAY)
    cues = {code: [match.span() for match in pattern.finditer(text)] for code, pattern in _CUES.items()}
    return {code: places for code, places in cues.items() if places}


def _cues_near(reading: _Reading, match: Match) -> Iterator[_Finding]:
    """The cues of the clauses that hold the matched words; conditions and exceptions after them count too."""
    start, end = _clause(reading, match)
    for code, places in reading.cues.items():
        is_open = code in ("condition", "exception")
        near = [place for place in places if start <= place[0] and (place[0] < end or is_open)]
        if near:
            yield code, near


def _clause(reading: _Reading, match: Match) -> tuple[int, int]:
    """From a "but" or semicolon before the matched words to the end of the clause after them."""
    text = reading.sentence.text
    first = min((start for start, _ in match.places), default=0)
    last = max((end for _, end in match.places), default=len(text))
    starts = [
        stop for at, stop in reading.clause_ends if stop <= first and text[at:stop].lower() in (";", "but")
    ]
    ends = (at for at, _ in reading.clause_ends if at >= last)
    return max(starts, default=0), next(ends, len(text))


def _check_persons(reading: _Reading, match: Match, subject: _Subject) -> Iterator[_Finding]:
    """The cautions `person` and `relative`."""
    first = min((start for start, _ in match.places), default=0)
    before = [each for each in reading.mentions if each.start <= first]
    lead = before[-1] if before else None
    is_of_another = _is_of_another if subject.question else _is_claimed_of_another
    is_other = bool(subject.persons) and is_of_another(reading, lead, subject)
    if is_other or _is_in_other_order(reading, match, subject):
        yield "person", []
    elif lead is not None and lead.kind == "possessive" and lead.person in subject.persons:
        after = next((token for token in reading.content if token.start > lead.start + 1), None)
        is_self = any(each.kind == "first" for each in before)
        if after and after.key not in subject.said_keys and after.start < first and not is_self:
            yield "relative", [(lead.start, after.end)]


def _is_of_another(reading: _Reading, lead: _Mention | None, subject: _Subject) -> bool:
    """Whether the person asked about neither speaks nor is named, or the words are of another."""
    present = {each.person for each in reading.mentions}
    if not {*present, reading.speaker} & {*subject.persons}:
        return True
    if lead is None:
        return False
    if lead.kind in ("second", "third"):
        return not present & {*subject.persons}
    return lead.kind == "name" and lead.person not in {*subject.persons, *subject.said_keys}


def _is_claimed_of_another(reading: _Reading, lead: _Mention | None, subject: _Subject) -> bool:
    """Whether the person who leads a statement is not the one who leads the sentence."""
    if subject.teller and subject.teller not in (reading.speaker, reading.teller):
        return True
    mentions = reading.mentions
    leading = lead or (mentions[0] if mentions else _Mention(reading.speaker, 0, "first"))
    return leading.person != subject.persons[0] and leading.person not in subject.said_keys


def _is_in_other_order(reading: _Reading, match: Match, subject: _Subject) -> bool:
    """Whether the names of an item are in another order than in the sentence."""
    names = list(dict.fromkeys(subject.person_of(each) for each in match.item.tokens if each.kind == "name"))
    there = list(dict.fromkeys(each.person for each in reading.mentions))
    return [each for each in names if each in there] != [each for each in there if each in names]


def _check_candidates(reading: _Reading, match: Match, subject: _Subject) -> Iterator[_Finding]:
    """The caution `competing`: another date, number or name as near to the words of the question."""
    if not subject.question or match.item.is_claim:
        return
    chosen = {start for start, _ in match.places}
    for group in reading.candidates.values():
        nearest = min((distance for distance, place, _ in group if place[0] in chosen), default=-1)
        others = [
            place
            for distance, place, is_other in group
            if is_other and place[0] not in chosen and distance <= nearest
        ]
        if others:
            yield "competing", others


def _check_sources(match: AnswerMatch, subject: _Subject) -> Iterator[CautionCode]:
    """The cautions about whole sentences, and who says them."""
    sentences = [each.sentence for each in match.matches]
    if any(each.is_question for each in sentences):
        yield "question"
    is_of_assistant = all(kind_of_role(each.source.role) == "assistant" for each in sentences)
    if is_of_assistant and not _ABOUT_ASSISTANT.search(subject.question):
        yield "assistant"
    if all(each.source.concluded for each in sentences):
        yield "memory"
    if any(not _is_english(each) for each in sentences):
        yield "language"
    keys = {token.key for each in sentences for token in each.words}
    if subject.question and not subject.keys & keys:
        yield "topic"


def _is_english(sentence: Sentence) -> bool:
    """Whether it has Latin letters and no more function words of other languages than English ones."""
    words = [token.text.lower() for token in sentence.words]
    other = sum(word in ENGLISH.other_languages for word in words)
    is_latin = sum(char.isascii() for char in sentence.text) * 2 >= len(sentence.text)
    return is_latin and other <= sum(word in STOP_WORDS for word in words)


def _spans(sentence: Sentence, places: _Places) -> Iterator[Span]:
    source = sentence.as_source
    return (span for start, end in places for span in term(source, start, end).spans)

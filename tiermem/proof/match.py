"""Find the items of an answer in cited sentences: what is quoted, what is computed, what is unsupported.

An item is quoted if it is a literal run of words of one sentence that is no question, or the name of its
speaker. Case, punctuation, articles, plural and possessive endings are ignored. Dates, numbers and names are
found before an answer is split into items. Words are compared by inflection only, numbers by value with sign,
unit, am or pm, dates by the days they mean. The day on which a turn was said is no date that it states.

Not checked: irony, frames in another sentence, who "she" is, what words mean, and how they are combined. The
right words of different sentences support an answer that no sentence states.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from tiermem.model import Derivation
from tiermem.proof.cues import ENGLISH
from tiermem.proof.date_phrases import counted_from_date, part_of_month
from tiermem.proof.derive import counted_date
from tiermem.proof.sentences import ARTICLES, Sentence, Token, read_tokens, units_after
from tiermem.proof.unsupported import TIME_WORDS
from tiermem.text.dates import DateMention, resolve_dates, without_dates
from tiermem.text.words import sentences as split_sentences
from tiermem.text.words import stem

LONGEST_ANSWER = 4_000
"""Characters of an answer up to which it is checked."""
_MOST_ITEMS = 64
"""Items and dates of one answer that are looked for; the rest is unsupported."""
_MOST_SENTENCES = 8
"""Sentences that may hold the words of one item together."""
_NEAR = 60
"""Characters before a date that may hold words such as "the week before"."""
_YES_OR_NO = re.compile(
    r"(?:yes|no|yep|nope|yeah|true|false|correct|maybe|likely|probably|unlikely)\b", re.IGNORECASE
)
_LIST = re.compile(r"[,;&\n]|\b(?:and|or|as well as|plus)\b", re.IGNORECASE)
_CLAUSES = re.compile(r"[;\n]|,\s?(?:and|but)\b", re.IGNORECASE)
_LIMIT = re.compile(r"\b(?:as of|by|before)\s(?:the\s)?\Z", re.IGNORECASE)
_NO_WORD = -1
SupportLabel = Literal["quoted", "computed", "worded"]
Places = dict[int, int]
"""By the number of a sentence, which of its words it is; `_NO_WORD` for a date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerItem:
    """One item of a list, or one clause of a statement, with its places in the whole answer.

    `is_claim` marks the words of the question, if the answer is a yes or no.
    """

    whole: str
    tokens: tuple[Token, ...]
    dates: tuple[AnswerDate, ...] = ()
    is_claim: bool = False

    @property
    def words(self) -> str:
        """The words of the item as a quotation must have them: without articles, and without words at the
        ends that only lead to a date.
        """
        tokens = [token for token in self.tokens if token.literal not in ARTICLES]
        content = [at for at, token in enumerate(tokens) if token.is_content]
        if self.dates:
            tokens = tokens[content[0] : content[-1] + 1] if content else []
        return _join_literals(tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDate:
    """A date of an answer: the days it means, and the date they are counted from ("the week before …").

    `is_limit` marks "by", "as of" or "before" in front of the date of a statement: what a turn says has the
    day of saying as a limit.
    """

    mention: DateMention
    anchor: DateMention | None = None
    is_limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A sentence with words of one item; `places` are the characters of these words in the sentence."""

    item: AnswerItem
    sentence: Sentence
    places: tuple[tuple[int, int], ...]
    is_quoted: bool
    computations: tuple[Derivation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMatch:
    """The matches of all items, and the words of the answer that nothing supports.

    Without matches nothing was checked: the answer is empty, too long, or shares no word with the sentences.
    """

    matches: tuple[Match, ...] = ()
    unsupported: tuple[str, ...] = ()

    @property
    def computations(self) -> tuple[Derivation, ...]:
        """The dates that were counted from a relative expression, each once."""
        return tuple(dict.fromkeys(each for match in self.matches for each in match.computations))

    @property
    def support(self) -> SupportLabel:
        """The label: `quoted`, `computed` or `worded`."""
        if self.unsupported or not self.matches or not all(match.is_quoted for match in self.matches):
            return "worded"
        return "computed" if self.computations else "quoted"


def find_items(answer: str, sentences: Sequence[Sentence], question: str = "") -> AnswerMatch:
    """Find each item of `answer` in the sentences; without a question, `answer` is a statement.

    A word is supported by a cited sentence, the name of its speaker or of whom it calls "you", the question
    or a computation. Of a yes or no the words of the question are the claim, and need support.
    """
    if len(answer) > LONGEST_ANSWER:
        return AnswerMatch()
    said_at = next((each.source.said_at for each in sentences if each.source.said_at), None)
    search = _Search(sentences, question, is_claim=_YES_OR_NO.match(answer) is not None)
    matches: list[Match] = []
    unsupported: list[str] = []
    for number, item in enumerate(_items_of(answer, question, said_at)):
        if number == _MOST_ITEMS:
            unsupported.append(answer[item.tokens[0].start if item.tokens else 0 :])
            break
        found, missing = search.find(item)
        matches += found
        unsupported += missing
    return AnswerMatch(matches=tuple(matches), unsupported=tuple(dict.fromkeys(unsupported)))


def _items_of(answer: str, question: str, said_at: datetime | None) -> Iterator[AnswerItem]:
    """The items of an answer; of a yes or no, the question first."""
    opening = _YES_OR_NO.match(answer) if question else None
    if opening is not None:
        asked = _dates_of(question, said_at)
        tokens = read_tokens(without_dates(question, [date.mention for date in asked]))
        yield AnswerItem(whole=question, tokens=tokens, dates=asked, is_claim=True)
        answer = " " * opening.end() + answer[opening.end() :]
    dates = _dates_of(answer, said_at)
    if not question:
        dates = tuple(_with_limit(date, answer) for date in dates)
    tokens = read_tokens(without_dates(answer, [date.mention for date in dates]))
    for start, end in _cut_items(answer, tokens, dates, _LIST if question else _CLAUSES):
        inside = tuple(token for token in tokens if start <= token.start < end)
        near = tuple(date for date in dates if start <= date.mention.start < end)
        if near or any(token.is_content for token in inside):
            yield AnswerItem(whole=answer, tokens=inside, dates=near)


def _cut_items(
    answer: str, tokens: Sequence[Token], dates: Sequence[AnswerDate], separator: re.Pattern[str]
) -> Iterator[tuple[int, int]]:
    """Cut an answer at separators outside dates and numbers, and at the ends of sentences."""
    whole = [(date.mention.start, date.mention.end) for date in dates]
    whole += [(token.start, token.end) for token in tokens if token.kind == "number"]
    plain = list(answer)
    for start, end in whole:
        plain[start:end] = "_" * (end - start)
    text = "".join(plain)
    for piece in split_sentences(answer):
        start = piece.start
        for match in separator.finditer(text, piece.start, piece.end):
            yield start, match.start()
            start = match.end()
        yield start, piece.end


def _dates_of(text: str, said_at: datetime | None) -> tuple[AnswerDate, ...]:
    """The absolute dates of an answer; one that counts from another begins with the words that say so."""
    dates: list[AnswerDate] = []
    for mention in resolve_dates(text, said_at):
        if mention.kind == "absolute":
            before = text[max(0, mention.start - _NEAR) : mention.start]
            counted = counted_from_date(mention, before)
            dates.append(
                AnswerDate(mention=counted, anchor=mention)
                if counted
                else AnswerDate(mention=part_of_month(mention, before))
            )
    return tuple(dates)


def _with_limit(date: AnswerDate, statement: str) -> AnswerDate:
    """The date with the words before it that make it a limit, if there are any."""
    start = date.mention.start
    limit = _LIMIT.search(statement, max(0, start - _NEAR), start)
    if limit is None or date.anchor is not None:
        return date
    return AnswerDate(mention=replace(date.mention, start=limit.start()), is_limit=True)


class _Search:
    """The words of the sentences, by which items are found."""

    def __init__(self, sentences: Sequence[Sentence], question: str, *, is_claim: bool) -> None:
        self._sentences = sentences
        self._literals = [f" {_join_literals(sentence.words)} " for sentence in sentences]
        self._by_key: dict[str, dict[int, int]] = defaultdict(dict)
        self._numbers: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._number_places: dict[tuple[str, frozenset[str], frozenset[str]], Places] = {}
        for number, sentence in enumerate(sentences):
            for at, token in enumerate(sentence.words):
                self._by_key[token.key].setdefault(number, at)
                if token.number:
                    self._numbers[token.number].append((number, at))
        persons = dict.fromkeys(sentence.source.speaker for sentence in sentences)
        persons |= dict.fromkeys(each.source.addressee for each in sentences if _addresses(each))
        self._speaker_keys = {token.key for name in persons for token in read_tokens(name)}
        self._question, self._asked = question, read_tokens(question)
        self._asked_keys = {token.key for token in self._asked if token.is_content}
        self._free_keys = self._speaker_keys if is_claim else self._speaker_keys | self._asked_keys
        self._asked_days = [] if is_claim else [date.mention for date in _dates_of(question, None)]
        near = self._asked_keys - self._speaker_keys
        self._overlap = Counter(number for key in near for number in self._by_key.get(key, ()))

    def find(self, item: AnswerItem) -> tuple[list[Match], list[str]]:
        """Return the fewest sentences that hold the supported words of an item, and what none supports."""
        holders, computations, missing = self._find_dates(item)
        free: dict[str, Places] = {}
        for at, token in enumerate(item.tokens):
            is_one = token.literal == "one" and bool(units_after(item.whole, item.tokens, at))
            if not (token.is_content or is_one) or (item.dates and stem(token.text.lower()) in TIME_WORDS):
                continue
            found = self._places_of(item, at)
            if self._is_free(item, at):
                free[token.key] = found
            elif found:
                holders[token.key] = found
            elif not missing or missing[-1][0] + len(missing[-1][1]) <= token.start:
                missing.append((token.start, _number_phrase(item, at)))
        chosen = self._choose(item, holders, free)
        has_limit = any(date.is_limit for date in item.dates)
        is_complete = len(chosen) == 1 and not (missing or item.is_claim or has_limit)
        places = (*holders.values(), *free.values())
        matches = [
            Match(
                item=item,
                sentence=self._sentences[number],
                places=self._characters(item, number, places),
                is_quoted=is_complete and self._is_quoted(item, number),
                computations=computations.get(number, ()),
            )
            for number in chosen
        ]
        return matches, [text for _, text in sorted(missing)]

    def _is_free(self, item: AnswerItem, at: int) -> bool:
        """Whether a token repeats the question, or names a speaker; a number must count the same there."""
        token = item.tokens[at]
        if token.kind != "number":
            return token.key in self._free_keys
        units = {unit.key for unit in units_after(item.whole, item.tokens, at)}
        return not item.is_claim and any(
            each.key == token.key
            and (not units or units & {unit.key for unit in units_after(self._question, self._asked, place)})
            for place, each in enumerate(self._asked)
        )

    def _places_of(self, item: AnswerItem, at: int) -> Places:
        """Where the sentences support one token."""
        token = item.tokens[at]
        if token.kind != "number" and token.literal != "one":
            return self._by_key.get(token.key, {})
        units = frozenset(unit.key for unit in units_after(item.whole, item.tokens, at))
        wanted = (token.number, token.marks, units)
        if wanted not in self._number_places:
            self._number_places[wanted] = self._places_of_number(*wanted)
        return self._number_places[wanted]

    def _places_of_number(self, value: str, marks: frozenset[str], units: frozenset[str]) -> Places:
        """Where a number has the same marks and counts the same, or nothing that is named after it."""
        found: Places = {}
        for number, place in self._numbers.get(value, ()):
            sentence = self._sentences[number]
            near = {unit.key for unit in units_after(sentence.text, sentence.words, place)}
            things = sentence.words[place].marks | near
            is_same = not units or bool(units & things)
            if not is_same and not near:
                is_same = any(
                    unit in self._asked_keys or number in self._by_key.get(unit, ()) for unit in units
                )
            is_article = sentence.words[place].literal in ARTICLES
            if marks <= things and is_same and (not is_article or units & near):
                found.setdefault(number, place)
        return found

    def _find_dates(
        self, item: AnswerItem
    ) -> tuple[dict[str, Places], dict[int, tuple[Derivation, ...]], list[tuple[int, str]]]:
        """The sentences that give each date, what is computed of them, and the dates that none gives."""
        places: dict[str, Places] = {}
        computations: dict[int, tuple[Derivation, ...]] = {}
        missing: list[tuple[int, str]] = []
        order = sorted(range(len(self._sentences)), key=lambda number: (-self._overlap[number], number))
        for date in item.dates:
            wanted = date.mention
            stated = [number for number in order if _states(self._sentences[number], wanted)]
            if stated and date.anchor is None:
                places[wanted.text] = dict.fromkeys(stated, _NO_WORD)
            elif any(each.holds(wanted.first, wanted.last) for each in self._asked_days):
                continue
            elif date.is_limit and (said := [at for at in order if _is_said_on(self._sentences[at], wanted)]):
                places[wanted.text] = dict.fromkeys(said, _NO_WORD)
            elif (found := self._compute_date(date, order)) is not None:
                number, computed = found
                places[wanted.text] = {number: _NO_WORD}
                computations[number] = (*computations.get(number, ()), computed)
            else:
                missing.append((wanted.start, item.whole[wanted.start : wanted.end]))
        return places, computations, missing

    def _compute_date(self, date: AnswerDate, order: Sequence[int]) -> tuple[int, Derivation] | None:
        """The first sentence with a relative expression that gives the date, and the computation."""
        if date.anchor is not None and not self._is_known_day(date.anchor):
            return None
        for number in order:
            computed = counted_date(date.mention, [self._sentences[number].as_source])
            if computed is not None:
                return number, computed
        return None

    def _is_known_day(self, day: DateMention) -> bool:
        """Whether a sentence states a day or was said on it: other dates may be counted from it."""
        return any(_is_said_on(each, day) or _states(each, day) for each in self._sentences)

    def _choose(self, item: AnswerItem, holders: dict[str, Places], free: dict[str, Places]) -> list[int]:
        """The fewest sentences with the words of an item; of equals the one nearest to the question."""
        remaining = set(holders)
        extra = Counter(number for places in free.values() for number in places)
        counts = Counter(number for places in holders.values() for number in places)
        if not counts:
            counts = extra or self._overlap or Counter(range(len(self._sentences)))
        chosen: list[int] = []
        while counts and len(chosen) < _MOST_SENTENCES:
            chosen.append(
                max(
                    counts,
                    key=lambda number: (
                        not self._sentences[number].is_question,
                        counts[number],
                        self._is_quoted(item, number),
                        extra[number],
                        self._overlap[number],
                        -number,
                    ),
                )
            )
            remaining = {key for key in remaining if chosen[-1] not in holders[key]}
            counts = Counter(number for key in remaining for number in holders[key])
        return sorted(chosen)

    def _is_quoted(self, item: AnswerItem, number: int) -> bool:
        """Whether the item is a literal run of words of the sentence, or the name of its speaker."""
        sentence = self._sentences[number]
        if sentence.is_question:
            return False
        speaker = f" {_join_literals(read_tokens(sentence.source.speaker))} "
        return any(f" {item.words} " in f" {text} " for text in (self._literals[number], speaker))

    def _characters(
        self, item: AnswerItem, number: int, places: Iterable[Places]
    ) -> tuple[tuple[int, int], ...]:
        """The characters of the words and dates of an item in a sentence."""
        sentence = self._sentences[number]
        ats = sorted({found[number] for found in places if found.get(number, _NO_WORD) != _NO_WORD})
        tokens = [(sentence.words[at].start, sentence.words[at].end) for at in ats]
        dates = [
            (mention.start, mention.end)
            for mention in sentence.dates
            if any(mention.holds(date.mention.first, date.mention.last) for date in item.dates)
        ]
        return tuple(dict.fromkeys((*tokens, *dates)))


def _number_phrase(item: AnswerItem, at: int) -> str:
    """A token as it is displayed: a number with what it counts."""
    token = item.tokens[at]
    units = units_after(item.whole, item.tokens, at) if token.number else ()
    return item.whole[token.start : units[0].end if units else token.end]


def _join_literals(tokens: Iterable[Token]) -> str:
    return " ".join(token.literal for token in tokens if token.literal not in ARTICLES)


def _addresses(sentence: Sentence) -> bool:
    """Whether it says "you"."""
    return any(token.text.lower().split("'")[0] in ENGLISH.second_person for token in sentence.words)


def _is_said_on(sentence: Sentence, day: DateMention) -> bool:
    """Whether a sentence was said on one of these days."""
    said_at = sentence.source.said_at
    return said_at is not None and day.first <= said_at.date() <= day.last


def _states(sentence: Sentence, day: DateMention) -> bool:
    """Whether a sentence names these days, or days among them."""
    return any(each.kind == "absolute" and each.holds(day.first, day.last) for each in sentence.dates)

"""The parts of a text that must not change on the way from page to answer: numbers, dates, names, negation.

A summary may leave out or reword anything else; a wrong literal is a wrong fact. Numbers are compared
by value ("three" is 3), dates by the days they mean, names by their words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from unicodedata import decimal

from pagestore import Page, Span, Turn
from tiermem.text.dates import MONTHS, WEEKDAYS, DateMention, resolve_dates, without_dates
from tiermem.text.long_runs import blank_runs
from tiermem.text.rare import COMMON, rare_words
from tiermem.text.readings import is_negated
from tiermem.text.words import STOP_WORDS, WORD, sentences, stem, word_list, words

_UNITS = {
    word: n
    for n, word in enumerate(
        word_list("""
            zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
            fifteen sixteen seventeen eighteen nineteen
        """)
    )
}
_TENS = {
    word: n * 10
    for n, word in enumerate(word_list("twenty thirty forty fifty sixty seventy eighty ninety"), 2)
}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "twelfth": 12,
}  # fmt: skip
_SAME_NUMBER = {
    "dozen": 12,
    "couple": 2,
    "twice": 2,
    "both": 2,
    "pair": 2,
    "once": 1,
    "single": 1,
    "twin": 2,
    "twins": 2,
}
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_THOUSANDS = re.compile(r",(?=\d{3}\b)")
_NOT_NAMES = STOP_WORDS | frozenset(MONTHS) | frozenset(WEEKDAYS) | frozenset(
    word_list("""
        yes no yeah yep nope hey hi hello wow thanks thank oh ok okay well great cool sure awesome
        congrats congratulations nice glad sorry good absolutely definitely totally hope maybe also
        actually anyway lately recently today tomorrow yesterday tonight unknown none not never nothing
        sounds got going gotta remember keep take thx ah aw aww hmm haha lol bye exactly amazing true
        right let's unfortunately one two three four five six seven eight nine ten both many much since
        though although however despite still currently around another besides among people most many
        last next every everyone someone anyone something everything mr mrs ms dr st
    """)
)  # fmt: skip

_GERMAN = frozenset(
    word_list("""
        auch auf das dem den der die du ein eine einen es für ich im ist mit nicht noch sie und von wir zu
    """)
)
"""Frequent words of a language in which every noun has a capital."""


@dataclass(frozen=True, slots=True)
class Literals:
    """What of a text must be kept exactly. `names` and `negations` keep the text's own spelling."""

    numbers: frozenset[str]
    dates: tuple[DateMention, ...]
    names: tuple[str, ...]
    negations: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.numbers) + len(self.dates) + len(self.names) + len(self.negations)


@lru_cache(maxsize=128)
def literals(text: str, said_at: datetime | None = None) -> Literals:
    """Numbers, dates, proper names and negated statements of `text`; those of the texts read last are kept.

    Numbers inside a date expression count as its date only. Relative dates need `said_at`.
    """
    dates = resolve_dates(text, said_at)
    return Literals(
        numbers=frozenset(numbers(without_dates(text, dates))),
        dates=dates,
        names=tuple(dict.fromkeys(names(text))),
        negations=tuple(piece.text for piece in sentences(text) if is_negated(piece.text)),
    )


def numbers(text: str, *, loose: bool = False) -> list[str]:
    """The numbers of `text` by value, figures or words: "1,500", "fifteen hundred" and "1500" are equal.

    A lone "one" or "first" is seldom meant as a number and is left out. `loose` adds words that say a
    number without asserting it ("both", "twice"): enough to support one, not to need support.
    """
    found = [_figure(match.group()) for match in _FIGURE.finditer(text)]
    run: list[str] = []
    for word in [*words(text), ""]:
        if word in NUMBER_PARTS or (word == "and" and run):
            run.append(word)
            continue
        found += _spoken(run)
        run = []
        if loose and word in _SAME_NUMBER:
            found.append(str(_SAME_NUMBER[word]))
    return found


NUMBER_PARTS = frozenset((*_UNITS, *_TENS, *_SCALES, *ORDINALS))


def _figure(text: str) -> str:
    """A figure by its value, worked out digit by digit: `int` reads no more than 4,300 of them."""
    plain = _THOUSANDS.sub("", text)
    if not plain.isascii():
        plain = "".join(str(decimal(char)) if char.isdecimal() else char for char in plain)
    whole, _, rest = plain.partition(".")
    if not whole.isdecimal() or not (rest or "0").isdecimal():
        return plain
    return f"{whole.lstrip('0') or '0'}.{rest.rstrip('0')}".rstrip(".")


def _spoken(run: Sequence[str]) -> Iterator[str]:
    """The values of a run of number words: "two hundred and five" is one value, "two, three" are two."""
    total, group, last = 0, 0, ""
    for word in [*(word for word in run if word != "and"), ""]:
        value = _UNITS.get(word, ORDINALS.get(word, 0))
        # Of "hundred hundred" each is a number, or a run of them would be one of any length.
        if last and (not _continues(last, word) or (word == "hundred" and group >= 100)):
            if last not in ("one", "first") or total + group != 1:
                yield str(total + group)
            total, group = 0, 0
        if word in _SCALES:
            group = max(group, 1) * _SCALES[word]
            if _SCALES[word] >= 1_000:
                total, group = total + group, 0
        else:
            group += _TENS.get(word, value)
        last = word


def _continues(last: str, word: str) -> bool:
    if not word:
        return False
    if word in _SCALES:
        return True
    small = word in _UNITS or word in ORDINALS
    return (last in _TENS and small) or (last in _SCALES and (small or word in _TENS))


def names(text: str) -> list[str]:
    """Proper names: capitalised words inside a sentence, and at its start those that are no ordinary opener.

    Words that follow each other ("New York") are one name; the possessive ending is left out.
    """
    return [name for piece in sentences(text) for name in _names_of(piece.text)]


def _names_of(sentence: str) -> Iterator[str]:
    run: list[str] = []
    last_end = 0
    for match in WORD.finditer(sentence):
        word = match.group().replace("’", "'").removesuffix("'s")
        joined = sentence[last_end : match.start()] in (" ", "-", ". ", " & ")
        last_end = match.end()
        if run and not joined:
            yield " ".join(run)
            run = []
        if _is_name(word, first=match.start() <= 1):
            run.append(word)
        elif run:
            yield " ".join(run)
            run = []
    if run:
        yield " ".join(run)


def _is_name(word: str, *, first: bool) -> bool:
    if not word[0].isupper() or word.lower() in _NOT_NAMES or "'" in word[:3]:
        return False
    # "Painting helps me": a capital at the start of a sentence says nothing about words with these endings.
    return not (first and word.lower().endswith(("ing", "ly", "ed", "n't")))


def named_in(name: str, stems_there: Collection[str]) -> bool:
    """Whether every word of `name` is among the stems `held`; "Japanese" is held by "Japan"."""
    return all(
        stem(word) in stems_there or any(root in stems_there for root in _roots(word)) for word in words(name)
    )


def _roots(word: str) -> Iterator[str]:
    for ending in ("ese", "ian", "an", "ish"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= 4:
            yield from (stem(root + vowel) for vowel in ("", "a", "y", "o"))


@dataclass(frozen=True, slots=True)
class Source:
    """Words an answer may rest on, with their time, speaker and spans.

    With one span as long as `text`, every part of the text can be pointed at. `concluded` are those that
    another memory made of words which it does not show. `role` is that of the turn, if it has one, and
    `addressee` the only other speaker of the conversation, whom "you" means.
    """

    text: str
    said_at: datetime | None = None
    speaker: str = ""
    spans: tuple[Span, ...] = ()
    concluded: bool = False
    role: str = ""
    addressee: str = ""


def unsupported_literals(answer: str, sources: Sequence[Source | str]) -> tuple[str, ...]:
    """The numbers, dates and proper names of `answer` that no source holds, in its own spelling.

    A date is supported when a source names it, when it follows from a date expression of a source and
    its time, or when it is the time of a source, whole or in part. A number is supported only
    when a source states it, also one that counts what the sources list.
    """
    cited = [source if isinstance(source, Source) else Source(source) for source in sources]
    moment = next((source.said_at for source in cited if source.said_at is not None), None)
    dates = [mention for mention in resolve_dates(answer, moment) if mention.kind == "absolute"]
    return tuple(dict.fromkeys((
        *_missing_dates(dates, cited),
        *missing_numbers(numbers(without_dates(answer, dates)), cited),
        *missing_names(names(answer), cited),
    )))  # fmt: skip


def _missing_dates(dates: Sequence[DateMention], sources: Sequence[Source]) -> list[str]:
    days_there = days_of(sources if dates else ())
    days = {(mention.first, mention.last) for mention in dates}
    missing = {(a, b) for a, b in days if not any(a <= first and last <= b for first, last in days_there)}
    return [mention.text for mention in dates if (mention.first, mention.last) in missing]


def days_of(sources: Sequence[Source]) -> set[tuple[date, date]]:
    """First and last day of every date that the sources tell, and the days on which they were said."""
    times = {source.said_at.date() for source in sources if source.said_at is not None}
    dates = (found for source in sources for found in resolve_dates(source.text, source.said_at))
    return {(day, day) for day in times} | {(found.first, found.last) for found in dates}


def missing_numbers(wanted: Collection[str], sources: Iterable[Source]) -> list[str]:
    """The numbers that no source holds, in the order given."""
    texts = (source.text for source in sources) if wanted else ()
    numbers_there = {number for text in texts for number in numbers(text, loose=True)}
    return [number for number in wanted if number not in numbers_there]


def missing_names(wanted: Collection[str], sources: Iterable[Source]) -> list[str]:
    """The names that no source holds, in the order given; a source holds its speaker's name."""
    texts = (f"{source.speaker} {source.text}" for source in sources) if wanted else ()
    stems_there = {stem(word) for text in texts for word in words(text)}
    return [name for name in wanted if not named_in(name, stems_there)]


def omissions(page: Page, unit_texts: Iterable[str]) -> tuple[str, ...]:
    """Literals and rare words of `page` that none of its units keeps, each as "kind: words", in page order.

    A negated statement is preserved when a negated unit holds half of its content words, a rare word when a
    unit holds its stem, a date when a unit holds its days or its words. Common words with a capital are no
    names, and of a German page no word is one. On 154 pages of LoCoMo, facts that a language model wrote keep
    64 % of the literals (3.2 of 8.8 a page are lost) and 71 % of the rare words (2.5 of 8.8), of all content
    words 46 %. Of the rare words lost 2.8 % are in an expected answer.
    """
    return omissions_and_count(page, unit_texts)[0]


def omissions_and_count(page: Page, unit_texts: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """The `omissions` of a page, and how many literals and rare words it has that a unit could keep."""
    units, has_names = _UnitWords(list(unit_texts)), not _is_german(page)
    turns = (line.turn for line in page.lines if line.turn is not None)
    is_kept: dict[str, bool] = {}
    for turn in turns:
        for text, kept in units.compare_literals(turn, has_names=has_names):
            is_kept[text] = is_kept.get(text, True) and kept
    return tuple(text for text, kept in is_kept.items() if not kept), len(is_kept)


class _UnitWords:
    """The numbers, dates, words and negated statements that the units of a page keep."""

    def __init__(self, units: Sequence[str]) -> None:
        runs = [words(text) for text in units]
        self._numbers = {number for text in units for number in numbers(text)}
        self._stems = {stem(word) for run in runs for word in run}
        self._texts = [f" {' '.join(run)} " for run in runs]
        self._dates = {(kept.first, kept.last) for text in units for kept in resolve_dates(text, None)}
        self._denied = [frozenset(map(stem, words(text))) for text in units if is_negated(text)]

    def compare_literals(self, turn: Turn, *, has_names: bool) -> Iterator[tuple[str, bool]]:
        """The literals and rare words of a turn, names only with `has_names`; whether a unit keeps each."""
        said = blank_runs(turn.text)
        found = literals(said, turn.said_at)
        for number in sorted(found.numbers):
            yield f"number: {number}", number in self._numbers
        for mention in found.dates:
            yield f"date: {mention.text.rstrip('.')}", self._has_date(mention)
        for name in found.names if has_names else ():
            stems = {stem(word) for word in words(name)}
            if stems - COMMON:
                yield f"name: {name}", stems <= self._stems
        for word in _plain_words(turn.speaker, said, found):
            yield f"word: {word}", stem(word) in self._stems
        for text in found.negations:
            yield f"negation: {text}", _repeats_denied(text, self._denied)

    def _has_date(self, mention: DateMention) -> bool:
        """Whether a unit holds the days of a date or its words."""
        days = any(first <= mention.first and mention.last <= last for first, last in self._dates)
        return days or any(f" {' '.join(words(mention.text))} " in text for text in self._texts)


def _is_german(page: Page) -> bool:
    """Whether a page holds more frequent words of German than of English."""
    said = [word for line in page.lines if line.turn is not None for word in words(line.turn.text)]
    return sum(word in _GERMAN for word in said) > sum(word in STOP_WORDS for word in said)


def _plain_words(speaker: str, said: str, found: Literals) -> Iterator[str]:
    """The rare words that a speaker said outside the literals, but for the negated statements."""
    counted = " ".join((speaker, *found.names, *(mention.text for mention in found.dates)))
    literal = {stem(word) for word in words(counted)}
    return (
        word
        for word in rare_words(said)
        if word not in NUMBER_PARTS and word not in _NOT_NAMES and stem(word) not in literal
    )


def _repeats_denied(statement: str, denied: Sequence[frozenset[str]]) -> bool:
    content = {stem(word) for word in words(statement) if word not in STOP_WORDS}
    return any(2 * len(content & denied_stems) >= len(content) for denied_stems in denied)

"""The sentences of cited turns, each with its words and dates: the unit of evidence.

A number is compared by its value and by what belongs to it: sign, currency, percent, am or pm. Any other word
is compared by its base form. Words of absolute dates are left out: dates are compared by the days they mean.
In languages written without spaces, pairs of characters take the place of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from pagestore import Span
from tiermem.proof.derive import SPOKEN_NUMBER, mentions
from tiermem.proof.unsupported import CONTENT_FREE
from tiermem.text.dates import DateMention, without_dates
from tiermem.text.literals import Source, names, numbers
from tiermem.text.readings import is_negated
from tiermem.text.words import (
    EDGES,
    STOP_WORDS,
    base_form,
    sentences,
    singular,
    stem,
    without_possessive,
    word_list,
    words,
)

TokenKind = Literal["number", "name", "content", "function"]

_FIGURE = (
    r"(?:(?<![\w)])(?P<sign>[-−]))?(?P<currency>[$€£])?(?<![^\W_])(?P<figure>\d++(?:[.,:/]\d++)*+)"
    r"(?:\s?(?P<mark>%|[ap]\.?m\b|(?:percent|dollar|buck|euro|pound)s?\b)|(?P<ordinal>st|nd|rd|th)\b|(?P<code>\w++))?+"
)
_WITHOUT_SPACES = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f]"
_TOKEN = re.compile(
    rf"{_FIGURE}|(?P<spoken>{SPOKEN_NUMBER.pattern})|(?P<run>{_WITHOUT_SPACES}++)"
    rf"|(?P<word>(?:(?!{_WITHOUT_SPACES})[^\W_])++(?:['’][^\W_]++)*+)",
    re.IGNORECASE,
)
_MARKS = {"$": "dollar", "buck": "dollar", "€": "euro", "£": "pound", "%": "percent"}
_CONTRACTIONS = re.compile(r"['’](?:s|d|ll|ve|re|m)\Z")
ARTICLES = frozenset(word_list("a an the"))
_MOST_UNITS = 3
"""Words after a number in which it says what it counts: "three small grey cats"."""
_DECISIVE = frozenset(
    word_list("up down before after more less most least all some only above below over under")
)
"""Stop words that say which way or how many: with the other one a statement is false."""
_FIRST_PERSON = frozenset(word_list("i me my mine myself we us our ours ourselves"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One word or number of a text: `key` is what is compared, `literal` what a quotation must have too.

    `marks` are the sign, currency, percent, am or pm of a number. "one" and articles have the number 1 in
    `number` too.
    """

    text: str
    start: int
    end: int
    kind: TokenKind
    key: str
    literal: str
    number: str = ""
    marks: frozenset[str] = frozenset()

    @property
    def is_content(self) -> bool:
        """Whether it needs support: a number, a name or a content word."""
        return self.kind != "function"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a cited turn. `start` is its offset in the text of `source`, the turn."""

    text: str
    source: Source
    start: int
    words: tuple[Token, ...]
    dates: tuple[DateMention, ...]

    @property
    def is_question(self) -> bool:
        """Whether it asks: then it is no evidence."""
        return self.text.rstrip(EDGES.replace("?", "") + " ").endswith(("?", "？"))

    @property
    def as_source(self) -> Source:
        """The sentence alone as a source, with its place on the page if the turn has one."""
        spans = self.source.spans
        if len(spans) == 1 and spans[0].end - spans[0].start == len(self.source.text):
            first = spans[0].start + self.start
            spans = (Span(page_id=spans[0].page_id, start=first, end=first + len(self.text)),)
        else:
            spans = ()
        return Source(self.text, self.source.said_at, self.source.speaker, spans)


def read_sentences(cited: Iterable[Source]) -> tuple[Sentence, ...]:
    """Return the sentences of cited turns in order."""
    return tuple(sentence for source in cited for sentence in _sentences_of(source))


def _sentences_of(source: Source) -> Iterator[Sentence]:
    for piece in sentences(source.text):
        dates = mentions(Source(piece.text, source.said_at))
        absolute = [mention for mention in dates if mention.kind == "absolute"]
        yield Sentence(
            text=piece.text,
            source=source,
            start=piece.start,
            words=read_tokens(without_dates(piece.text, absolute)),
            dates=dates,
        )


def read_tokens(text: str) -> tuple[Token, ...]:
    """Return the words and numbers of `text` in order."""
    named = {word for name in names(text) for word in words(name)}
    return tuple(token for match in _TOKEN.finditer(text) for token in _tokens_of(match, named))


def units_after(text: str, tokens: Sequence[Token], at: int) -> tuple[Token, ...]:
    """Return what the number `tokens[at]` counts: up to three content words that follow it directly."""
    units: list[Token] = []
    for last, token in pairwise(tokens[at : at + 1 + _MOST_UNITS]):
        if not token.is_content or text[last.end : token.start].strip("- "):
            break
        units.append(token)
    return tuple(units)


def _tokens_of(match: re.Match[str], named: set[str]) -> Iterator[Token]:
    if match["run"]:
        yield from _pairs(match)
    elif match["figure"] and not match["code"]:
        yield _figure(match)
    else:
        yield _word(match, named)


def _pairs(match: re.Match[str]) -> Iterator[Token]:
    """The pairs of characters of a text without spaces, or its one character."""
    run = match["run"]
    for at in range(max(1, len(run) - 1)):
        pair, start = run[at : at + 2], match.start() + at
        yield Token(text=pair, start=start, end=start + len(pair), kind="content", key=pair, literal=pair)


def _figure(match: re.Match[str]) -> Token:
    mark = (match["mark"] or match["currency"] or "").lower().replace(".", "").removesuffix("s")
    marks = {_MARKS.get(mark, mark)} if mark else set()
    figure = match["figure"]
    value = figure if "/" in figure else numbers(figure)[0]
    signed = f"-{value}" if match["sign"] else value
    return Token(
        text=match.group(),
        start=match.start(),
        end=match.end(),
        kind="number",
        key=signed,
        literal=signed,
        number=signed,
        marks=frozenset(marks),
    )


def _word(match: re.Match[str], named: set[str]) -> Token:
    word = match.group().lower().replace("’", "'")
    values = numbers(word) if match["spoken"] else []
    value = values[0] if len(values) == 1 else ""
    kind: TokenKind = "number" if value else "content" if is_content_word(word) else "function"
    if kind == "content" and match.group()[0].isupper() and without_possessive(word) in named:
        kind = "name"
    return Token(
        text=match.group(),
        start=match.start(),
        end=match.end(),
        kind=kind,
        key=value or base_form(word),
        literal=value or singular(word),
        number=value or ("1" if word in ("one", *ARTICLES) else ""),
    )


def is_content_word(word: str) -> bool:
    """Whether a lower-case word says something: no function word, light verb, verb of reporting or filler.

    Negations are none either: `cautions` compares them.
    """
    plain = _CONTRACTIONS.sub("", word)
    if plain in _DECISIVE:
        return True
    is_function = word in STOP_WORDS or plain in STOP_WORDS or plain in _FIRST_PERSON
    return not (is_function or stem(plain) in CONTENT_FREE or is_negated(word))

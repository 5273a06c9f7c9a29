"""Telling whether words are still somewhere: the phrases and names by which they would be known.

Compared as words alone, so that case, punctuation, line breaks and escapes hide nothing. What is also
said by somebody who stays tells nothing and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import islice

from tiermem.text.literals import literals

_PHRASE = 5
"""Words in a row that hardly anybody says by chance. A shorter turn is looked for whole."""
_SHORTEST = 8
"""Bytes below which a whole turn ("Yes, sure.") is no fingerprint."""
_SHORTEST_NAME = 4
"""Characters below which a name is no fingerprint."""
FEW = 64
"""Words up to which a text is searched for each of them first, which is far quicker than reading it."""
_REACH = 256
"""Characters looked back through for the words before a stretch, doubled until they are enough."""
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d[\d.,]*\d")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True)
class Fingerprints:
    """Runs of words, each joined by blanks, and how many words they have.

    `also` are the places, among the texts that stay, of those that hold some of the same words; `silent` is
    how many of the texts that go are known by nothing: they are too short, or others say all of it too.
    `sample` is text like that which is looked through, by which rare words are known; it changes how fast
    words are found, and not which.
    """

    phrases: frozenset[str]
    sizes: tuple[int, ...]
    also: tuple[int, ...] = ()
    silent: int = 0
    sample: str = field(default="", repr=False, compare=False)

    def __bool__(self) -> bool:
        return bool(self.phrases)

    def found_in(self, text: str) -> Iterator[str]:
        """Every fingerprint in a text; one that is in it several times may come several times."""
        for stretch in self._stretches(text.casefold()):
            words = _WORD.findall(stretch)
            for size in self.sizes:
                for run in _runs(words, size):
                    if run in self.phrases:
                        yield run

    def are_in(self, text: str) -> bool:
        """Whether a text holds any of them."""
        return next(self.found_in(text), None) is not None

    def _stretches(self, text: str) -> Iterator[str]:
        """All of a text in which there may be a fingerprint: words around those they cannot do without."""
        if len(self.required_words) > FEW:
            yield text
            return
        if not self._holds_group(text):
            return
        for word in self.required_words:
            at = text.find(word)
            while at >= 0:
                start, end = _words_around(text, at, at + len(word), max(self.sizes))
                while (again := text.find(word, at + len(word), end)) >= 0:
                    at = again
                    end = _words_around(text, at, at + len(word), max(self.sizes))[1]
                yield text[start:end]
                at = text.find(word, end)

    def _holds_group(self, text: str) -> bool:
        """Whether all words of any fingerprint are in a text, in whatever order."""
        return any(
            first in text and any(all(word in text for word in rest) for rest in rests)
            for first, rests in self._rests.items()
        )

    @cached_property
    def _rests(self) -> dict[str, list[tuple[str, ...]]]:
        """The words of groups behind their first, by that."""
        rests: dict[str, list[tuple[str, ...]]] = {}
        for first, *rest in self.groups:
            rests.setdefault(first, []).append(tuple(rest))
        return rests

    @cached_property
    def required_words(self) -> frozenset[str]:
        """Words of which every fingerprint holds one: those that the sample has least."""
        return frozenset(group[0] for group in self.groups)

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The words of every fingerprint, a needed one first.

        That is the one that the sample has least, as a run of characters, of equals the longest; or one that
        another fingerprint needs.
        """
        places = cache(self.sample.casefold().count)
        needed: dict[str, None] = {}
        groups = []
        for phrase in sorted(self.phrases):
            words = sorted(set(phrase.split(" ")), key=lambda word: (places(word), -len(word), word))
            first = next(filter(needed.__contains__, words), words[0])
            needed[first] = None
            groups.append((first, *(word for word in words if word != first)))
        return tuple(groups)


def is_lone(phrase: str) -> bool:
    """Whether a phrase is one word, or digits alone, which may occur by chance in what is not text."""
    return " " not in phrase or phrase.replace(" ", "").isdigit()


def fingerprints(erased: Iterable[str], stays: Iterable[str], *, sample: str = "") -> Fingerprints:
    """What the texts that go are known by: their phrases, names and numbers that no text that stays holds.

    `sample`: see `Fingerprints`.
    """
    known = [_known_by(text) for text in erased]
    found: dict[int, set[str]] = {}
    for phrase in (phrase for phrases in known for phrase in phrases):
        found.setdefault(phrase.count(" ") + 1, set()).add(phrase)
    wanted = _as_fingerprints(found, sample)
    common: set[str] = set()
    also = []
    for place, text in enumerate(stays):
        shared = set(wanted.found_in(text))
        if shared:
            common |= shared
            also.append(place)
    left = {size: phrases - common for size, phrases in found.items()}
    silent = sum(common.issuperset(phrases) for phrases in known)
    return replace(_as_fingerprints(left, sample), also=tuple(also), silent=silent)


def _known_by(text: str) -> set[str]:
    words = _words(text)
    size = min(len(words), _PHRASE)
    known = set(_names(text))
    if size and len("".join(words).encode("utf-8", "replace")) >= _SHORTEST:
        known.update(_runs(words, size))
    return known


def fingerprints_of(phrases: Iterable[str]) -> Fingerprints:
    """These runs of words, whatever their length."""
    found: dict[int, set[str]] = {}
    for phrase in phrases:
        words = _words(phrase)
        if words:
            found.setdefault(len(words), set()).add(" ".join(words))
    return _as_fingerprints(found)


def _as_fingerprints(found: dict[int, set[str]], sample: str = "") -> Fingerprints:
    sizes = tuple(sorted(size for size, phrases in found.items() if phrases))
    phrases = frozenset(phrase for phrases in found.values() for phrase in phrases)
    return Fingerprints(phrases, sizes, sample=sample)


def _names(text: str) -> Iterator[str]:
    numbers = (number for number in _NUMBER.findall(text) if not _YEAR.fullmatch(number))
    for name in (*literals(text).names, *numbers):
        words = _words(name)[:_PHRASE]
        if sum(map(len, words)) >= _SHORTEST_NAME:
            yield " ".join(words)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _words_around(text: str, start: int, end: int, count: int) -> tuple[int, int]:
    """From where to where a stretch goes on by as many words on either side."""
    reach = _REACH
    while True:
        begin = max(0, start - reach)
        before = [word.start() for word in _WORD.finditer(text, begin, start)]
        if len(before) > count or begin == 0:
            break
        reach *= 2
    begin = before[-count] if len(before) > count else begin
    after = [word.end() for word in islice(_WORD.finditer(text, end), count)]
    return begin, after[-1] if after else end


def _runs(words: Sequence[str], size: int) -> Iterator[str]:
    return (" ".join(words[at : at + size]) for at in range(len(words) - size + 1))

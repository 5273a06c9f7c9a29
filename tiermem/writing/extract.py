"""Summarise a page without a model: a few of its sentences, as they were said.

They are those with the most and the rarest words of the page. Of five sentences a page chosen so, .50 of the
turns that LoCoMo annotates as evidence are covered, of those nearest to the page's mean vector .25, of
sentences drawn by chance .32 (decision 81).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pagestore import Page, PageLine, Span
from tiermem.model import LinkedFact
from tiermem.proof import is_concluded
from tiermem.text.long_runs import blank_runs
from tiermem.text.placeholders import is_placeholder
from tiermem.text.readings import speech
from tiermem.text.taken_back import GAP
from tiermem.text.words import search_stems, search_words, sentences

MOST = 5
"""Sentences of a page that become units."""
_LONGEST = 400
"""Characters of a sentence; a longer run of words is none that could be displayed."""
_FEWEST, _FEWEST_STEMS = 3, 2
"""Words of a sentence that says something, and different ones of these that are no stop words."""


def imported_facts(page: Page) -> tuple[LinkedFact, ...]:
    """What another memory stated, a fact for each turn."""
    facts = (extract_turn(page, line) for line in page.lines if line.turn and is_concluded(line.turn))
    return tuple(fact for fact in facts if fact.quotes[0].strip())


def extract_turn(page: Page, line: PageLine) -> LinkedFact:
    """All words of a turn as `Speaker: words`, with their place. The line is one with a turn."""
    speaker = line.turn.speaker if line.turn is not None else ""
    return _words_as_fact(page, speaker, line.body, line.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    fact: LinkedFact
    stems: frozenset[str]


def extract(page: Page) -> tuple[LinkedFact, ...]:
    """At most five sentences of a page in the order they were said, each as `Speaker: words` with its place.

    Questions, placeholders, encoded data and very short or long sentences are left out.
    """
    found = [one for line in page.lines for one in _sentences(page, line)]
    holders = Counter(stem for one in found for stem in one.stems)
    rarity = {stem: math.log1p(len(found) / count) for stem, count in holders.items()}
    weights = [sum(rarity[stem] for stem in sorted(one.stems)) for one in found]
    best = sorted(range(len(found)), key=lambda at: -weights[at])[:MOST]
    return tuple(found[at].fact for at in sorted(best))


def _sentences(page: Page, line: PageLine) -> Iterator[_Sentence]:
    """The sentences of a line that may be a unit."""
    if line.turn is None or is_concluded(line.turn):
        return
    for piece in sentences(blank_runs(page.text[line.body : line.end])):
        stems = frozenset(search_stems(piece.text))
        if len(stems) >= _FEWEST_STEMS and _may_be_unit(piece.text):
            fact = _words_as_fact(page, line.turn.speaker, line.body + piece.start, line.body + piece.end)
            if _is_speech_of(line.turn.speaker, fact.claim):
                yield _Sentence(fact=fact, stems=stems)


def _words_as_fact(page: Page, speaker: str, start: int, end: int) -> LinkedFact:
    words, span = page.text[start:end], Span(page_id=page.id, start=start, end=end)
    text = f"{speaker}: {' '.join(words.split())}"
    return LinkedFact(claim=text, quotes=(words,), spans=(span,), support="quoted")


def _may_be_unit(said: str) -> bool:
    is_question = said.rstrip("\"'”’) ").endswith(("?", "？"))
    if is_question or len(search_words(said)) < _FEWEST:
        return False
    return len(said) <= _LONGEST and GAP not in said and not is_placeholder(said)


def _is_speech_of(speaker: str, text: str) -> bool:
    """Whether the text can be read as words of the speaker, and stored: a name with a colon cannot."""
    own = speech(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return own is not None and own.speaker == speaker

"""Find quotes on pages: the exact characters of each, or the nearest match.

A quote is on a page when its words are, after normalising, character for character. An ellipsis in it, a line
break or a page-line header separates parts, which must be on one page in this order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice

from rapidfuzz import fuzz

from pagestore import Page, PageLine, Span, Turn
from tiermem.text.normalise import NormalisedText, fold_text, normalise
from tiermem.text.taken_back import GAP
from tiermem.text.words import WORD, search_words, words

MIN_WORDS = 3
MIN_CHARACTERS = 12
"""What a quote must hold to prove anything alone: a shorter one is said by anybody."""
CLOSE = 0.9
"""How alike, of 1, a quote and the words on a page must be to count as a near match, which proves nothing."""
MAX_PLACES = 32
"""Places of a quote, and ways to choose one for each quote, that are looked at."""
_MAX_NEAR = 2_000_000
"""Characters of a quote times those of a turn, up to which a near match is looked for."""
_ELLIPSIS = re.compile(r"(?:\[\s?(?:\.{3,}|…)\s?\]|\(\s?(?:\.{3,}|…)\s?\)|\.{3,}|…|␡)")
_HEADER = re.compile(r"^[^\S\n]{0,8}\[[^\]\n]{0,40}\][^\S\n]{0,8}(?:[^:\n]{0,80}:)?", re.MULTILINE)
_EDGE = " \t\n\"'“”‘’.,;:!?-"


@dataclass(frozen=True, slots=True)
class QuotePlace:
    """The place of a quote on a page: the turns by index, and a span for each part."""

    page: Page
    turns: tuple[int, ...]
    spans: tuple[Span, ...]
    exact: bool = True
    short: bool = False
    """Too few words to be known by, and no quote next to them: the same words may occur here by chance."""

    @property
    def words(self) -> str:
        """The words of the page at this place, with an ellipsis between parts."""
        return " … ".join(self.page.words(span) for span in self.spans)


def find_quotes(quotes: Sequence[str], pages: Sequence[Page]) -> list[tuple[str, list[QuotePlace]]]:
    """Each quote that is on some page, with its places, in the order given.

    A quote too short to be known by itself ("last week") proves something only next to another quote, and
    a single word says nothing elsewhere.
    """
    wanted = [(quote, _parts(quote)) for quote in dict.fromkeys(quotes) if quote.strip()]
    found: dict[str, list[QuotePlace]] = {}
    for quote, parts in wanted:
        several = sum(map(_count_words, parts)) >= 2
        places = list(islice(chain.from_iterable(_places(parts, page) for page in pages), MAX_PLACES))
        if several and places:
            found[quote] = places
        elif several:
            close = _close(parts, pages)
            found |= {quote: [close]} if close else {}
    anchors = [place for places in found.values() for place in places]
    for quote, parts in wanted:
        if quote not in found and parts:
            short = [place for page in pages for place in _places(parts, page, short=True)]
            places = _choose_places(quote, short, anchors)
            found |= {quote: places} if places else {}
    return [(quote, found[quote]) for quote, _ in wanted if quote in found]


def _choose_places(
    quote: str, places: Sequence[QuotePlace], anchors: Sequence[QuotePlace]
) -> list[QuotePlace]:
    """Of the places of a short quote those next to other quotes; without any, all if it has several words."""
    next_to_others = (place for place in places if any(_next_to(place, other) for other in anchors))
    others = places[:MAX_PLACES] if _count_words(quote) > 1 else []
    return list(islice(next_to_others, MAX_PLACES)) or [replace(place, short=True) for place in others]


def touched_turns(spans: Iterable[Span], pages: Sequence[Page]) -> list[Turn]:
    """The turns of pages that spans touch, span by span."""
    return [
        line.turn
        for span in spans
        for page in pages
        if page.id == span.page_id
        for line in page.lines
        if line.turn is not None and line.touches(span)
    ]


def _next_to(one: QuotePlace, other: QuotePlace) -> bool:
    same = one.page.id == other.page.id
    return same and one.turns[0] - 1 <= other.turns[-1] and other.turns[0] - 1 <= one.turns[-1]


def _parts(quote: str) -> tuple[str, ...]:
    """The pieces of a quote that must each be on the page, normalised."""
    plain = _HEADER.sub("\n", quote) if _HEADER.search(quote) else quote
    whole = fold_text(plain)
    if "\n" not in plain.strip() and not _ELLIPSIS.search(plain):
        return (whole,) if whole else ()
    pieces = [piece for line in plain.split("\n") for piece in _ELLIPSIS.split(line)]
    return tuple(part for part in (fold_text(piece) for piece in pieces) if words(part))


def _places(parts: Sequence[str], page: Page, *, short: bool = False) -> Iterator[QuotePlace]:
    """Every place on `page` that has the parts in order, if need be without their outer punctuation."""
    bodies = [normalise(_body(page, line)) if line.turn is not None else None for line in page.lines]
    ahead: dict[int, _Hit] = {}
    for first in range(len(bodies) if parts else 0):
        hits = _hits(first, parts, bodies, ahead)
        if 0 < len(hits) < len(parts):  # from further on there is even less to be found
            return
        if hits and (short or any(_long_enough(hit.text, hit.body.text) for hit in hits)):
            yield QuotePlace(
                page, tuple(dict.fromkeys(hit.turn for hit in hits)), tuple(_span(page, hit) for hit in hits)
            )


@dataclass(frozen=True, slots=True)
class _Hit:
    """The place of one part: the turn by index, and the characters of its normalised words."""

    turn: int
    body: NormalisedText
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.body.text[self.start : self.end]


def _span(page: Page, hit: _Hit) -> Span:
    start, end = hit.body.original(hit.start, hit.end)
    offset = page.lines[hit.turn].body
    return Span(page_id=page.id, start=offset + start, end=offset + end)


def _hits(
    first: int, parts: Sequence[str], bodies: Sequence[NormalisedText | None], ahead: dict[int, _Hit]
) -> list[_Hit]:
    """The parts in order from the turn `first` on, as far as they are found; none where it lacks the first.

    `ahead` keeps where a part was found from an earlier turn on, so that nothing is searched twice for it.
    """
    found: list[_Hit] = []
    for number, part in enumerate(parts):
        turn, at = (found[-1].turn, found[-1].end) if found else (first, 0)
        hit = _in_turn(part, turn, bodies, at)
        if hit is None and found:
            known = ahead.get(number)
            if known is None or known.turn <= turn:
                later = (_in_turn(part, next_one, bodies) for next_one in range(turn + 1, len(bodies)))
                known = next((each for each in later if each is not None), None)
            if known is not None:
                ahead[number] = hit = known
        if hit is None:
            return found
        found.append(hit)
    return found


def _in_turn(part: str, turn: int, bodies: Sequence[NormalisedText | None], at: int = 0) -> _Hit | None:
    body = bodies[turn]
    hit = _find(part, body, at) if body is not None else None
    return _Hit(turn, body, *hit) if body is not None and hit is not None else None


def _body(page: Page, line: PageLine) -> str:
    return page.text[line.body : line.end]


def _find(part: str, body: NormalisedText, at: int) -> tuple[int, int] | None:
    """The range of `part` in `body` on whole words and whole characters, from `at` on."""
    for wanted in dict.fromkeys((part, part.strip(_EDGE))):
        start = body.text.find(wanted, at) if wanted else -1
        while start >= 0:
            end = start + len(wanted)
            if _whole(body, start, end):
                return start, end
            later = _next_start(body.text, start + 1) if wanted[0].isalnum() else start + 1
            # Found without beginning again at each place where the words repeat themselves.
            found = _ending_whole(wanted).search(body.text, later)
            start = found.start() if found else -1
    return None


@lru_cache(maxsize=64)
def _ending_whole(wanted: str) -> re.Pattern[str]:
    """`wanted`, with no letter or digit right behind it where it ends in one."""
    return re.compile(re.escape(wanted) + (r"(?![^\W_])" if wanted[-1].isalnum() else ""))


def _next_start(text: str, at: int) -> int:
    """Where the next word begins, or what is none."""
    while at < len(text) and text[at - 1].isalnum() and text[at].isalnum():
        at += 1
    return at


def _whole(body: NormalisedText, start: int, end: int) -> bool:
    text = body.text
    if start and text[start - 1].isalnum() and text[start].isalnum():
        return False
    if end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        return False
    cut_before = start > 0 and body.starts[start] == body.starts[start - 1]
    cut_after = end < len(text) and body.starts[end] == body.starts[end - 1]
    return not cut_before and not cut_after


def _long_enough(part: str, turn: str) -> bool:
    if part.strip(_EDGE) == turn.strip(_EDGE):
        return True
    return _count_words(part) >= MIN_WORDS and len(part) >= MIN_CHARACTERS


def _count_words(text: str) -> int:
    """Count the words; in scripts without spaces a pair of characters is one, and an emoji is none."""
    return sum(any(map(str.isalnum, word)) for word in search_words(text))


def _close(parts: Sequence[str], pages: Sequence[Page]) -> QuotePlace | None:
    """The best near match of the whole quote inside one turn, on whole words."""
    wanted = " ".join(parts)
    if not _long_enough(wanted, ""):
        return None
    best: tuple[float, QuotePlace] | None = None
    for page in pages:
        for index, line in enumerate(page.lines):
            body = normalise(_body(page, line))
            if line.turn is None or len(body.text) * 2 < len(wanted):
                continue
            if len(wanted) * len(body.text) > _MAX_NEAR:
                continue
            found = fuzz.partial_ratio_alignment(wanted, body.text, score_cutoff=CLOSE * 100)
            if found is None or found.dest_end <= found.dest_start or (best and found.score <= best[0]):
                continue
            span = _whole_words(page, line, body.original(found.dest_start, found.dest_end))
            if span is not None:
                best = (found.score, QuotePlace(page, (index,), (span,), exact=False))
    return best[1] if best else None


def _whole_words(page: Page, line: PageLine, place: tuple[int, int]) -> Span | None:
    """`place` in the words of `line`, widened to whole words."""
    body = _body(page, line)
    touched = [
        match.span() for match in WORD.finditer(body) if match.start() < place[1] and place[0] < match.end()
    ]
    if not touched or GAP in body[touched[0][0] : touched[-1][1]]:
        return None
    return Span(page_id=page.id, start=line.body + touched[0][0], end=line.body + touched[-1][1])

"""From a claim and its quote to a fact tied to exact characters of a page, or to a rejection with its reason.

`stated` facts are proved: their quotes stand on the page after normalising, character for character,
and the claim agrees with the turn they stand in. A near match is `worded` only; it is never written back. Pages are searched in the order given, so
words that stand on two pages link to the page that was read first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from rapidfuzz import fuzz

from pagestore import Page, PageLine, Span
from tiermem.model import Claim, LinkedFact, Rejected, Support
from tiermem.text.dates import resolve_dates, without_dates
from tiermem.text.literals import named_in, names, numbers
from tiermem.text.normalise import Normalised, normalise
from tiermem.text.readings import People
from tiermem.text.support import Ground, instruction_like, objection
from tiermem.text.words import sentences, stem, words

MIN_WORDS = 3
MIN_CHARACTERS = 12
CLOSE = 0.9
_MAX_CLAIM = 1_000
_MAX_QUOTE = 4_000
_MAX_PLACES = 32
_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.{3,}|…)\s*\]|\(\s*(?:\.{3,}|…)\s*\)|\.{3,}|…)\s*")
_HEADER = re.compile(r"^\s*\[[^\]\n]{0,40}\]\s*(?:[^:\n]{0,80}:)?", re.MULTILINE)
_EDGE = " \t\n\"'“”‘’.,;:!?-"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the parts of a quote stand: the turns by index, and a span for each part."""

    page: Page
    turns: tuple[int, ...]
    spans: tuple[Span, ...]


def link(claim: Claim, pages: Sequence[Page]) -> LinkedFact | Rejected:
    """Tie `claim` to the exact words that support it. Never raises, whatever the claim holds.

    An ellipsis in the quote, a line break or a page-line header inside it separates parts; they must
    stand in this order on one page.
    """
    unusable = _unusable(claim)
    if unusable:
        return _rejected(claim, unusable)
    parts = _parts("\n".join(claim.quotes))
    if not parts or sum(len(words(part)) for part in parts) < 2:
        return _rejected(claim, "quote is empty or a single word")
    reason = None
    for page in pages:
        for place in islice(_places(parts, page), _MAX_PLACES):
            why = objection(claim.text, claim.event_at, _ground(place))
            if why is None:
                return _fact(claim, place.spans, "stated")
            reason = reason or why
    if reason is not None:
        return _rejected(claim, reason)
    return _close(claim, parts, pages) or _rejected(claim, "quote not on the pages shown")


def _unusable(claim: Claim) -> str | None:
    if not claim.text.strip():
        return "claim is empty"
    if len(claim.text) > _MAX_CLAIM or sum(map(len, claim.quotes)) > _MAX_QUOTE:
        return "claim or quote is too long"
    try:
        "".join((claim.text, *claim.quotes, claim.scene or "", claim.event_at or "")).encode()
    except UnicodeEncodeError:
        return "claim is not valid text"
    if instruction_like(claim.text) or instruction_like(claim.scene or ""):
        return "claim reads like an instruction"
    return None


def _rejected(claim: Claim, reason: str) -> Rejected:
    return Rejected(claim=claim.text, quotes=claim.quotes, reason=reason)


def _fact(claim: Claim, spans: tuple[Span, ...], support: Support) -> LinkedFact:
    return LinkedFact(
        claim=claim.text, quotes=claim.quotes, spans=spans, support=support,
        event_at=claim.event_at, scene=claim.scene, importance=claim.importance,
    )  # fmt: skip


def _parts(quote: str) -> tuple[str, ...]:
    """The pieces of a quote that must each stand on the page, normalised."""
    plain = _HEADER.sub("\n", quote) if _HEADER.search(quote) else quote
    whole = normalise(plain).text
    if "\n" not in plain.strip() and not _ELLIPSIS.search(plain):
        return (whole,) if whole else ()
    pieces = [piece for line in plain.split("\n") for piece in _ELLIPSIS.split(line)]
    return tuple(part for part in (normalise(piece).text for piece in pieces) if words(part))


def _places(parts: Sequence[str], page: Page) -> Iterator[_Place]:
    """Every place on `page` where the parts stand in order, if need be without their outer punctuation."""
    bodies = [normalise(_body(page, line)) if line.turn is not None else None for line in page.lines]
    for start in range(len(bodies)):
        place = _place_from(start, parts, page, bodies)
        if place is not None:
            yield place


def _place_from(
    first: int, parts: Sequence[str], page: Page, bodies: Sequence[Normalised | None]
) -> _Place | None:
    turns: list[int] = []
    spans: list[Span] = []
    turn, at = first, 0
    long_enough = False
    for part in parts:
        hit = None
        while hit is None and turn < len(bodies):
            body = bodies[turn]
            hit = _find(part, body, at) if body is not None else None
            if hit is None:
                if not turns:
                    return None
                turn, at = turn + 1, 0
        body = bodies[turn] if turn < len(bodies) else None
        if hit is None or body is None:
            return None
        start, end = body.original(*hit)
        offset = page.lines[turn].body
        spans.append(Span(page_id=page.id, start=offset + start, end=offset + end))
        turns.append(turn)
        long_enough = long_enough or _long_enough(body.text[hit[0] : hit[1]], body.text)
        at = hit[1]
    return _Place(page, tuple(dict.fromkeys(turns)), tuple(spans)) if long_enough else None


def _body(page: Page, line: PageLine) -> str:
    return page.text[line.body : line.end]


def _find(part: str, body: Normalised, at: int) -> tuple[int, int] | None:
    """Where `part` stands in `body` on whole words and whole characters, from `at` on."""
    for wanted in dict.fromkeys((part, part.strip(_EDGE))):
        start = body.text.find(wanted, at) if wanted else -1
        while start >= 0:
            end = start + len(wanted)
            if _whole(body, start, end):
                return start, end
            start = body.text.find(wanted, start + 1)
    return None


def _whole(body: Normalised, start: int, end: int) -> bool:
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
    return len(words(part)) >= MIN_WORDS and len(part) >= MIN_CHARACTERS


def _ground(place: _Place) -> Ground:
    lines = [place.page.lines[index] for index in place.turns]
    turns = [line.turn for line in lines if line.turn is not None]
    everyone = dict.fromkeys(line.turn.speaker for line in place.page.lines if line.turn is not None)
    said = tuple(dict.fromkeys(turn.speaker for turn in turns))
    return Ground(
        quote="\n".join(place.page.words(span) for span in place.spans),
        text="\n".join(_body(place.page, line) for line in lines),
        asked=_asked(place.page, place.turns[0]),
        beside=_beside(place),
        earlier=place.page.text[: lines[-1].end],
        people=People(speaker=said[0], others=tuple(name for name in everyone if name != said[0])),
        said_at=turns[-1].said_at,
    )


def _beside(place: _Place) -> str:
    first, last = place.turns[0], place.turns[-1]
    near = place.page.lines[max(0, first - 2) : last + 2]
    return "\n".join(line.turn.text for line in near if line.turn is not None)


def _asked(page: Page, index: int) -> str:
    before = page.lines[index - 1].turn if index else None
    return " ".join(piece.text for piece in sentences(before.text) if "?" in piece.text) if before else ""


def _close(claim: Claim, parts: Sequence[str], pages: Sequence[Page]) -> LinkedFact | None:
    """The best near match of the whole quote inside one turn, with every literal of the claim in it."""
    wanted = " ".join(parts)
    if not _long_enough(wanted, ""):
        return None
    best: tuple[float, Page, PageLine, int, int] | None = None
    for page in pages:
        for line in page.lines:
            body = normalise(_body(page, line))
            if line.turn is None or len(body.text) * 2 < len(wanted):
                continue
            found = fuzz.partial_ratio_alignment(wanted, body.text, score_cutoff=CLOSE * 100)
            if (
                found is not None
                and found.dest_end > found.dest_start
                and (best is None or found.score > best[0])
            ):
                best = (found.score, page, line, *body.original(found.dest_start, found.dest_end))
    if best is None:
        return None
    _, page, line, start, end = best
    span = Span(page_id=page.id, start=line.body + start, end=line.body + end)
    if not _literals_inside(claim.text, f"{line.turn.speaker if line.turn else ''} {page.words(span)}", line):
        return None
    return _fact(claim, (span,), "worded")


def _literals_inside(claim: str, shown: str, line: PageLine) -> bool:
    said_at = line.turn.said_at if line.turn is not None else None
    told = resolve_dates(claim, said_at)
    if any(not any(found.holds(m.first, m.last) for found in resolve_dates(shown, said_at)) for m in told):
        return False
    plain = without_dates(claim, told)
    known, held = set(numbers(shown, loose=True)), {stem(word) for word in words(shown)}
    return all(number in known for number in numbers(plain)) and all(
        named_in(name, held) for name in names(plain)
    )

"""From a claim and its quotes to a fact tied to exact characters of pages, or to a rejection with its reason.

A quote is on a page when its words are, after normalising, character for character. If it is, the
claim is graded by all the turns quoted (`tiermem.proof.grade`); `reason` says what is against it. A quote
that is only nearly on the page (0.9 alike) is taken for the page's own words there, and supports no wording.
A claim is rejected if it gives words to somebody who did not say them, or no quote is on the pages. Pages are
searched in the order given, so words that are on two pages link to the page that was read first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice, product

from rapidfuzz import fuzz

from pagestore import Page, PageLine, Span
from tiermem.model import Claim, Derivation, LinkedFact, Rejected, Support
from tiermem.proof.grade import Grade, grade
from tiermem.proof.ground import Ground, QuotedTurn, gives_words_to_stranger, is_event_dated
from tiermem.proof.instructions import instruction_like
from tiermem.proof.quotation import is_only_question
from tiermem.text.literals import Source
from tiermem.text.normalise import NormalisedText, normalise
from tiermem.text.readings import Speech, speech
from tiermem.text.taken_back import GAP, kept, remaining
from tiermem.text.words import WORD, sentences, words

MIN_WORDS = 3
MIN_CHARACTERS = 12
"""What a quote must hold to prove anything alone: a shorter one is said by anybody."""
CLOSE = 0.9
"""How alike, of 1, a quote and the words on a page must be to count as a near match, which proves nothing."""
NOT_FOUND = "no such words on the pages shown"
_MAX_CLAIM = 1_000
_MAX_QUOTE = 4_000
_MAX_QUOTES = 16
"""Characters of a claim and of a quote, and quotes of a claim, beyond which it is refused."""
_MAX_PLACES = 32
"""Places of a quote, and ways to choose one for each quote, that are looked at."""
_MAX_NEAR = 2_000_000
"""Characters of a quote times those of a turn, up to which a near match is looked for."""
_ELLIPSIS = re.compile(r"(?:\[\s?(?:\.{3,}|…)\s?\]|\(\s?(?:\.{3,}|…)\s?\)|\.{3,}|…|␡)")
_HEADER = re.compile(r"^[^\S\n]{0,8}\[[^\]\n]{0,40}\][^\S\n]{0,8}(?:[^:\n]{0,80}:)?", re.MULTILINE)
_EDGE = " \t\n\"'“”‘’.,;:!?-"


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a quote on a page: the turns by index, and a span for each part."""

    page: Page
    turns: tuple[int, ...]
    spans: tuple[Span, ...]
    exact: bool = True
    short: bool = False
    """Too few words to be known by, and no quote next to them: the same words may occur here by chance."""


def link(claim: Claim, pages: Sequence[Page]) -> LinkedFact | Rejected:
    """Tie `claim` to the exact words that support it. Never raises, whatever the claim holds.

    An ellipsis in a quote, a line break or a page-line header inside it separates parts; they must
    be on one page in this order. Quotes may be on different pages.
    """
    unusable = _unusable(claim)
    if unusable:
        return _rejected(claim, unusable)
    placed = _placed(claim.quotes, pages)
    if not placed:
        return _rejected(claim, NOT_FOUND)
    best: LinkedFact | Rejected | None = None
    for places in islice(product(*(options for _, options in placed)), _MAX_PLACES):
        found = _judged(claim, tuple(quote for quote, _ in placed), places)
        if isinstance(found, LinkedFact) and found.is_supported:
            return found
        if best is None or (isinstance(best, Rejected) and isinstance(found, LinkedFact)):
            best = found
    return best or _rejected(claim, NOT_FOUND)


def _unusable(claim: Claim) -> str | None:
    if not claim.text.strip():
        return "claim is empty"
    if len(claim.text) > _MAX_CLAIM or any(len(quote) > _MAX_QUOTE for quote in claim.quotes):
        return "claim or quote is too long"
    if len(claim.quotes) > _MAX_QUOTES:
        return f"claim has more than {_MAX_QUOTES} quotes"
    try:
        "".join((claim.text, *claim.quotes, claim.scene or "", claim.event_at or "")).encode()
    except UnicodeEncodeError:
        return "claim is not valid text"
    if instruction_like(claim.text) or instruction_like(claim.scene or ""):
        return "claim reads like an instruction"
    return None


def _rejected(claim: Claim, reason: str) -> Rejected:
    return Rejected(claim=claim.text, quotes=claim.quotes, reason=reason)


def _judged(claim: Claim, quotes: Sequence[str], places: Sequence[_Place]) -> LinkedFact | Rejected:
    """The claim against these places; not supported when a quote is missing or only nearly there."""
    graded = _grade_claim(claim, _ground(places))
    if isinstance(graded, Rejected):
        return graded
    lacking = _lacking(claim, quotes, places)
    if lacking:
        reason = "; ".join((lacking, *filter(None, [graded.reason])))
        graded = replace(graded, support="worded", derivations=(), reason=reason)
    return replace(
        graded,
        quotes=tuple(quote if at.exact else _words(at) for quote, at in zip(quotes, places, strict=True)),
        spans=tuple(dict.fromkeys(span for place in places for span in place.spans)),
    )


def _grade_claim(claim: Claim, ground: Ground) -> LinkedFact | Rejected:
    """Grade a claim by the turns it quotes. In somebody's own words ("Ann: I went …") it must be theirs."""
    own = speech(claim.text)
    if own is None or (own.speaker not in ground.everyone and not gives_words_to_stranger(own, ground)):
        found = grade(claim.text, ground.turns)
        reasons = ["its words are in different turns"] * found.is_combined
        reasons += [str(each) for each in found.cautions if each.code != "topic"]
    elif own.speaker not in ground.speakers:
        return _rejected(claim, "said by somebody else")
    else:
        found, reasons = _grade_own_words(own, ground.only_by(own.speaker))
    if found.unsupported or not found.sentences:
        reasons = [f"not in the quoted turns: {', '.join(found.unsupported) or 'any word'}", *reasons]
    if claim.event_at is not None and not is_event_dated(claim.event_at, ground.quoted):
        reasons.append(f"event date does not follow from the turn: {claim.event_at}")
    return _fact(claim, found.support, found.computations, "; ".join(reasons))


def _grade_own_words(own: Speech, mine: Ground) -> tuple[Grade, list[str]]:
    """Grade words that are given to a speaker, with the reasons against them. The cautions of one's own words
    are none of a claim.
    """
    found = grade(own.said, mine.turns)
    if any(_words_of(own.said) in _words_of(turn.text) for turn in mine.turns):
        found = replace(found, support="quoted", unsupported=())
    reasons = ["not what was asked"] * (normalise(own.asked).text not in normalise(mine.asked).text)
    reasons += ["other words than the speaker's"] * (found.support == "worded")
    return found, reasons + ["it only asks"] * is_only_question(own.said)


def _words_of(text: str) -> str:
    return f" {' '.join(words(text))} "


def _fact(claim: Claim, support: Support, derivations: tuple[Derivation, ...], reason: str) -> LinkedFact:
    return LinkedFact(
        claim=claim.text, quotes=(), spans=(), support=support, grader=2, derivations=derivations,
        reason=reason, event_at=claim.event_at, scene=claim.scene, importance=claim.importance,
    )  # fmt: skip


def _lacking(claim: Claim, quotes: Sequence[str], places: Sequence[_Place]) -> str:
    wanted = len(dict.fromkeys(quote for quote in claim.quotes if quote.strip()))
    near = sum(not place.exact for place in places)
    short = any(place.short for place in places)
    missing = f"{wanted - len(quotes)} of {wanted} quotes are not on the pages shown"
    close = f"{near} of {wanted} quotes are on the pages in nearly these words"
    return "; ".join(
        [missing] * (wanted > len(quotes))
        + [close] * (near > 0)
        + ["a quote is too short to be known by"] * short
    )


def _words(place: _Place) -> str:
    return " … ".join(place.page.words(span) for span in place.spans)


def _placed(quotes: Sequence[str], pages: Sequence[Page]) -> list[tuple[str, list[_Place]]]:
    """Each quote that is on some page, with its places, in the order given.

    A quote too short to be known by itself ("last week") proves something only next to another quote, and
    a single word says nothing elsewhere.
    """
    wanted = [(quote, _parts(quote)) for quote in dict.fromkeys(quotes) if quote.strip()]
    found: dict[str, list[_Place]] = {}
    for quote, parts in wanted:
        several = sum(len(words(part)) for part in parts) >= 2
        places = list(islice(chain.from_iterable(_places(parts, page) for page in pages), _MAX_PLACES))
        if several and places:
            found[quote] = places
        elif several:
            close = _close(parts, pages)
            found |= {quote: [close]} if close else {}
    anchors = [place for places in found.values() for place in places]
    for quote, parts in wanted:
        if quote not in found and parts:
            near = [place for page in pages for place in _places(parts, page, short=True)]
            beside = (place for place in near if any(_next_to(place, other) for other in anchors))
            alone = near[:_MAX_PLACES] if len(words(quote)) > 1 else []
            places = list(islice(beside, _MAX_PLACES)) or [replace(place, short=True) for place in alone]
            found |= {quote: places} if places else {}
    return [(quote, found[quote]) for quote, _ in wanted if quote in found]


def _next_to(one: _Place, other: _Place) -> bool:
    same = one.page.id == other.page.id
    return same and one.turns[0] - 1 <= other.turns[-1] and other.turns[0] - 1 <= one.turns[-1]


def _parts(quote: str) -> tuple[str, ...]:
    """The pieces of a quote that must each be on the page, normalised."""
    plain = _HEADER.sub("\n", quote) if _HEADER.search(quote) else quote
    whole = normalise(plain).text
    if "\n" not in plain.strip() and not _ELLIPSIS.search(plain):
        return (whole,) if whole else ()
    pieces = [piece for line in plain.split("\n") for piece in _ELLIPSIS.split(line)]
    return tuple(part for part in (normalise(piece).text for piece in pieces) if words(part))


def _places(parts: Sequence[str], page: Page, *, short: bool = False) -> Iterator[_Place]:
    """Every place on `page` that has the parts in order, if need be without their outer punctuation."""
    bodies = [normalise(_body(page, line)) if line.turn is not None else None for line in page.lines]
    ahead: dict[int, _Hit] = {}
    for first in range(len(bodies) if parts else 0):
        hits = _hits(first, parts, bodies, ahead)
        if 0 < len(hits) < len(parts):  # from further on there is even less to be found
            return
        if hits and (short or any(_long_enough(hit.text, hit.body.text) for hit in hits)):
            yield _Place(
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
    return len(words(part)) >= MIN_WORDS and len(part) >= MIN_CHARACTERS


def _ground(places: Sequence[_Place]) -> Ground:
    at = {(place.page.id, index): (place.page, index) for place in places for index in place.turns}
    pages = {page.id: page for page, _ in at.values()}
    everyone = [line.turn.speaker for page in pages.values() for line in page.lines if line.turn is not None]
    return Ground(
        quoted=tuple(_quoted_turn(page, index, places) for page, index in at.values()),
        asked="\n".join(dict.fromkeys(_question_before(place.page, place.turns[0]) for place in places)),
        everyone=tuple(dict.fromkeys(everyone)),
    )


def _quoted_turn(page: Page, index: int, places: Sequence[_Place]) -> QuotedTurn:
    line = page.lines[index]
    inside = (
        span for place in places if place.page.id == page.id for span in place.spans
        if line.start <= span.start < line.end
    )  # fmt: skip
    source = Source(
        text=remaining(page, line.body, line.end),
        said_at=line.turn.said_at if line.turn else None,
        speaker=line.turn.speaker if line.turn else "",
        spans=kept(page, line.body, line.end),
        addressee=_other_speaker(page, line),
    )
    return QuotedTurn(
        quote="\n".join(page.words(span) for span in dict.fromkeys(inside)),
        turn=source,
    )


def _other_speaker(page: Page, line: PageLine) -> str:
    """The only other speaker of the page, or "" if there are several."""
    speakers = {one.turn.speaker for one in page.lines if one.turn is not None}
    others = speakers - {line.turn.speaker if line.turn is not None else ""}
    return others.pop() if len(others) == 1 else ""


def _question_before(page: Page, index: int) -> str:
    before = page.lines[index - 1].turn if index else None
    return " ".join(piece.text for piece in sentences(before.text) if "?" in piece.text) if before else ""


def _close(parts: Sequence[str], pages: Sequence[Page]) -> _Place | None:
    """The best near match of the whole quote inside one turn, on whole words."""
    wanted = " ".join(parts)
    if not _long_enough(wanted, ""):
        return None
    best: tuple[float, _Place] | None = None
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
                best = (found.score, _Place(page, (index,), (span,), exact=False))
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

"""From a claim and its quotes to a fact tied to exact characters of pages, or to a rejection with its reason.

If quotes are on pages (`tiermem.text.quotes`), the claim is graded by all the turns quoted
(`tiermem.proof.grade`); `reason` says what is against it. A quote that is only nearly on the page (0.9 alike)
is taken for the page's own words there, and supports no wording.
A claim is rejected if it gives words to somebody who did not say them, or no quote is on the pages. Pages are
searched in the order given, so words that are on two pages link to the page that was read first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, product

from pagestore import Page, PageLine
from tiermem.model import Claim, LinkedFact, Rejected
from tiermem.proof.grade import Grade, grade
from tiermem.proof.ground import Ground, QuotedTurn, gives_words_to_stranger, is_event_dated
from tiermem.text.instructions import instruction_like
from tiermem.text.literals import Source
from tiermem.text.normalise import fold_text
from tiermem.text.quotes import MAX_PLACES, QuotePlace, find_quotes
from tiermem.text.readings import Speech, is_only_question, speech
from tiermem.text.taken_back import kept_spans, remaining
from tiermem.text.words import sentences, words

NOT_FOUND = "no such words on the pages shown"
_MAX_CLAIM = 1_000
_MAX_QUOTE = 4_000
_MAX_QUOTES = 16
"""Characters of a claim and of a quote, and quotes of a claim, beyond which it is refused."""


def link(claim: Claim, pages: Sequence[Page]) -> LinkedFact | Rejected:
    """Tie `claim` to the exact words that support it. Never raises, whatever the claim holds.

    An ellipsis in a quote, a line break or a page-line header inside it separates parts; they must
    be on one page in this order. Quotes may be on different pages.
    """
    if instruction_like(claim.scene or ""):
        claim = replace(claim, scene=None)
    unusable = _unusable(claim)
    if unusable:
        return _reject_claim(claim, unusable)
    placed = find_quotes(claim.quotes, pages)
    if not placed:
        return _reject_claim(claim, NOT_FOUND)
    best: LinkedFact | Rejected | None = None
    for places in islice(product(*(options for _, options in placed)), MAX_PLACES):
        found = _link_at(claim, tuple(quote for quote, _ in placed), places)
        if isinstance(found, LinkedFact) and found.is_supported:
            return found
        if best is None or (isinstance(best, Rejected) and isinstance(found, LinkedFact)):
            best = found
    return best or _reject_claim(claim, NOT_FOUND)


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
    return None


def _reject_claim(claim: Claim, reason: str) -> Rejected:
    return Rejected(claim=claim.text, quotes=claim.quotes, reason=reason)


def _link_at(claim: Claim, quotes: Sequence[str], places: Sequence[QuotePlace]) -> LinkedFact | Rejected:
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
        quotes=tuple(quote if at.exact else at.words for quote, at in zip(quotes, places, strict=True)),
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
        return _reject_claim(claim, "said by somebody else")
    else:
        found, reasons = _grade_own_words(own, ground.only_by(own.speaker))
    if found.unsupported or not found.sentences:
        reasons = [f"not in the quoted turns: {', '.join(found.unsupported) or 'any word'}", *reasons]
    if claim.event_at is not None and not is_event_dated(claim.event_at, ground.quoted):
        reasons.append(f"event date does not follow from the turn: {claim.event_at}")
    return LinkedFact(
        claim=claim.text, quotes=(), spans=(), support=found.support,
        derivations=found.computations, reason="; ".join(reasons), event_at=claim.event_at,
        scene=claim.scene, importance=claim.importance,
    )  # fmt: skip


def _grade_own_words(own: Speech, mine: Ground) -> tuple[Grade, list[str]]:
    """Grade words that are given to a speaker, with the reasons against them. The cautions of one's own words
    are none of a claim.
    """
    found = grade(own.said, mine.turns)
    if any(_words_of(own.said) in _words_of(turn.text) for turn in mine.turns):
        found = replace(found, support="quoted", unsupported=())
    reasons = ["not what was asked"] * (fold_text(own.asked) not in fold_text(mine.asked))
    reasons += ["other words than the speaker's"] * (found.support == "worded")
    return found, reasons + ["it only asks"] * is_only_question(own.said)


def _words_of(text: str) -> str:
    return f" {' '.join(words(text))} "


def _lacking(claim: Claim, quotes: Sequence[str], places: Sequence[QuotePlace]) -> str:
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


def _ground(places: Sequence[QuotePlace]) -> Ground:
    at = {(place.page.id, index): (place.page, index) for place in places for index in place.turns}
    pages = {page.id: page for page, _ in at.values()}
    everyone = [line.turn.speaker for page in pages.values() for line in page.lines if line.turn is not None]
    return Ground(
        quoted=tuple(_quoted_turn(page, index, places) for page, index in at.values()),
        asked="\n".join(dict.fromkeys(_question_before(place.page, place.turns[0]) for place in places)),
        everyone=tuple(dict.fromkeys(everyone)),
    )


def _quoted_turn(page: Page, index: int, places: Sequence[QuotePlace]) -> QuotedTurn:
    line = page.lines[index]
    inside = (
        span for place in places if place.page.id == page.id for span in place.spans
        if line.start <= span.start < line.end
    )  # fmt: skip
    source = Source(
        text=remaining(page, line.body, line.end),
        said_at=line.turn.said_at if line.turn else None,
        speaker=line.turn.speaker if line.turn else "",
        spans=kept_spans(page, line.body, line.end),
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

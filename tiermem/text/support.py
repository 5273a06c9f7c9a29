"""Whether the words of a turn support a claim: the checks between "the quote is there" and "it is proved".

Finding a quote proves that words were said, not that a claim follows from them. These checks are
lexical on purpose: each can only refuse. Numbers, dates and names of the claim must be told by the
turn; who does what and whether it is denied must agree; and the claim must be about the turn at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from tiermem.text.dates import WEEKDAYS, DateMention, parse_iso, resolve_dates
from tiermem.text.literals import names, negated, numbers
from tiermem.text.words import STOP_WORDS, WORD, sentences, stem, words

_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|previous|above|prompts?|rules?)\b"
    r"|\bsystem prompt\b|\byou must (?:always|now|never)\b|\bexfiltrat|\bapi[_ -]?key\b|\bjailbreak"
    r"|</?(?:system|assistant|user|instructions?)>|<\|\w+\|>|^\s*(?:system|assistant)\s*:",
    re.I | re.S | re.M,
)
_ANCHOR = re.compile(
    r"\b(?:as of|by|before|after|around|about|since|until|till|said on|told|shared|from|early|mid|late|recent\w*)"
    r"(?:\s+(?:the|early|mid|late|in|on|week of))*[\s-]*\Z",
    re.I,
)
_WEEK_OF = re.compile(r"\bweek (?:of|beginning|starting|from)\s*\Z", re.I)
_CLAUSE_END = re.compile(
    r"[,.;:!?()\n—–]|\b(?:but|so|because|though|although|while|when|if|unless|and|since|as)\b", re.I
)
_NOT_REALLY = re.compile(
    r"\b(?:can['’]?t|cannot|couldn['’]?t|can not)\s+(?:wait|believe|imagine|get enough|help|thank|be happier|agree more|get over|stop)\b"
    r"|\bnot only\b|\bno (?:doubt|problem|worries|wonder|way)\b|\bnever (?:gets|get|got) old\b|\bwhy not\b|\bnot (?:to mention|just)\b"
    r"|\bno matter\b|\bwon['’]?t (?:regret|forget)\b|\bwhy don['’]?t\b|\bdon['’]?t (?:forget|worry|hesitate)\b",
    re.I,
)
_NEGATIVE = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|without|cannot|neither|nor|\w+n['’]t|dont|didnt|cant|wont|isnt|"
    r"wasnt|doesnt|havent|hasnt)\b",
    re.I,
)
_FIRST = frozenset(
    "i i'm i've i'd i'll my me mine myself we we're we've we'd we'll our ours us im ive".split()
)
_SECOND = frozenset("you you're you've you'd you'll your yours yourself u ur".split())
_AUXILIARY = frozenset(
    "is was has had have would will can could should does did are were might may must".split()
)
_OPENS_CLAUSE = frozenset(
    "that because and while when who if as but says said thinks thought believes hopes".split()
)
_REPORTING = frozenset(
    map(
        stem,
        """says said say thinks think thought told tell tells asked asks ask mentioned mention mentions shared
        share shares calls call called feels feel felt finds find found believes believe wants want recommended
        photo picture image conversation user""".split(),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a claim may rest on: the words of the quoted turns, and what stood on the page before them."""

    quote: str
    text: str
    earlier: str
    speakers: tuple[str, ...]
    """Who said the quoted turns."""
    others: tuple[str, ...]
    """Who else speaks on the page."""
    said_at: datetime | None


@dataclass(frozen=True, slots=True)
class _Reading:
    """One content word as a text uses it: whose doing it is ("" when it does not say) and whether denied."""

    stem: str
    owner: str
    denied: bool


def instruction_like(text: str) -> bool:
    """Whether `text` tries to give orders to a model or to speak for the system."""
    return bool(_INSTRUCTION.search(text))


def objection(claim: str, event_at: str | None, ground: Ground) -> str | None:
    """Why `ground` does not support `claim`; `None` when every check passes."""
    told = resolve_dates(claim, ground.said_at)
    plain = _blank(claim, told)
    return (
        _wrong_number(plain, ground)
        or _wrong_date(claim, told, event_at, ground)
        or _wrong_name(plain, ground)
        or _wrong_words(plain, ground)
        or _wrong_polarity(plain, ground)
        or _wrong_person(plain, ground)
    )


def _blank(text: str, mentions: Sequence[DateMention]) -> str:
    for mention in mentions:
        text = text[: mention.start] + " " * (mention.end - mention.start) + text[mention.end :]
    return text


def _wrong_number(claim: str, ground: Ground) -> str | None:
    held = set(numbers(ground.text))
    missing = [number for number in numbers(claim) if number not in held]
    return f"number not in the turn: {missing[0]}" if missing else None


def _wrong_date(claim: str, told: Sequence[DateMention], event_at: str | None, ground: Ground) -> str | None:
    shown = resolve_dates(ground.text, ground.said_at)
    quoted = resolve_dates(ground.quote, ground.said_at) or shown
    for mention in told:
        weekday = _weekday_before(claim, mention)
        if weekday is not None and weekday != mention.first.weekday():
            return f"weekday and date disagree: {mention.text}"
        if _follows_as_weekday(claim, mention):
            continue
        if not _told(mention, claim, shown, quoted, ground.said_at):
            return f"date does not follow from the turn: {mention.text.strip()}"
    if event_at is not None and not _event_told(event_at, shown, quoted, ground.said_at):
        return f"event date does not follow from the turn: {event_at}"
    return None


def _weekday_before(claim: str, mention: DateMention) -> int | None:
    found = re.search(r"\b(" + "|".join(WEEKDAYS) + r"),?\s*(?:the\s+)?\Z", claim[: mention.start], re.I)
    return WEEKDAYS.index(found[1].lower()) if found and mention.precision == "day" else None


def _follows_as_weekday(claim: str, mention: DateMention) -> bool:
    """A weekday written before a full date is checked with that date."""
    return mention.text.lower() in WEEKDAYS and bool(re.match(r",?\s*(?:the\s+)?\d", claim[mention.end :]))


def _told(
    mention: DateMention,
    claim: str,
    shown: Sequence[DateMention],
    quoted: Sequence[DateMention],
    said_at: datetime | None,
) -> bool:
    before = claim[: mention.start]
    if any(found.holds(mention.first, mention.last) for found in shown):
        return True
    if _WEEK_OF.search(before):
        return any(
            found.precision == "week" and found.first <= mention.first <= found.last for found in shown
        )
    anchored = bool(_ANCHOR.search(before))
    if anchored and any(
        mention.first == edge or mention.last == edge for found in shown for edge in (found.first, found.last)
    ):
        return True
    if said_at is None or not mention.first <= said_at.date() <= mention.last:
        return False
    return anchored or not any(_elsewhere(found, mention) for found in quoted)


def _elsewhere(found: DateMention, mention: DateMention) -> bool:
    return found.last < mention.first or found.first > mention.last


def _event_told(
    event_at: str, shown: Sequence[DateMention], quoted: Sequence[DateMention], said_at: datetime | None
) -> bool:
    days = parse_iso(event_at)
    if days is None:
        return False
    if any(found.holds(*days) for found in shown):
        return True
    if said_at is None or not days[0] <= said_at.date() <= days[1]:
        return False
    return not any(found.last < days[0] or found.first > days[1] for found in quoted)


def _wrong_name(claim: str, ground: Ground) -> str | None:
    held = {stem(word) for word in words(ground.text)}
    held |= {stem(word) for word in words(ground.earlier)}
    people = " ".join((*ground.speakers, *ground.others))
    held |= {stem(word) for word in words(people)}
    for name in names(claim):
        if any(stem(word) not in held for word in words(name)):
            return f"name not on the page so far: {name}"
    return None


def _content(claim: str, ground: Ground) -> set[str]:
    people = {stem(word) for person in (*ground.speakers, *ground.others) for word in words(person)}
    return {stem(word) for word in words(claim) if word not in STOP_WORDS} - people - _REPORTING


def _wrong_words(claim: str, ground: Ground) -> str | None:
    content = _content(claim, ground)
    held = {stem(word) for word in words(ground.text)}
    if content and 2 * len(content & held) < len(content):
        return "claim is not about the turn"
    return None


def _wrong_polarity(claim: str, ground: Ground) -> str | None:
    said = list(_readings(ground.text, ground, claim=False))
    told = list(_readings(claim, ground, claim=True))
    held: dict[str, set[bool]] = {}
    for reading in said:
        held.setdefault(reading.stem, set()).add(reading.denied)
    clashes = [
        reading for reading in told if reading.stem in held and reading.denied not in held[reading.stem]
    ]
    if clashes:
        return f"negation differs: {clashes[0].stem}"
    if any(reading.denied for reading in told) and not negated(ground.text):
        return "negation not in the turn"
    return None


def _wrong_person(claim: str, ground: Ground) -> str | None:
    held: dict[str, set[str]] = {}
    for reading in _readings(ground.text, ground, claim=False):
        held.setdefault(reading.stem, set()).add(reading.owner)
    agree = differ = 0
    for reading in _readings(claim, ground, claim=True):
        owners = held.get(reading.stem)
        if owners and reading.owner:
            if reading.owner in owners:
                agree += 1
            else:
                differ += 1
    return "said of somebody else" if differ > agree else None


def _readings(text: str, ground: Ground, *, claim: bool) -> Iterator[_Reading]:
    speaker = ground.speakers[0] if ground.speakers else ""
    addressee = ground.others[0] if len(ground.others) == 1 else "?"
    people = {words(person)[0]: person for person in (*ground.others, *ground.speakers) if words(person)}
    for piece in sentences(text) if not claim else [None]:
        body = piece.text if piece is not None else text
        owner = "" if claim else speaker
        for start, end, denied in _scopes(body):
            found = list(WORD.finditer(body, start, end))
            for index, match in enumerate(found):
                word = match.group().replace("’", "'").lower()
                bare = word.removesuffix("'s")
                if bare in people:
                    after = found[index + 1].group().lower() if index + 1 < len(found) else ""
                    before = found[index - 1].group().lower() if index else ""
                    if (
                        not claim
                        or not owner
                        or word != bare
                        or after in _AUXILIARY
                        or before in _OPENS_CLAUSE
                        or index == 0
                    ):
                        owner = people[bare]
                elif not claim and word in _FIRST:
                    owner = speaker
                elif not claim and word in _SECOND:
                    owner = addressee
                elif word not in STOP_WORDS and not _NEGATIVE.fullmatch(word):
                    yield _Reading(stem(word), owner, denied)


def _scopes(text: str) -> Iterator[tuple[int, int, bool]]:
    """Cut `text` into clauses and, inside each, before and after its first negation."""
    real = _NOT_REALLY.sub(lambda match: "_" * len(match.group()), text)
    edges = [0, *(match.end() for match in _CLAUSE_END.finditer(real)), len(text)]
    for start, end in zip(edges, edges[1:], strict=False):
        cue = _NEGATIVE.search(real, start, end)
        if cue is None:
            yield start, end, False
        else:
            yield start, cue.start(), False
            yield cue.start(), end, True

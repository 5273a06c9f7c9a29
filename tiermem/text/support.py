"""Whether the words of a turn support a claim: the checks between "the quote is there" and "it is proved".

Finding a quote proves that words were said, not that a claim follows from them. These checks are
lexical on purpose: each can only refuse. Numbers, dates and names of the claim must be told by the
turn; who does what and whether it is denied must agree; and the claim must be about the turn at all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tiermem.text.dates import WEEKDAYS, DateMention, parse_iso, resolve_dates, without_dates
from tiermem.text.literals import ORDINALS, named_in, names, numbers
from tiermem.text.normalise import normalise
from tiermem.text.readings import People, Reading, idioms, negated, read_claim, read_turn, speech
from tiermem.text.words import STOP_WORDS, sentences, stem, word_list, words

_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|previous|above|prompts?|rules?)\b"
    r"|\bsystem prompt\b|\byou must (?:always|now|never)\b|\bexfiltrat|\bapi[_ -]?key\b|\bjailbreak"
    r"|</?(?:system|assistant|user|instructions?)>|<\|\w+\|>|^\s*(?:system|assistant)\s*:",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_ANCHOR = re.compile(
    r"\b(?:as of|by|before|after|around|about|since|until|till|said on|from|early|mid|late|recent\w*)"
    r"(?:\s+(?:the|early|mid|late|in|on|week of))*[\s-]*\Z",
    re.IGNORECASE,
)
_WEEK_OF = re.compile(r"\bweek (?:of|beginning|starting|from)\s*\Z", re.IGNORECASE)
_ASKING = re.compile(
    r"\b(?:what|where|when|who|how|why|which|do|did|does|have|has|is|are|was|were|can|could|would|will|any|so)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:ask|wonder|want|suggest|invit|offer|plan|propos|propose|would like|curious|interest)",
    re.IGNORECASE,
)
_TELLING = frozenset(
    map(
        stem,
        word_list("""
            says said tells told suggests suggested advises advised asks asked recommends recommended
            promised offered invited encouraged congratulated thanked praised mentioned agrees agreed
            compared thinks thought believes hopes confirmed explained
        """),
    )
)
_NOT_CONTENT = _TELLING | {
    stem(word) for word in ("shared", "photo", "picture", "image", "called", "feels", "found")
}
_STANDS_FOR = frozenset(map(stem, word_list("something anything someone anyone thing things stuff like")))
"""Words in place of what is meant, as in "never been to something like that"."""

_Read = Callable[[str, People], list[Reading]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a claim may rest on: the words quoted, the turns they stand in, the page up to there."""

    quote: str
    text: str
    asked: str
    """What was asked just before the turn, "" when nothing was: it tells what a short reply is about."""
    beside: str
    """What was said just before and after the turn: it may tell what the turn takes as understood."""
    earlier: str
    people: People
    said_at: datetime | None


def instruction_like(text: str) -> bool:
    """Whether `text` tries to give orders to a model or to speak for the system."""
    return bool(_INSTRUCTION.search(text))


def objection(claim: str, event_at: str | None, ground: Ground) -> str | None:
    """Why `ground` does not support `claim`; `None` when every check passes.

    A claim in somebody's own words (`Ann: I went …`) must be that speaker's; what it says was asked must
    have been asked just before, and needs no other support.
    """
    own = speech(claim)
    if own is not None and own.speaker in (ground.people.speaker, *ground.people.others):
        if own.speaker != ground.people.speaker:
            return "said by somebody else"
        if own.asked and normalise(own.asked).text not in normalise(ground.asked).text:
            return "not what was asked"
        return _objection(own.said, event_at, ground, read_turn)
    return _objection(claim, event_at, ground, read_claim)


def _objection(claim: str, event_at: str | None, ground: Ground, read: _Read) -> str | None:
    told = resolve_dates(claim, ground.said_at)
    plain = without_dates(claim, told)
    return (
        _wrong_number(plain, ground)
        or _wrong_date(claim, told, event_at, ground)
        or _wrong_name(plain, ground)
        or _wrong_words(plain, ground)
        or _wrong_reading(plain, ground, read)
    )


def _wrong_number(claim: str, ground: Ground) -> str | None:
    held = set(numbers(ground.text, loose=True))
    for number in numbers(claim):
        if number not in held and not _told_before(number, claim, ground):
            return f"number not in the turn: {number}"
    return None


def _told_before(number: str, claim: str, ground: Ground) -> bool:
    """Whether the number only says which one is meant ("Cyberpunk 2077", "her second script") and the page
    has told so before.
    """
    name = re.search(rf"\b[A-Z][^\W_]+ {re.escape(number)}\b", claim)
    if name is not None and name[0] in ground.earlier:
        return True
    before = {word for word in words(ground.earlier) if word in ORDINALS}
    return any(str(ORDINALS[word]) == number for word in words(claim) if word in before)


def _wrong_date(claim: str, told: Sequence[DateMention], event_at: str | None, ground: Ground) -> str | None:
    shown = resolve_dates(ground.text, ground.said_at, durations=True)
    quoted = resolve_dates(ground.quote, ground.said_at)
    # A quote that gives its own time leaves no room for the time of saying it, unless the claim gives both
    # or tells of the saying itself.
    open_time = _teller(claim, ground.people) is not None or all(
        any(found.holds(m.first, m.last) for m in told) for found in quoted
    )
    for mention in told:
        if _is_weekday_of_date(claim, mention):
            continue
        weekday = _weekday_before(claim, mention)
        if weekday is not None and weekday != mention.first.weekday():
            return f"weekday and date disagree: {mention.text}"
        if not _told(mention, claim[: mention.start], shown, ground.said_at, open_time=open_time):
            return f"date does not follow from the turn: {mention.text.strip()}"
    if event_at is not None and not _event_told(event_at, shown, quoted, ground.said_at):
        return f"event date does not follow from the turn: {event_at}"
    return None


def _weekday_before(claim: str, mention: DateMention) -> int | None:
    found = re.search(
        r"\b(" + "|".join(WEEKDAYS) + r"),?\s*(?:the\s+)?\Z", claim[: mention.start], re.IGNORECASE
    )
    return WEEKDAYS.index(found[1].lower()) if found and mention.precision == "day" else None


def _is_weekday_of_date(claim: str, mention: DateMention) -> bool:
    """A weekday written before a full date is checked with that date."""
    return mention.text.lower() in WEEKDAYS and bool(re.match(r",?\s*(?:the\s+)?\d", claim[mention.end :]))


def _told(
    mention: DateMention,
    before: str,
    shown: Sequence[DateMention],
    said_at: datetime | None,
    *,
    open_time: bool,
) -> bool:
    if any(found.holds(mention.first, mention.last) for found in shown):
        return True
    if _WEEK_OF.search(before):
        return any(
            found.precision == "week" and found.first <= mention.first <= found.last for found in shown
        )
    anchored = bool(_ANCHOR.search(before))
    if anchored and any(mention.first == found.first or mention.last == found.last for found in shown):
        return True
    said_then = said_at is not None and mention.first <= said_at.date() <= mention.last
    return said_then and (anchored or open_time)


def _event_told(
    event_at: str, shown: Iterable[DateMention], quoted: Iterable[DateMention], said_at: datetime | None
) -> bool:
    days = parse_iso(event_at)
    if days is None:
        return False
    if any(found.holds(*days) for found in shown):
        return True
    said_then = said_at is not None and days[0] <= said_at.date() <= days[1]
    return said_then and not any(True for _ in quoted)


def _wrong_name(claim: str, ground: Ground) -> str | None:
    people = " ".join((ground.people.speaker, *ground.people.others))
    held = {stem(word) for word in words(f"{ground.text}\n{ground.earlier}\n{people}")}
    missing = [name for name in names(claim) if not named_in(name, held)]
    return f"name not on the page so far: {missing[0]}" if missing else None


def _wrong_words(claim: str, ground: Ground) -> str | None:
    people = {stem(word) for name in (ground.people.speaker, *ground.people.others) for word in words(name)}
    content = {stem(word) for word in words(claim) if word not in STOP_WORDS} - people - _NOT_CONTENT
    turn = {stem(word) for word in words(f"{ground.text}\n{ground.asked}")}
    quoted = {stem(word) for word in words(ground.quote) if word not in STOP_WORDS}
    if 2 * len(content & turn) < len(content) and not _takes_up(claim, content, quoted, turn, ground):
        return "claim is not about the turn"
    if content and quoted and not content & quoted:
        return "claim is not about the quote"
    if _only_asks(ground.quote) and not _ASKS.search(claim):
        return "a question asserts nothing"
    return None


def _takes_up(claim: str, content: set[str], quoted: set[str], turn: set[str], ground: Ground) -> bool:
    """Whether a claim about the speaker tells what the quote says in words of the turns around it."""
    people = {stem(word) for name in (ground.people.speaker, *ground.people.others) for word in words(name)}
    around = turn | {stem(word) for word in words(ground.beside)}
    about = next((word for word in map(stem, words(claim)) if word in people), None)
    if about not in {stem(word) for word in words(ground.people.speaker)}:
        return False
    told, shared = len(content & around) / len(content), len(content & quoted) / max(1, len(quoted))
    return (told >= 0.5 and shared >= 0.5) or (told >= 0.6 and shared >= 0.25)


def _only_asks(quote: str) -> bool:
    return all(piece.text.endswith("?") and _ASKING.match(piece.text) for piece in sentences(quote))


def _wrong_reading(claim: str, ground: Ground, read: _Read) -> str | None:
    told = read(claim, ground.people)
    quote = read_turn(ground.quote, ground.people)
    held = _by_stem(read_turn(ground.text, ground.people)) | _by_stem(quote)
    return _wrong_polarity(claim, told, quote, held, ground) or _wrong_person(
        told, held, ground, None if read is read_turn else _teller(claim, ground.people)
    )


def _by_stem(readings: Iterable[Reading]) -> dict[str, list[Reading]]:
    found: dict[str, list[Reading]] = defaultdict(list)
    for reading in readings:
        found[reading.stem].append(reading)
    return dict(found)


def _wrong_polarity(
    claim: str,
    told: Sequence[Reading],
    quote: Sequence[Reading],
    held: Mapping[str, Sequence[Reading]],
    ground: Ground,
) -> str | None:
    """In every clause of the claim, most words it shares with the turn must be denied there as here."""
    here, quoted = _by_stem(told), {reading.stem for reading in quote}
    agree: dict[int, int] = defaultdict(int)
    for reading in told:
        if reading.stem in held:
            same = any(other.denied == reading.denied for other in held[reading.stem])
            if same or reading.denied or reading.stem in quoted:
                agree[reading.clause] += 2 if same else -3
    if (
        any(balance < 0 for balance in agree.values())
        or _first_differs(told, held)
        or _first_differs(quote, here)
    ):
        return "negation differs from the turn"
    if negated(claim) and not negated(ground.text):
        return "negation not in the turn"
    there = _first_denied(quote)
    if there and not there & here.keys() and _first_denied(told) - held.keys():
        return "what is denied is not in the turn"
    if negated(ground.quote) and not negated(claim):
        return "negation of the quote is lost"
    if {stem(words(idiom)[-1]) for idiom in idioms(ground.quote)} & set(here) and not idioms(claim):
        return "negation of the quote is lost"
    return None


def _first_denied(readings: Iterable[Reading]) -> set[str]:
    """The first word after every negation that names something: usually the verb of what is denied."""
    first: dict[int, str] = {}
    for reading in readings:
        if reading.denied and reading.stem not in _STANDS_FOR:
            first.setdefault(reading.clause, reading.stem)
    return set(first.values())


def _first_differs(denying: Iterable[Reading], held: Mapping[str, Sequence[Reading]]) -> bool:
    """Whether the first shared word after some negation is nowhere denied on the other side."""
    seen: set[int] = set()
    for reading in denying:
        if reading.denied and reading.clause not in seen and reading.stem in held:
            seen.add(reading.clause)
            if not any(other.denied for other in held[reading.stem]):
                return True
    return False


def _wrong_person(
    told: Sequence[Reading], held: Mapping[str, Sequence[Reading]], ground: Ground, teller: str | None
) -> str | None:
    if teller is not None:
        return None if teller == ground.people.speaker else "said by somebody else"
    same = differ = 0
    for reading in told:
        if reading.owner and reading.stem in held:
            agrees = any(other.owner == reading.owner for other in held[reading.stem])
            same, differ = same + agrees, differ + (not agrees)
    return "said of somebody else" if differ and differ >= same else None


def _teller(claim: str, people: People) -> str | None:
    """Whom the claim makes say something: the first person named, when a verb of telling follows."""
    found = words(claim)
    for at, name in enumerate(found[:-1]):
        if name.removesuffix("'s") in people.by_name:
            return people.by_name.get(name) if stem(found[at + 1]) in _TELLING else None
    return None

"""Version 1 of the grader of claims: it decides which units go with a turn, and what their trust is.

Finding a quote proves that words were said, not that a claim follows from them. These checks are
lexical on purpose, and a check that fails says only that code could not confirm the claim: numbers, dates
and names must be told by the turns quoted or computed from them; who does what and whether it is denied
must agree; and the claim must be about the turns at all. What refuses a claim is something else, and has
to be plain: see `contradiction`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import product

from tiermem.model import Derivation, Graded
from tiermem.proof.derive import amounts, count_of, counted_date, mentions, reckoned, term, written
from tiermem.text.dates import WEEKDAYS, DateMention, parse_iso, resolve_dates, without_dates
from tiermem.text.literals import ORDINALS, Source, named_in, names, numbers
from tiermem.text.normalise import normalise
from tiermem.text.readings import People, Reading, Speech, idioms, is_negated, read_claim, read_turn, speech
from tiermem.text.words import STOP_WORDS, lower, sentences, stem, word_list, words

_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|previous|above|prompts?|rules?)\b"
    r"|\bsystem prompt\b|\byou must (?:always|now|never)\b|\bexfiltrat|\bapi[_ -]?key\b|\bjailbreak"
    r"|</?(?:system|assistant|user|instructions?)>|<\|\w++\|>|^[^\S\n]*+(?:system|assistant)\s*+:",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_ANCHOR = re.compile(
    r"\b(?:as of|by|before|after|around|about|since|until|till|said on|from|early|mid|late|recent\w*)"
    r"(?:\s++(?:the|early|mid|late|in|on|week of)\b){0,4}[\s-]*+\Z",
    re.IGNORECASE,
)
_WEEK_OF = re.compile(r"\bweek (?:of|beginning|starting|from)\s*+\Z", re.IGNORECASE)
_ASKING = re.compile(
    r"\b(?:what|where|when|who|how|why|which|do|did|does|have|has|is|are|was|were|can|could|would|will|any|so)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:ask|wonder|want|suggest|invit|offer|plan|propos|propose|would like|curious|interest)",
    re.IGNORECASE,
)
_REPLY = re.compile(
    r"(?:yes|yeah|yep|yup|sure|definitely|absolutely|of course|right|exactly|certainly|indeed|no|nope|nah"
    r"|never|not yet|i do|i did|i have|i am)\b",
    re.IGNORECASE,
)
_BREATH = re.compile(r"[,.;:!?\n]|\band\b|\bbut\b", re.IGNORECASE)
_WEEKDAY = re.compile(r"\b(" + "|".join(WEEKDAYS) + r"),?\s*+(?:the\s++)?\Z", re.IGNORECASE)
_THEN_A_DAY = re.compile(r"\A,?\s*+(?:the\s++)?\d")
_BESIDE = 60
"""Characters beside a date in which what it is tied to stands ("Tuesday the", "as of early")."""
_NEAR = 2
"""Lines of a page up to which two quoted turns belong to one talk."""
_TAKEN_UP = ((0.5, 0.5), (0.6, 0.25))
"""Shares of a claim's content that the turns around hold, and of the quote's words that the claim holds, that
together make it a telling of them."""
_AGREES, _DIFFERS = 2, -3
"""What a word counts that is denied here as there, and one that is not: three in five must agree."""
_SAME_WORDS = 0.75
"""The share of a claim's content that a quote must hold to speak of the same thing."""
_PLAIN = 0.2
"""How much more must fit the people of a claim where several speakers are quoted."""
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
_WHICH_ONE = frozenset(
    (*WEEKDAYS, *word_list("last this next past coming previous following on in by until"))
)
"""What begins a date that people count in two ways: "last Tuesday" is of this week or the one before."""
_SECOND_PERSON = re.compile(r"\b(?:you|your|yours|we|our|us|he|she|they|his|her|their)\b", re.IGNORECASE)
_STANDS_FOR = frozenset(map(stem, word_list("something anything someone anyone thing things stuff like")))
"""Words in place of what is meant, as in "never been to something like that"."""

_Read = Callable[[str, People], list[Reading]]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedTurn:
    """One quoted turn: the words quoted of it, and the turn itself with who said it, when and where."""

    quote: str
    turn: Source
    page: str = ""
    line: int = 0
    """Which line of which page it is: turns near each other speak of the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a claim may rest on: the turns quoted, all together, and the pages up to there."""

    quoted: tuple[QuotedTurn, ...]
    asked: str
    """What was asked just before a turn, "" when nothing was: it tells what a short reply is about."""
    beside: str
    """What was said just before and after the turns: it may tell what they take as understood."""
    earlier: str
    everyone: tuple[str, ...]
    """All who speak on the pages, by name."""

    @property
    def text(self) -> str:
        """The quoted turns, whole."""
        return "\n".join(one.turn.text for one in self.quoted)

    @property
    def quote(self) -> str:
        """The words quoted."""
        return "\n".join(one.quote for one in self.quoted)

    @property
    def turns(self) -> tuple[Source, ...]:
        """The quoted turns."""
        return tuple(one.turn for one in self.quoted)

    @property
    def speakers(self) -> tuple[str, ...]:
        """Who said what is quoted."""
        return tuple(dict.fromkeys(one.turn.speaker for one in self.quoted))

    @property
    def people(self) -> People:
        """Everybody, with the speaker of the first turn as the one who speaks."""
        return self.people_of(self.quoted[0])

    def people_of(self, one: QuotedTurn) -> People:
        """Everybody, with the speaker of this turn as the one who speaks."""
        speaker = one.turn.speaker
        return People(speaker=speaker, others=tuple(name for name in self.everyone if name != speaker))

    def times(self) -> tuple[datetime, ...]:
        """When the quoted turns were said."""
        return tuple(one.turn.said_at for one in self.quoted if one.turn.said_at is not None)

    def only_by(self, speaker: str) -> Ground:
        """The turns of this speaker alone; what the others said stands beside them."""
        mine = tuple(one for one in self.quoted if one.turn.speaker == speaker)
        rest = (one.quote for one in self.quoted if one.turn.speaker != speaker)
        asked = "\n".join((self.asked, *rest)) if len(mine) < len(self.quoted) else self.asked
        return replace(self, quoted=mine, asked=asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How far a ground bears out a claim, and what was computed or why it could not be confirmed."""

    support: Graded
    reason: str = ""
    derivations: tuple[Derivation, ...] = ()


def instruction_like(text: str) -> bool:
    """Whether `text` tries to give orders to a model or to speak for the system."""
    return bool(_INSTRUCTION.search(text))


def judged(claim: str, event_at: str | None, ground: Ground) -> Verdict:
    """Grade a claim against the words it quotes by version 1: half of its words are enough.

    A claim in somebody's own words (`Ann: I went …`) must be that speaker's; what it says was asked must have
    been asked just before, and needs no other support.
    """
    own = speech(claim)
    if own is None or (own.speaker not in ground.everyone and not is_word_for_word(own, ground)):
        return _judged(claim, event_at, ground, read_claim)
    if own.speaker not in ground.speakers:
        return Verdict(support="contradicted", reason="said by somebody else")
    mine = ground.only_by(own.speaker)
    if own.asked and normalise(own.asked).text not in normalise(mine.asked).text:
        return Verdict(support="worded", reason="not what was asked")
    return _judged(own.said, event_at, mine, read_turn)


def is_word_for_word(own: Speech, ground: Ground) -> bool:
    """Whether words of the turns are given to somebody who is not there, by name."""
    name = own.speaker.split()
    named = len(name) <= 3 and all(word[0].isupper() for word in name)
    known = _people(ground) & set(map(stem, words(own.speaker)))
    said = " ".join(words(own.said))
    return named and not known and said.count(" ") >= 2 and said in " ".join(words(ground.text))


def _judged(claim: str, event_at: str | None, ground: Ground, read: _Read) -> Verdict:
    dates = resolve_dates(claim, ground.quoted[-1].turn.said_at)
    plain = without_dates(claim, dates)
    derived: list[Derivation] = []
    why = (
        _wrong_number(plain, ground, derived)
        or _wrong_date(claim, dates, event_at, ground, derived)
        or _wrong_name(plain, ground)
        or _wrong_words(plain, ground)
        or _mixed(plain, ground)
        or _wrong_reading(plain, ground, read)
    )
    if why is None:
        return Verdict(support="derived" if derived else "stated", derivations=tuple(dict.fromkeys(derived)))
    against = contradiction(claim, ground, read)
    return Verdict(support="contradicted" if against else "worded", reason=against or why)


def _wrong_number(claim: str, ground: Ground, derived: list[Derivation]) -> str | None:
    given = set(numbers(ground.text, loose=True))
    for number in numbers(claim):
        if number in given or _given_before(number, claim, ground):
            continue
        found = _computed(number, claim, ground)
        if found is None:
            return f"number not in the turn: {number}"
        derived.append(found)
    return None


def _computed(number: str, claim: str, ground: Ground) -> Derivation | None:
    """The number as a count of the quoted turns, each of which names the thing, or reckoned from theirs."""
    if len(ground.quoted) < 2 or not number.replace(".", "", 1).isdigit():
        return None
    for amount in amounts(Source(claim)):
        if written(amount.value) != number or not amount.unit:
            continue
        naming = [one.turn for one in ground.quoted if amount.unit in map(stem, words(one.quote))]
        if len(naming) == len(ground.quoted) and str(len(naming)) == number:
            return count_of([term(turn, 0, len(turn.text)) for turn in naming])
        quoted = [Source(one.quote) for one in ground.quoted]
        if reckoned(amount.value, quoted, sign=amount.sign, units={amount.unit}) is not None:
            return reckoned(amount.value, ground.turns, sign=amount.sign, units={amount.unit})
    return None


def _given_before(number: str, claim: str, ground: Ground) -> bool:
    """Whether the number only says which one is meant ("Cyberpunk 2077", "her second script") and the page
    has told so before.
    """
    name = re.search(rf"\b[A-Z][^\W_]+ {re.escape(number)}\b", claim)
    if name is not None and name[0] in ground.earlier:
        return True
    before = ORDINALS.keys() & set(words(ground.earlier))
    return any(str(ORDINALS[word]) == number for word in words(claim) if word in before)


def _wrong_date(
    claim: str, dates: Sequence[DateMention], event_at: str | None, ground: Ground, derived: list[Derivation]
) -> str | None:
    shown = [mention for turn in ground.turns for mention in mentions(turn)]
    quoted = [mention for part in ground.quoted for mention in resolve_dates(part.quote, part.turn.said_at)]
    # A quote that gives its own time leaves no room for the time of saying it, unless the claim gives both
    # or tells of the saying itself.
    open_time = _teller(claim, ground.people) is not None or all(
        any(found.holds(m.first, m.last) for m in dates) for found in quoted
    )
    for mention in dates:
        if _is_weekday_of_date(claim, mention):
            continue
        weekday = _weekday_before(claim, mention)
        if weekday is not None and weekday != mention.first.weekday():
            return f"weekday and date disagree: {mention.text}"
        if not _date_given(mention, _before(claim, mention), shown, ground.times(), open_time=open_time):
            return f"date does not follow from the turn: {mention.text.strip()}"
        if not _stated(mention, shown, ground.times()):
            found = counted_date(mention, ground.turns)
            derived += [found] if found is not None else []
    if event_at is not None and not is_event_dated(event_at, ground):
        return f"event date does not follow from the turn: {event_at}"
    return None


def _stated(mention: DateMention, shown: Iterable[DateMention], times: Iterable[datetime]) -> bool:
    """Whether the words or the time of a turn tell the date as it is, with nothing to count."""
    return any(mention.first <= moment.date() <= mention.last for moment in times) or any(
        found.holds(mention.first, mention.last)
        and (found.kind == "absolute" or words(found.text) == words(mention.text))
        for found in shown
    )


def _weekday_before(claim: str, mention: DateMention) -> int | None:
    found = _WEEKDAY.search(_before(claim, mention))
    return WEEKDAYS.index(lower(found[1])) if found and mention.precision == "day" else None


def _is_weekday_of_date(claim: str, mention: DateMention) -> bool:
    """A weekday written before a full date is checked with that date."""
    return (
        lower(mention.text) in WEEKDAYS
        and _THEN_A_DAY.match(claim[mention.end : mention.end + _BESIDE]) is not None
    )


def _before(claim: str, mention: DateMention) -> str:
    return claim[max(0, mention.start - _BESIDE) : mention.start]


def _date_given(
    mention: DateMention,
    before: str,
    shown: Sequence[DateMention],
    times: Sequence[datetime],
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
    said_then = any(mention.first <= moment.date() <= mention.last for moment in times)
    return said_then and (anchored or open_time)


def is_event_dated(event_at: str, ground: Ground) -> bool:
    """Whether the quoted turns give the date of an event, or the quotes none and it was said then."""
    days = parse_iso(event_at)
    if days is None:
        return False
    if any(found.holds(*days) for turn in ground.turns for found in mentions(turn)):
        return True
    dated = any(resolve_dates(part.quote, part.turn.said_at) for part in ground.quoted)
    return not dated and any(days[0] <= moment.date() <= days[1] for moment in ground.times())


def _wrong_name(claim: str, ground: Ground) -> str | None:
    people = " ".join(ground.everyone)
    stems_there = {stem(word) for word in words(f"{ground.text}\n{ground.earlier}\n{people}")}
    missing = [name for name in names(claim) if not named_in(name, stems_there)]
    return f"name not on the page so far: {missing[0]}" if missing else None


def _wrong_words(claim: str, ground: Ground) -> str | None:
    content = _content(claim, ground)
    turn = {stem(word) for word in words(f"{ground.text}\n{ground.asked}")}
    quoted = {stem(word) for word in words(ground.quote) if word not in STOP_WORDS}
    if 2 * len(content & turn) < len(content) and not _takes_up(claim, content, quoted, turn, ground):
        return "claim is not about the turn"
    if content and quoted and not content & quoted:
        return "claim is not about the quote"
    if len(ground.quoted) > 1 and not _asserted(content, ground):
        return "what was asked is not answered"
    if _only_asks(ground.quote) and not _ASKS.search(claim):
        return "a question asserts nothing"
    return None


def _people(ground: Ground) -> set[str]:
    return {stem(word) for name in ground.everyone for word in words(name)}


def _content(claim: str, ground: Ground) -> set[str]:
    return {stem(word) for word in words(claim) if word not in STOP_WORDS} - _people(ground) - _NOT_CONTENT


def _asserted(content: set[str], ground: Ground) -> bool:
    """Whether some words quoted tell part of the claim, or say yes or no to a question that does."""
    pieces = [piece.text for one in ground.quoted for piece in sentences(one.quote)]
    asserting = [piece for piece in pieces if not (piece.endswith("?") and _ASKING.match(piece))]
    return not content or any(
        _REPLY.match(piece) or content & {stem(word) for word in words(piece)} for piece in asserting
    )


def _mixed(claim: str, ground: Ground) -> str | None:
    """A name or number of one turn, said in one breath with what only a turn far from it tells."""
    if len(ground.quoted) < 2:
        return None
    stems_of_turns = [{stem(word) for word in words(one.turn.text)} for one in ground.quoted]
    for clause in _BREATH.split(claim):
        exact = {stem(word) for name in names(clause) for word in words(name)} - _people(ground)
        exact |= {word for word in words(clause) if word.isdigit()}
        places = {word: _only(word, stems_of_turns) for word in _content(clause, ground) | exact}
        for word, other in product(exact, places):
            if _far(places.get(word), places[other], ground):
                return f"told in different places: {word}, {other}"
    return None


def _only(word: str, stems_of_turns: Sequence[set[str]]) -> int | None:
    """The one turn that holds the word."""
    places = [at for at, stems in enumerate(stems_of_turns) if word in stems]
    return places[0] if len(places) == 1 else None


def _far(one: int | None, two: int | None, ground: Ground) -> bool:
    """Whether the turns stand on different pages, or more than two lines apart."""
    if one is None or two is None:
        return False
    here, there = ground.quoted[one], ground.quoted[two]
    return here.page != there.page or abs(here.line - there.line) > _NEAR


def _takes_up(claim: str, content: set[str], quoted: set[str], turn: set[str], ground: Ground) -> bool:
    """Whether a claim about the speaker tells what the quote says in words of the turns around it."""
    around = turn | {stem(word) for word in words(ground.beside)}
    about = next((word for word in map(stem, words(claim)) if word in _people(ground)), None)
    if about not in {stem(word) for word in words(ground.people.speaker)}:
        return False
    in_turn, shared = len(content & around) / len(content), len(content & quoted) / max(1, len(quoted))
    return any(in_turn >= least and shared >= part for least, part in _TAKEN_UP)


def _only_asks(quote: str) -> bool:
    return all(piece.text.endswith("?") and _ASKING.match(piece.text) for piece in sentences(quote))


def _wrong_reading(claim: str, ground: Ground, read: _Read) -> str | None:
    claimed = read(claim, ground.people)
    quote = _quoted(ground)
    whole = [
        reading for part in ground.quoted for reading in read_turn(part.turn.text, ground.people_of(part))
    ]
    evidence = _by_stem(whole) | _by_stem(quote)
    return _wrong_polarity(claim, claimed, quote, evidence, ground) or _wrong_person(
        claimed, evidence, ground, None if read is read_turn else _teller(claim, ground.people)
    )


def _quoted(ground: Ground) -> list[Reading]:
    return [reading for part in ground.quoted for reading in read_turn(part.quote, ground.people_of(part))]


def _by_stem(readings: Iterable[Reading]) -> dict[str, list[Reading]]:
    found: dict[str, list[Reading]] = defaultdict(list)
    for reading in readings:
        found[reading.stem].append(reading)
    return dict(found)


def _wrong_polarity(
    claim: str,
    claimed: Sequence[Reading],
    quote: Sequence[Reading],
    evidence: Mapping[str, Sequence[Reading]],
    ground: Ground,
) -> str | None:
    """In every clause of the claim, most words it shares with the turn must be denied there as here."""
    here, quoted = _by_stem(claimed), {reading.stem for reading in quote}
    agree: dict[int, int] = defaultdict(int)
    for reading in claimed:
        if reading.stem in evidence:
            same = any(other.denied == reading.denied for other in evidence[reading.stem])
            if same or reading.denied or reading.stem in quoted:
                agree[reading.clause] += _AGREES if same else _DIFFERS
    if (
        any(balance < 0 for balance in agree.values())
        or _first_differs(claimed, evidence)
        or _first_differs(quote, here)
    ):
        return "negation differs from the turn"
    if is_negated(claim) and not is_negated(ground.text):
        return "negation not in the turn"
    there = _first_denied(quote)
    if there and not there & here.keys() and _first_denied(claimed) - evidence.keys():
        return "what is denied is not in the turn"
    if is_negated(ground.quote) and not is_negated(claim):
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


def _first_differs(denying: Iterable[Reading], evidence: Mapping[str, Sequence[Reading]]) -> bool:
    """Whether the first shared word after some negation is nowhere denied on the other side."""
    seen: set[int] = set()
    for reading in denying:
        if reading.denied and reading.clause not in seen and reading.stem in evidence:
            seen.add(reading.clause)
            if not any(other.denied for other in evidence[reading.stem]):
                return True
    return False


def _wrong_person(
    claimed: Sequence[Reading], evidence: Mapping[str, Sequence[Reading]], ground: Ground, teller: str | None
) -> str | None:
    if teller is not None:
        return (
            None if teller in ground.speakers and _tells(teller, claimed, ground) else "said by somebody else"
        )
    same = differ = 0
    for reading in claimed:
        if reading.owner and reading.stem in evidence:
            agrees = any(other.owner == reading.owner for other in evidence[reading.stem])
            same, differ = same + agrees, differ + (not agrees)
    if differ and differ >= same:
        return "said of somebody else"
    if len(ground.speakers) > 1 and _margin(claimed, evidence) < _PLAIN:
        return "the quotes do not make plain of whom it is said"
    return None


def _tells(teller: str, claimed: Sequence[Reading], ground: Ground) -> bool:
    """Whether, of several people quoted, the teller said most of what the claim makes them say."""
    content = {reading.stem for reading in claimed} - _TELLING
    shared: dict[str, int] = defaultdict(int)
    for part in ground.quoted:
        own = len(content & {stem(word) for word in words(part.quote)})
        shared[part.turn.speaker] = max(shared[part.turn.speaker], own)
    return all(shared[teller] > other for name, other in shared.items() if name != teller)


def _margin(claimed: Sequence[Reading], evidence: Mapping[str, Sequence[Reading]]) -> float:
    """How much more of what several speakers say fits the people of the claim than anybody else: -1 to 1."""
    known = [
        (reading.owner, evidence[reading.stem])
        for reading in claimed
        if reading.owner and reading.stem in evidence
    ]
    shares = [sum(other.owner == owner for other in others) / len(others) for owner, others in known]
    return sum(2 * share - 1 for share in shares) / len(shares) if shares else 1.0


def _teller(claim: str, people: People) -> str | None:
    """Whom the claim makes say something: the first person named, when a verb of telling follows."""
    found, by_name = words(claim), people.by_name
    for at, name in enumerate(found[:-1]):
        if name.removesuffix("'s") in by_name:
            return by_name.get(name) if stem(found[at + 1]) in _TELLING else None
    return None


def contradiction(claim: str, ground: Ground, read: _Read = read_claim) -> str | None:
    """What the very words quoted plainly say against `claim`, `None` when nothing: another number of the same
    thing, another day, the opposite, or the same of somebody else. All other words must be the same.
    """
    plain = without_dates(claim, resolve_dates(claim, ground.quoted[-1].turn.said_at))
    content = {word for word in _content(plain, ground) if not word.isdigit() and not numbers(word)}
    for part in ground.quoted:
        found = _against(claim, content, part, ground, read)
        if found is not None:
            return found
    return None


def _against(claim: str, content: set[str], part: QuotedTurn, ground: Ground, read: _Read) -> str | None:
    quoted = {stem(word) for word in words(part.quote)}
    if "?" in part.quote or len(content) < 2 or len(content & quoted) < _SAME_WORDS * len(content):
        return None
    return (
        _other_number(claim, part, ground)
        or _other_day(claim, part, ground)
        or (_opposite(claim, content, part, ground, read) if content <= quoted else None)
        or (_other_person(claim, part, ground) if content <= quoted and read is read_claim else None)
    )


def _other_number(claim: str, part: QuotedTurn, ground: Ground) -> str | None:
    there = amounts(Source(part.quote, part.turn.said_at))
    here = amounts(Source(claim, part.turn.said_at))
    if len(here) != 1 or len(there) != 1 or not here[0].unit or here[0].unit != there[0].unit:
        return None
    if written(here[0].value) in _numbers_of(ground.text) | _numbers_of(ground.beside):
        return None
    return f"the quote says {written(there[0].value)}, not {written(here[0].value)}"


@lru_cache(maxsize=16)
def _numbers_of(text: str) -> frozenset[str]:
    """Kept for the texts read last: every sentence of a turn has that turn around it."""
    return frozenset(numbers(text, loose=True))


def _other_day(claim: str, part: QuotedTurn, ground: Ground) -> str | None:
    said_at = part.turn.said_at
    here, there = resolve_dates(claim, said_at), resolve_dates(part.quote, said_at)
    if len(here) != 1 or len(there) != 1 or {here[0].precision, there[0].precision} != {"day"}:
        return None
    if there[0].kind != "absolute" and lower(there[0].text).split()[0] in _WHICH_ONE:
        return None
    if here[0].first == there[0].first or _ANCHOR.search(_before(claim, here[0])):
        return None
    near = any(here[0].first == moment.date() for moment in ground.times())
    named = any(here[0].first == found.first for turn in ground.turns for found in mentions(turn))
    return None if near or named else f"the quote says {there[0].display}, not {here[0].display}"


def _opposite(claim: str, content: set[str], part: QuotedTurn, ground: Ground, read: _Read) -> str | None:
    if idioms(part.quote) or idioms(claim):
        return None
    here = [reading for reading in read(claim, ground.people_of(part)) if reading.stem in content]
    there = [reading for reading in read_turn(part.quote, ground.people_of(part)) if reading.stem in content]
    if len({reading.clause for reading in here}) > 1 or len({reading.clause for reading in there}) > 1:
        return None
    if {reading.owner for reading in here} != {reading.owner for reading in there}:
        return None
    denied, said = is_negated(claim), is_negated(part.quote)
    first_here, first_there = _first_denied(here), _first_denied(there)
    if denied and not said and first_here:
        return "the quote says the opposite"
    if said and not denied and first_there and not is_negated(ground.text.replace(part.quote, "")):
        return "the quote says the opposite"
    return None


def _other_person(claim: str, part: QuotedTurn, ground: Ground) -> str | None:
    by_name = ground.people_of(part).by_name
    named = [by_name[word] for word in words(claim) if word in by_name]
    first = words(claim)[:1]
    if not named or first != words(named[0])[:1] or part.turn.speaker in named or len(set(named)) != 1:
        return None
    own = words(part.quote)[:1] == ["i"] and not _SECOND_PERSON.search(part.quote)
    return (
        f"the quote is of {part.turn.speaker}"
        if own and is_negated(claim) == is_negated(part.quote)
        else None
    )

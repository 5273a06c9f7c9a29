"""How far an answer is borne out by the words it cites, by code alone.

`stated`: its numbers, dates and names stand there, beside what they are numbers of. `derived`: the rest
follows by counting or reckoning, and how is recorded. `worded`: something is not confirmed and nothing
contradicts it. `contradicted` is kept for what is plainly wrong. The check never changes an answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations

from tiermem.model import Check, Derivation, Term
from tiermem.text.dates import DateMention, resolve_dates, without_dates
from tiermem.text.derive import (
    Amount,
    Moment,
    amounts,
    count_of,
    counted_date,
    duration,
    mentions,
    moments,
    reckoned,
    said_on,
    term,
    written,
)
from tiermem.text.literals import Source, named_in, names, numbers
from tiermem.text.readings import negated
from tiermem.text.support import Ground, Told, contradiction
from tiermem.text.words import STOP_WORDS, sentences, stem, word_list, words

UNCITED = "(the answer cites nothing)"
_YES_OR_NO = re.compile(
    r"(?:yes|no|yep|nope|yeah|true|false|correct|maybe|likely|probably|unlikely)\b", re.IGNORECASE
)
_HOW_MANY = re.compile(
    r"\bhow many\s+(?P<what>[^?.!,;]{1,60})|\b(?:number|count) of\s+(?P<of>[^?.!,;]{1,60})", re.IGNORECASE
)
_LENGTH_ASKED = re.compile(r"\b(?:how many|number of)\s+(?P<unit>day|week|month|year)s?\b", re.IGNORECASE)
_BEFORE = re.compile(
    r"\b(?P<n>\d{1,3}|[a-z]{1,9})\s+(?P<unit>day|week|weekend|month|year)s?\s+(?P<way>before|prior to|after)\s+(?:the\s+)?\Z",
    re.IGNORECASE,
)
_TIME = frozenset(map(stem, word_list("second minute hour day night week weekend month year decade")))
_MEASURES = _TIME | frozenset(
    map(
        stem,
        word_list(
            "dollar euro pound cent mile kilometer km percent point degree inch foot feet page step pm am"
        ),
    )
)
_SEVERAL = re.compile(
    r"\b(?:several|many|some|few|lots|multiple|various|both|couple|numerous|plenty|all|every|each|pair|bunch|dozen\w*"
    r"|hundreds|thousands|tons|twice|often|again|weekly|daily|monthly|more|others?)\b",
    re.IGNORECASE,
)
_PART = re.compile(r"[,;:()\n&/]|\b(?:and|or|plus|also|then|with|but)\b|\s-\s", re.IGNORECASE)


@dataclass(slots=True)
class _Findings:
    """What became of the literals of an answer."""

    derived: list[Derivation] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def graded(
    answer: str,
    cited: Sequence[Source],
    *,
    question: str = "",
    counted: Sequence[str] = (),
    asked_at: datetime | None = None,
) -> Check:
    """How far `answer` is borne out by `cited`.

    `counted` is the answerer's own list of what it counted; each must be found in the cited words, and the
    answer's count must be as long as the list. `asked_at` is the end of what has gone on "so far". Names
    and words of the question need no support: repeating them asserts nothing.
    """
    if not cited:
        return Check(support="contradicted", unsupported=(UNCITED,), reason="the answer cites nothing")
    case = _Case(
        answer=answer, cited=tuple(cited), question=question, counted=tuple(counted), asked_at=asked_at
    )
    found = _Findings()
    _check_dates(case, found)
    _check_numbers(case, found)
    _check_names(case, found)
    against = _against(case, found)
    derived, missing = tuple(dict.fromkeys(found.derived)), tuple(dict.fromkeys(found.missing))
    if against is not None:
        return Check(support="contradicted", unsupported=missing, derivations=derived, reason=against)
    why = _unconfirmed(case, missing)
    support = "worded" if why else "derived" if derived else "stated"
    return Check(support=support, unsupported=missing, derivations=derived, reason=why or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    answer: str
    cited: tuple[Source, ...]
    question: str
    counted: tuple[str, ...]
    asked_at: datetime | None

    @property
    def moment(self) -> datetime | None:
        return next((source.said_at for source in self.cited if source.said_at is not None), None)

    def told(self) -> list[DateMention]:
        return [mention for mention in resolve_dates(self.answer, self.moment) if mention.kind == "absolute"]

    def about(self) -> set[str]:
        """Stems of what is asked and answered."""
        return {stem(word) for word in words(f"{self.question} {self.answer}") if word not in STOP_WORDS}


def _unconfirmed(case: _Case, missing: Sequence[str]) -> str | None:
    if missing:
        return f"not in the cited words: {', '.join(missing)}"
    if _YES_OR_NO.match(case.answer.strip()):
        return "code cannot confirm a yes or no"
    plain = without_dates(case.answer, case.told())
    content = {stem(word) for word in words(plain) if word not in STOP_WORDS and not numbers(word)}
    held = {stem(word) for source in case.cited for word in words(f"{source.speaker} {source.text}")}
    held |= {stem(word) for word in words(case.question)}
    if 2 * len(content & held) < len(content) or (content and not content & held):
        return "most of its words are not the cited ones"
    if negated(case.answer) and not any(negated(source.text) for source in case.cited):
        return "no cited words deny anything"
    return None


# Dates


def _check_dates(case: _Case, found: _Findings) -> None:
    for mention in case.told():
        if any(_date_stated(mention, source) for source in case.cited):
            continue
        derivation = counted_date(mention, case.cited)
        if derivation is None:
            found.missing.append(mention.text)
        else:
            found.derived.append(derivation)


def _date_stated(mention: DateMention, source: Source) -> bool:
    if source.said_at is not None and mention.first <= source.said_at.date() <= mention.last:
        return True
    told = mentions(source)
    return any(each.kind == "absolute" and each.holds(mention.first, mention.last) for each in told)


# Names


def _check_names(case: _Case, found: _Findings) -> None:
    held = {stem(word) for source in case.cited for word in words(f"{source.speaker} {source.text}")}
    held |= {stem(word) for word in words(case.question)}
    found.missing += [name for name in names(case.answer) if not named_in(name, held)]


# Numbers


def _check_numbers(case: _Case, found: _Findings) -> None:
    plain = without_dates(case.answer, case.told())
    here = amounts(Source(plain))
    for number in dict.fromkeys(numbers(plain)):
        amount = next((each for each in here if written(each.value) == number), None)
        if _stated_number(number, amount, case):
            continue
        derivation = _derived_number(number, amount, plain, case)
        if derivation is None:
            found.missing.append(number)
        else:
            found.derived.append(derivation)


def _asked_unit(case: _Case) -> set[str]:
    """Stems of what the question wants a number of."""
    asked = _HOW_MANY.search(case.question)
    if asked is None:
        return set()
    found = [stem(word) for word in words(asked["what"] or asked["of"]) if word not in STOP_WORDS]
    return set(found[:2])


def _units(amount: Amount | None, case: _Case) -> set[str]:
    return {amount.unit} if amount is not None and amount.unit else _asked_unit(case)


def _stated_number(number: str, amount: Amount | None, case: _Case) -> bool:
    """Whether a cited sentence holds the number beside what it is a number of."""
    units, about = _units(amount, case), case.about()
    for source in case.cited:
        for piece in sentences(source.text):
            if number not in numbers(piece.text, loose=True):
                continue
            if _beside(number, amount, units, about, Source(piece.text, source.said_at)):
                return True
    return False


def _beside(
    number: str, amount: Amount | None, units: Collection[str], about: Collection[str], piece: Source
) -> bool:
    there = [each for each in amounts(piece) if written(each.value) == number]
    signs = {each.sign for each in there}
    if amount is not None and amount.sign and there:
        return amount.sign in signs or "" in signs
    if units and there:
        return any(each.unit in units for each in there)
    held = {stem(word) for word in words(piece.text) if word not in STOP_WORDS}
    return bool(held & set(about))


def _derived_number(number: str, amount: Amount | None, plain: str, case: _Case) -> Derivation | None:
    if amount is None:
        return None
    unit = _length_unit(amount, case)
    if unit:
        return _before_a_date(amount, unit, plain, case) or _length(number, unit, case)
    if case.counted:
        return _listed(amount, case)
    return _count(number, amount, case) or reckoned(
        amount.value, case.cited, sign=amount.sign, units=_units(amount, case)
    )


def _length_unit(amount: Amount, case: _Case) -> str:
    if amount.unit in _TIME:
        return next((unit for unit in ("day", "week", "month", "year") if stem(unit) == amount.unit), "")
    asked = _LENGTH_ASKED.search(case.question)
    return asked["unit"].lower() if asked and not amount.unit and not amount.sign else ""


def _before_a_date(amount: Amount, unit: str, plain: str, case: _Case) -> Derivation | None:
    """ "two days before 9 May 2023" as the day that a cited "two days ago" or "on Sunday" means."""
    for mention in case.told():
        if mention.precision != "day" or mention.start < amount.end:
            continue
        link = _BEFORE.search(case.answer[: mention.start])
        if link is None or link.start("n") != amount.start:
            continue
        way = "in {} {}" if link["way"].lower() == "after" else "{} {} ago"
        wanted = resolve_dates(way.format(link["n"], f"{unit}s"), mention.first)
        return counted_date(wanted[0], case.cited) if wanted else None
    return None


def _length(number: str, unit: str, case: _Case) -> Derivation | None:
    """A span of time between two dates that are cited, or from one of them to when the question was asked."""
    if not number.isdigit():
        return None
    about = case.about() - _MEASURES
    groups = [moments(source, about) for source in case.cited]
    pairs = [pair for one, two in combinations(groups, 2) for pair in _pairs(one, two)]
    if len(case.cited) == 1:
        pairs += combinations(groups[0], 2)
        pairs += _pairs(groups[0], said_on(case.cited[0]))
    if case.asked_at is not None:
        day = case.asked_at.date()
        now = (Moment(day, day, Term(text="", said_at=case.asked_at)),)
        pairs += [pair for group in groups for pair in _pairs(group, now)]
    for one, two in pairs:
        found = duration(int(number), unit, one, two)
        if found is not None:
            return found
    return None


def _pairs(one: Sequence[Moment], two: Sequence[Moment]) -> Iterator[tuple[Moment, Moment]]:
    return ((left, right) for left in one for right in two)


def _counts(amount: Amount, case: _Case) -> bool:
    """Whether the number says how many of a thing there are, and is no money, measure or time."""
    units = _units(amount, case)
    return not amount.sign and amount.value == int(amount.value) and not units & _MEASURES


def _count(number: str, amount: Amount, case: _Case) -> Derivation | None:
    """The number of distinct cited sources, where the question asks how many."""
    if not _counts(amount, case) or _HOW_MANY.search(case.question) is None or len(case.cited) < 2:
        return None
    # A summary or a date beside the turn it tells of is no other thing: where turns are cited, they count.
    turns = [source for source in case.cited if source.spans] or case.cited
    distinct = {(source.text, source.said_at): source for source in turns}
    if str(len(distinct)) != number:
        return None
    return count_of([term(source, 0, len(source.text)) for source in distinct.values()])


def _listed(amount: Amount, case: _Case) -> Derivation | None:
    """The number of things listed as counted, or the sum of their numbers."""
    terms = [_item(text, case.cited) for text in _items(case.counted)]
    found = [each for each in terms if each is not None]
    if len(found) < len(terms):
        return None
    if _counts(amount, case) and amount.value == len(found):
        return count_of(found)
    listed = [Source(each.text, each.said_at, spans=each.spans) for each in found]
    return reckoned(amount.value, listed, sign=amount.sign)


def _items(counted: Iterable[str]) -> list[str]:
    """What was listed, each once."""
    return list({" ".join(words(text)): text for text in counted if words(text)}.values())


def _item(text: str, cited: Sequence[Source]) -> Term | None:
    """Where a listed thing is told: its words in a row, or the one sentence that holds most of them."""
    wanted = words(text)
    phrase = re.compile(r"[^\w]{1,3}".join(map(re.escape, wanted)), re.IGNORECASE)
    for source in cited:
        match = phrase.search(source.text)
        if match is not None:
            return term(source, *match.span())
    content = {stem(word) for word in wanted if word not in STOP_WORDS}
    for source in cited:
        for piece in sentences(source.text):
            if content and 3 * len(content & {stem(word) for word in words(piece.text)}) >= 2 * len(content):
                return term(source, piece.start, piece.end)
    return None


# What is plainly wrong


def _against(case: _Case, found: _Findings) -> str | None:
    return _miscounted(case, found) or _too_many(case, found) or _other_number(case, found) or _denied(case)


def _lone_count(case: _Case, found: _Findings) -> Amount | None:
    """The one number of the answer, when it counts things and nothing cited bears it out."""
    plain = without_dates(case.answer, case.told())
    here = amounts(Source(plain))
    if len(here) != 1 or written(here[0].value) not in found.missing or not _counts(here[0], case):
        return None
    return here[0]


def _miscounted(case: _Case, found: _Findings) -> str | None:
    amount = _lone_count(case, found)
    listed = _items(case.counted)
    if amount is None or not listed or amount.value == len(listed):
        return None
    if any(numbers(text) for text in listed):  # each item may stand for several
        return None
    return f"the answer says {written(amount.value)} and lists {len(listed)}"


def _too_many(case: _Case, found: _Findings) -> str | None:
    amount = _lone_count(case, found)
    if amount is None or case.counted or _HOW_MANY.search(case.question) is None:
        return None
    most = _most(case)
    if most is None or amount.value <= most:
        return None
    return f"the answer counts {written(amount.value)}, and the cited words tell of {most} at most"


def _most(case: _Case) -> int | None:
    """How many things the cited words can tell of at most; `None` where they leave it open."""
    asked = _asked_unit(case)
    total = 0
    for source in case.cited:
        if _SEVERAL.search(source.text) or _plural(source.text, asked):
            return None
        total += max(1, sum(_told_in(piece.text) for piece in sentences(source.text)))
        total += sum(int(each.value) for each in amounts(source) if each.value == int(each.value))
    return total


def _plural(text: str, asked: Collection[str]) -> bool:
    return any(word.endswith("s") and stem(word) != word and stem(word) in asked for word in words(text))


def _told_in(sentence: str) -> int:
    """Parts of a sentence that may each tell of a thing: one with a content word."""
    parts = _PART.split(sentence)
    return sum(any(word not in STOP_WORDS for word in words(part)) for part in parts)


def _other_number(case: _Case, found: _Findings) -> str | None:
    """The only source gives one number of just what is asked, and it is another."""
    amount = _lone_count(case, found)
    if amount is None or len(case.cited) != 1 or case.counted:
        return None
    units = _units(amount, case)
    there = [each for each in amounts(case.cited[0]) if each.unit and each.unit in units]
    others = {each.value for each in there}
    if len(there) != 1 or amount.value in others:
        return None
    about = {stem(word) for word in words(case.question) if word not in STOP_WORDS}
    if len(_told_parts(case.cited[0].text)) > 1 or not about:
        return None
    return f"the cited words say {written(others.pop())}, not {written(amount.value)}"


def _told_parts(text: str) -> list[str]:
    return [piece.text for piece in sentences(text) if _told_in(piece.text)]


def _denied(case: _Case) -> str | None:
    """A cited sentence says the opposite of the answer in the same words."""
    people = tuple(dict.fromkeys(source.speaker for source in case.cited if source.speaker))
    for source in case.cited:
        for piece in sentences(source.text):
            ground = Ground(
                told=(Told(quote=piece.text, turn=source),),
                asked="",
                beside=source.text,
                earlier="",
                everyone=people,
            )
            found = contradiction(case.answer, ground)
            if found is not None:
                return found
    return None

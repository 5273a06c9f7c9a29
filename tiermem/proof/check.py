"""Grade an answer against the words it cites, by code alone.

`stated`: its content words, numbers, dates and names are in the cited turns, and each number is next to what
it counts. `derived`: the rest is computed from them, and the calculation is recorded. `worded`: a word is not
in the cited turns, and nothing contradicts the answer. `contradicted`: the cited words say otherwise. Words
are compared, not their meaning: the right words in another order pass. The check never changes an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import combinations

from tiermem.model import Check, Derivation, Support, Term
from tiermem.proof.date_phrases import counted_from_date, part_of_month
from tiermem.proof.derive import (
    ONES,
    Amount,
    Moment,
    aged,
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
from tiermem.proof.support import Ground, QuotedTurn, contradiction
from tiermem.proof.unsupported import content_stems, unsupported_words
from tiermem.text.dates import DateMention, resolve_dates, without_dates
from tiermem.text.literals import ORDINALS, Source, named_in, names, numbers
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
    r"\b(?P<n>\d{1,3}|[a-z]{1,9})\s+(?P<unit>day|week|weekend|month|year)s?"
    r"\s+(?P<way>before|prior to|after)\s+(?:the\s+)?\Z",
    re.IGNORECASE,
)
_ANCHORED = re.compile(
    r"\b(?:before|prior to|after|as of|by|since|until|till|around|week of)\s+(?:the\s+)?\Z", re.IGNORECASE
)
_SINCE = re.compile(r"\b(?:since|ago|have passed|has passed|until now|so far)\b", re.IGNORECASE)
_TO_NOW = re.compile(
    r"\b(?:since|ago|have passed|has passed|until now|so far|have|has|now|currently|am|is|are)\b",
    re.IGNORECASE,
)
"""Asking for a time that only ends now, or for one that may."""
_STARTED = re.compile(r"\b(?:start|started|begin|began|begun|resume|resumed|since)\b", re.IGNORECASE)
_GOING_ON = re.compile(r"\bfor\s(?:\w{1,9}\s){0,2}(?:day|week|month|year)s?\b", re.IGNORECASE)
_LAPSE = re.compile(
    r"\b(?:between|pass|passed|before|after|since|ago|until|elapsed|apart|earlier|later)\b", re.IGNORECASE
)
"""Asking for the time from one thing to another: then the day each was told of counts as its day."""
_ORDINAL = re.compile(r"\b(\d{1,3}(?:st|nd|rd|th)|[a-z]{4,8}h|second|third)\s+([^\W\d_]+)", re.IGNORECASE)
_TOGETHER = re.compile(
    r"\b(?:total|altogether|together|combined|in all|sum|difference|how (?:many|much)"
    r"|(?:more|fewer|less) than)\b",
    re.IGNORECASE,
)
_AGE = re.compile(r"\b(?:how old|older|younger|years? apart)\b", re.IGNORECASE)
_RANGE = re.compile(r"(?<![\d.,:-])(\d{1,6})\s?[-–]\s?(\d{1,6})(?![\d:-])")
_LISTED = re.compile(r"(?<!\S)\(?(\d{1,2})[.)](?=\s)")
_CODE = re.compile(
    r"(?<![\w.,$€£-])(?:[^\W\d_]{1,12}\d\w{0,12}|\d{1,12}(?!(?:st|nd|rd|th|s|am|pm)\b)[^\W\d_]\w{0,12}|\d{1,6}-[^\W\d_]\w{0,12})"
)
"""Names of things with figures in them, as "FG800", "2D", "5-piece"."""
_ONE = re.compile(
    "".join(rf"(?<!{word} )" for word in word_list("no the this that which each every any some only"))
    + r"\bone\b(?=\s+(?!of\b|another\b|day\b|who\b)|\W*\Z)"
)
_SPOKEN_ONE = re.compile(r"\bone\b", re.IGNORECASE)
_AS_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\Z")
_TIME = frozenset(map(stem, word_list("second minute hour day night week weekend month year decade")))
_MEASURES = _TIME | frozenset(
    map(
        stem,
        word_list(
            "dollar euro pound cent mile kilometer km percent point degree inch foot feet page step pm am"
        ),
    )
)
LONGEST = 4_000
"""Characters of an answer, with what it lists as counted, up to which it is checked."""
_MOST = 64
"""Dates, numbers, ranges or codes of one answer that are looked at; no more than so many can be confirmed."""
_BEFORE_THE_THING = 3
"""Words after "one" among which what is counted stands."""
_MOST_OF_IT = 2 / 3
"""The share of a listed thing's content words that one sentence must hold."""
_NEAR = 60
"""Characters before a date in which words like "two days before" stand."""
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
    and words of the question need no support: repeating them asserts nothing. What is longer than `LONGEST`
    is not looked into, and `worded`.
    """
    if not cited:
        return Check(support="contradicted", unsupported=(UNCITED,), reason="the answer cites nothing")
    if len(answer) + sum(map(len, counted)) > LONGEST:
        return Check(support="worded", reason=f"the answer has more than {LONGEST:,} characters")
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
    unsupported = _with_words(case, missing, derived)
    why = _reason_unconfirmed(case, missing, unsupported)
    support: Support = "worded" if why else "derived" if derived else "stated"
    return Check(support=support, unsupported=unsupported, derivations=derived, reason=why or "")


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


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

    def dates(self) -> list[DateMention]:
        """The dates the answer names, by their days or by a month or year."""
        return [mention for mention in resolve_dates(self.answer, self.moment) if mention.kind == "absolute"]

    def plain(self) -> str:
        """The answer without dates, codes and the numbers of a list, "one" as a figure where it counts."""
        plain = _CODE.sub(_blank, without_dates(self.answer, self.dates()))
        listed = [int(match[1]) for match in _LISTED.finditer(plain)]
        if len(listed) > 1 and listed == list(range(1, len(listed) + 1)):
            plain = _LISTED.sub(_blank, plain)
        return _ONE.sub("1  ", plain)

    def about(self) -> set[str]:
        """Stems of what is asked and answered."""
        return {stem(word) for word in words(f"{self.question} {self.answer}") if word not in STOP_WORDS}


def _reason_unconfirmed(case: _Case, literals: Sequence[str], unsupported: Sequence[str]) -> str | None:
    """Say why the wording is not confirmed; `None` if it is."""
    if not literals and _YES_OR_NO.match(case.answer.strip()):
        return "code cannot confirm a yes or no"
    if unsupported:
        return f"not in the cited words: {', '.join(unsupported)}"
    return None


def _with_words(case: _Case, literals: Sequence[str], derived: Sequence[Derivation]) -> tuple[str, ...]:
    """Return the unsupported literals of the answer, and its unsupported content words.

    The text of a unit is a model's wording: it supports no word if turns are cited.
    """
    turns = [source for source in case.cited if source.spans] or case.cited
    supported = content_stems((case.question, *(f"{turn.speaker} {turn.text}" for turn in turns)))
    dates = case.dates()
    plain = without_dates(case.answer, dates).strip()
    opening = _YES_OR_NO.match(plain)
    plain = plain[opening.end() :] if opening else plain
    found = unsupported_words(
        plain, supported | content_stems(literals), is_dated=bool(dates) or bool(derived)
    )
    return tuple(dict.fromkeys((*literals, *found)))[:_MOST]


# Dates


def _check_dates(case: _Case, found: _Findings) -> None:
    dates = case.dates()
    found.missing += [mention.text for mention in dates[_MOST:]]
    for mention in dates[:_MOST]:
        before = case.answer[max(0, mention.start - _NEAR) : mention.start]
        wanted = part_of_month(mention, before)
        from_it = counted_from_date(mention, before)
        started = _STARTED.search(case.question) is not None
        stated = any(_date_stated(wanted, before, source, started=started) for source in case.cited)
        if from_it is None and stated:
            continue
        derivation = counted_date(from_it or wanted, case.cited)
        if derivation is None or (from_it is not None and not stated):
            found.missing.append(mention.text)
        else:
            found.derived.append(derivation)


def _date_stated(mention: DateMention, before: str, source: Source, *, started: bool) -> bool:
    """Whether the source names the date, or was said then and gives no other time of its own.

    Where it is asked when something started, "for a month now" is a time of its own too.
    """
    dates = mentions(source)
    if any(each.kind == "absolute" and each.holds(mention.first, mention.last) for each in dates):
        return True
    said_then = source.said_at is not None and mention.first <= source.said_at.date() <= mention.last
    own = [each for each in dates if each.kind != "duration"] or (started and _GOING_ON.search(source.text))
    return said_then and (not own or bool(_ANCHORED.search(before)))


# Names


def _check_names(case: _Case, found: _Findings) -> None:
    cited_stems = {stem(word) for source in case.cited for word in words(f"{source.speaker} {source.text}")}
    cited_stems |= {stem(word) for word in words(case.question)}
    found.missing += [
        name
        for name in names(case.answer)
        if name.lower() not in ORDINALS and not named_in(name, cited_stems)
    ]


# Numbers


def _check_numbers(case: _Case, found: _Findings) -> None:
    plain = case.plain()
    ranges = list(dict.fromkeys((match[1], match[2]) for match in _RANGE.finditer(plain)))
    found.missing += [f"{first}-{last}" for first, last in ranges[_MOST:]]
    for first, last in ranges[:_MOST]:
        same = re.compile(rf"(?<!\d){first}\s?(?:[-–]|to)\s?{last}(?!\d)")
        if not any(same.search(source.text) for source in case.cited):
            found.missing.append(f"{first}-{last}")
    codes = _codes(case)
    found.missing += [code for code in codes[:_MOST] if not _in_words(code, case)] + codes[_MOST:]
    plain = _RANGE.sub(_blank, plain)
    here = amounts(Source(plain))
    figures = list(dict.fromkeys(numbers(plain)))
    found.missing += figures[_MOST:]
    for number in figures[:_MOST]:
        for amount in _amounts_given(number, here):
            if _stated_number(number, amount, case):
                continue
            derivation = _derived_number(number, amount, case)
            if derivation is None:
                found.missing.append(number)
                break
            found.derived.append(derivation)


def _amounts_given(number: str, here: Iterable[Amount]) -> list[Amount | None]:
    """What the answer gives the number of, each once: three dogs and three cats are two things."""
    found = {(each.sign, each.unit): each for each in here if written(each.value) == number}
    return [*found.values()] or [None]


def _codes(case: _Case) -> list[str]:
    plain = without_dates(case.answer, case.dates())
    return list(dict.fromkeys(match.group() for match in _CODE.finditer(plain)))


def _in_words(code: str, case: _Case) -> bool:
    found = re.compile(rf"(?<!\w){re.escape(code)}(?!\w)", re.IGNORECASE)
    return any(found.search(text) for text in (case.question, *(source.text for source in case.cited)))


def _unit_wanted(case: _Case) -> set[str]:
    """Stems of what the question wants a number of."""
    asked = _HOW_MANY.search(case.question)
    if asked is None:
        return set()
    found = [stem(word) for word in words(asked["what"] or asked["of"]) if word not in STOP_WORDS]
    return set(found[:2])


def _units(amount: Amount | None, case: _Case) -> set[str]:
    """Stems of what a number is of, by the answer or else by the question."""
    return {amount.unit} if amount is not None and amount.unit else _unit_wanted(case)


def _stated_number(number: str, amount: Amount | None, case: _Case) -> bool:
    """Whether a cited sentence holds the number beside what it is a number of, and no later one another."""
    units = _units(amount, case)
    holding = [source for source in case.cited if _holds_number(number, amount, case, source)]
    return bool(holding) and not _outdated(amount, units, holding, case)


def _outdated(amount: Amount | None, units: set[str], holding: Sequence[Source], case: _Case) -> bool:
    """Whether a source said later, or as late, gives another number of the same."""
    if amount is None or amount.sign or not units:
        return False
    answered = set(numbers(case.plain()))
    others = [
        source for source in case.cited
        if any(value not in answered for value in _numbers_of(source, units))
    ]  # fmt: skip
    if not others or any(source.said_at is None for source in (*others, *holding)):
        return bool(others) and _HOW_MANY.search(case.question) is not None
    latest = max(source.said_at for source in holding if source.said_at is not None)
    return any(source.said_at is not None and source.said_at > latest for source in others) or (
        _HOW_MANY.search(case.question) is not None
        and any(source.said_at == latest and source not in holding for source in others)
    )


def _numbers_of(source: Source, units: set[str]) -> list[str]:
    """The numbers a source gives of a thing, "my 5th project" being one too."""
    figures = [
        written(each.value) for each in amounts(source) if each.things & {*units, ONES} and not each.sign
    ]
    for match in _ORDINAL.finditer(source.text):
        if stem(match[2].lower()) in units:
            figures += numbers(_AS_ORDINAL.sub("", match[1].lower()))
    return figures


def _holds_number(number: str, amount: Amount | None, case: _Case, source: Source) -> bool:
    units, about = _units(amount, case), case.about()
    spoken = number == "1" and _SPOKEN_ONE.search(case.answer) is not None
    article = spoken and not units & _TIME and _HOW_MANY.search(case.question) is None
    for piece, counts in _counting(source):
        if number == "1" and _one_of(piece.text, units, article=article):
            return True
        if number in counts and _beside(number, amount, units, about, piece):
            return True
    return False


@lru_cache(maxsize=64)
def _counting(source: Source) -> tuple[tuple[Source, frozenset[str]], ...]:
    """The sentences of a source without dates, each with its numbers; kept for the sources read last."""
    plain = without_dates(source.text, resolve_dates(source.text, source.said_at))
    return tuple(
        (Source(piece.text, source.said_at), frozenset(numbers(piece.text, loose=True)))
        for piece in sentences(plain)
    )


def _one_of(sentence: str, units: set[str], *, article: bool) -> bool:
    """Whether a sentence tells of one of the things: "one dog"; with `article` also "a dog"."""
    found = words(sentence)
    telling = ("one", "single", "1", *(("a", "an", "another") if article else ()))
    return any(
        word in telling and units & set(map(stem, found[at + 1 : at + 1 + _BEFORE_THE_THING]))
        for at, word in enumerate(found)
    )


def _beside(number: str, amount: Amount | None, units: set[str], about: set[str], piece: Source) -> bool:
    there = [each for each in amounts(piece) if written(each.value) == number]
    signs = {each.sign for each in there}
    if amount is not None and amount.sign and there:
        return amount.sign in signs or "" in signs
    if units and there:
        return any(each.things & {*units, ONES} for each in there)
    stems_there = {stem(word) for word in words(piece.text) if word not in STOP_WORDS}
    return bool(stems_there & about)


def _derived_number(number: str, amount: Amount | None, case: _Case) -> Derivation | None:
    if amount is None:
        return None
    unit = _length_unit(amount, case)
    if unit == "year" and _AGE.search(case.question):
        return _age(amount, case)
    if unit:
        anchored = _before_a_date(amount, unit, case)
        return anchored.derivation if anchored is not None else _length(number, unit, case)
    if case.counted:
        return _listed(amount, case)
    return _count(number, amount, case) or _age(amount, case) or _reckoned(amount, case)


def _reckoned(amount: Amount, case: _Case) -> Derivation | None:
    """A sum or difference, where the question asks for one or the answer is an amount of money."""
    if not amount.sign and not _TOGETHER.search(case.question):
        return None
    return reckoned(amount.value, case.cited, sign=amount.sign, units=_kinds(amount, case))


def _kinds(amount: Amount, case: _Case) -> set[str]:
    """Stems of things whose numbers may be added up or subtracted: what the number or the question is of."""
    asked = {stem(word) for word in words(case.question) if word not in STOP_WORDS}
    return _units(amount, case) | (asked if _TOGETHER.search(case.question) else set())


def _age(amount: Amount, case: _Case) -> Derivation | None:
    whole = not amount.sign and amount.value == int(amount.value)
    return aged(int(amount.value), case.cited) if whole and _AGE.search(case.question) else None


def _length_unit(amount: Amount, case: _Case) -> str:
    if amount.unit in _TIME:
        return next((unit for unit in ("day", "week", "month", "year") if stem(unit) == amount.unit), "")
    asked = _LENGTH_ASKED.search(case.question)
    return asked["unit"].lower() if asked and not amount.unit and not amount.sign else ""


@dataclass(frozen=True, slots=True)
class _Anchored:
    """What a number of days before or after a date comes to; nothing where no source tells of that day."""

    derivation: Derivation | None


def _before_a_date(amount: Amount, unit: str, case: _Case) -> _Anchored | None:
    """What "two days before 9 May 2023" comes to, as the day that a cited "two days ago" means."""
    for mention in case.dates()[:_MOST]:
        start = max(0, mention.start - _NEAR)
        link = _BEFORE.search(case.answer[start : mention.start])
        if link is None or start + link.start("n") != amount.start:
            continue
        way = "in {} {}" if link["way"].lower() == "after" else "{} {} ago"
        wanted = resolve_dates(way.format(link["n"], f"{unit}s"), mention.first)
        usable = bool(wanted) and mention.precision == "day"
        return _Anchored(counted_date(wanted[0], case.cited) if usable else None)
    return None


def _length(number: str, unit: str, case: _Case) -> Derivation | None:
    """A span of time between two dates that are cited, or from one of them to when the question was asked."""
    if not number.isdigit():
        return None
    for one, two in _ends(case):
        found = duration(int(number), unit, one, two)
        if found is not None:
            return found
    return None


def _ends(case: _Case) -> Iterator[tuple[Moment, Moment]]:
    """The pairs of moments that a length of time asked for can lie between."""
    about = case.about() - _MEASURES
    closest = _closest(case)
    if case.asked_at is not None and closest is not None and _TO_NOW.search(f"{case.question} {case.answer}"):
        day = case.asked_at.date()
        now = (Moment(day, day, Term(text="", said_at=case.asked_at)),)
        yield from _pairs(moments(closest, about), now)
    if _SINCE.search(f"{case.question} {case.answer}"):
        return
    groups = [moments(source, about) for source in case.cited]
    if not _LAPSE.search(case.question):
        groups = [tuple(moment for moment in group if moment.term.text) for group in groups]
    for one, two in combinations(groups, 2):
        yield from _pairs(one, two)
    if len(groups) == 1:
        yield from combinations(groups[0], 2)
        if _LAPSE.search(case.question):
            yield from _pairs(groups[0], said_on(case.cited[0]))


def _closest(case: _Case) -> Source | None:
    """The one cited source that shares most words with the question."""
    wanted = {stem(word) for word in words(case.question) if word not in STOP_WORDS}
    shared = sorted(
        ((len(wanted & set(map(stem, words(each.text)))), at) for at, each in enumerate(case.cited))
    )
    if len(shared) > 1 and shared[-1][0] == shared[-2][0]:
        return None
    return case.cited[shared[-1][1]]


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
    units = _unit_wanted(case)
    if str(len(distinct)) != number or any(not _tells_of_one(source, units) for source in turns):
        return None
    return count_of([term(source, 0, len(source.text)) for source in distinct.values()])


def _tells_of_one(source: Source, units: set[str]) -> bool:
    """Whether a source names the thing counted, and neither several of them nor a number of them."""
    if not units & set(map(stem, words(source.text))) or _plural(source.text, units):
        return False
    return not any(each.unit in units and each.value != 1 for each in amounts(source))


def _listed(amount: Amount, case: _Case) -> Derivation | None:
    """The number of things listed as counted, or the sum of their numbers."""
    items = _items(case.counted)
    found = [each for each in (_item(text, case.cited) for text in items) if each is not None]
    if len(found) < len(items):
        return None
    if _counts(amount, case):
        phrases = [each for text, each in zip(items, found, strict=True) if words(each.text) == words(text)]
        count = count_of([each for each in found if not any(_lies_in(each, other) for other in phrases)])
        if count is not None and count.value == written(amount.value):
            return count
    listed = [Source(each.text, each.said_at, spans=each.spans) for each in found]
    return reckoned(amount.value, listed, sign=amount.sign)


def _lies_in(one: Term, other: Term) -> bool:
    """Whether a term stands within the words of another ("cat" in "a red cat")."""
    if one == other or f" {' '.join(words(one.text))} " not in f" {' '.join(words(other.text))} ":
        return False
    return not one.spans or any(
        inner.page_id == outer.page_id and outer.start <= inner.start and inner.end <= outer.end
        for inner in one.spans
        for outer in other.spans
    )


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
            found = content & {stem(word) for word in words(piece.text)}
            if content and len(found) / len(content) >= _MOST_OF_IT:
                return term(source, piece.start, piece.end)
    return None


# What is plainly wrong


def _against(case: _Case, found: _Findings) -> str | None:
    return _miscounted(case, found) or _too_many(case, found) or _other_number(case, found) or _denied(case)


def _lone_count(case: _Case, found: _Findings) -> Amount | None:
    """The one number of the answer, when it counts things and nothing cited bears it out."""
    here = amounts(Source(case.plain()))
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
    asked = _unit_wanted(case)
    total = 0
    for source in case.cited:
        if _SEVERAL.search(source.text) or _plural(source.text, asked):
            return None
        total += max(1, sum(_telling_parts(piece.text) for piece in sentences(source.text)))
        total += sum(int(each.value) for each in amounts(source) if each.value == int(each.value))
    return total


def _plural(text: str, asked: set[str]) -> bool:
    return any(word.endswith("s") and stem(word) != word and stem(word) in asked for word in words(text))


def _telling_parts(sentence: str) -> int:
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
    if len(_telling_sentences(case.cited[0].text)) > 1 or not about:
        return None
    return f"the cited words say {written(others.pop())}, not {written(amount.value)}"


def _telling_sentences(text: str) -> list[str]:
    return [piece.text for piece in sentences(text) if _telling_parts(piece.text)]


def _denied(case: _Case) -> str | None:
    """A cited sentence says the opposite of the answer in the same words."""
    people = tuple(dict.fromkeys(source.speaker for source in case.cited if source.speaker))
    for source in case.cited:
        for said in dict.fromkeys(piece.text for piece in sentences(source.text)):
            ground = Ground(
                quoted=(QuotedTurn(quote=said, turn=source),),
                asked="",
                beside=source.text,
                earlier="",
                everyone=people,
            )
            found = contradiction(case.answer, ground)
            if found is not None:
                return found
    return None

"""What one turn states of an attribute that has one value at a time: whose it is, its value, and from when.

A closed list of attributes (`tiermem.text.attributes`), never hobbies, pets or children. What a clause
wishes, denies, plans, offers or asks states nothing. Rules are about words: they miss what they do not name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache

from tiermem.text.attributes import ENGLISH, Attribute, any_of
from tiermem.text.attributes.values import ANY_CASE, KINDS, PART, TITLE
from tiermem.text.dates import MONTHS, WEEKDAYS, DateMention, resolve_dates
from tiermem.text.words import STOP_WORDS, Piece, sentences, without_possessive, word_list, words

ME = "me"
"""The owner of what a speaker states of himself."""
SOMEBODY = "somebody"
"""The owner of what is stated of "he", "she" or "they": who that is, one turn alone does not say."""

_NAMES = frozenset({"person", "name", "place", "plan", "address"})
"""Kinds of values that are names."""
_REACH = 240
"""Characters before a value that are read for whose it is."""
_MOST = 12
"""Statements read of one turn at most."""
_GAP = (
    r"(?:\s?[:,–—]\s?|\s)(?:(?i:the|a|an|now|just|only|about|called|named|currently|is|to|in|at|from)\s){0,2}"
)
_NOUN_GAP = (
    r"(?:['’]s\b|\s(?:is|are|was|came by|of|will be))?(?:\s(?:still|now|called|named|currently))?"
    r"(?:\s?[:,–—]\s?|\s)(?:(?i:a|the)\s)?"
)
_POSSESSOR = rf"(?P<whose>(?i:my|our)\s\w{{1,40}}['’]s?\b|(?i:my|our|his|her|their|the|a)\b|{PART}['’]s?\b)"
_ADJECTIVES = rf"(?P<adjectives>(?:(?i:{any_of(ENGLISH.adjectives)})[- ]){{0,3}})"
_NO_PREPOSITION = "".join(rf"(?<!\b{word}\s)" for word in word_list("at to of in on for from"))
_CLAUSE_END = re.compile(
    r"[,;:()–—]|\s-\s|\b(?:but|so|because|although|though|while|whereas|and)\b", re.IGNORECASE
)
_NO_NAMES = frozenset((*STOP_WORDS, *MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS), *ENGLISH.no_names))
_SELF = re.compile(r"(?<!\w)(?:I|[Ww]e|[Mm]y|[Oo]ur|me|us|(?:I|[Ww]e)['’]\w+|i|im|i['’]\w+)(?!\w)")
_THEY = re.compile(r"(?<!\w)(?i:he|she|they|his|her|their)(?:['’]\w+)?(?!\w)")
_RELATION = f"(?i:{'|'.join(sorted(word for same in ENGLISH.relations for word in same))})"
RELATION = re.compile(
    rf"(?<!\w)(?:(?i:my|our)\s(?:\w{{1,40}}\s)?)?(?<!\w)(?P<relation>{_RELATION})"
    r"(?P<plural>s)?(?P<own>['’]s?)?(?!\w)"
)
_ALIAS = re.compile(rf"\b(?i:my|our)\s(?P<relation>{_RELATION}),?\s(?P<name>{PART})")
_NO_SUBJECT = "".join(rf"(?<!\b{word}\s)" for word in word_list("the in at to on of by an a from with into"))
_PERSON = re.compile(
    rf"{_NO_SUBJECT}(?P<name>{PART})(?:(?<=['’]s)\s|"
    r"\s(?:(?:is|has|was|already|still|just|now|the|a|an|currently|also|always)\s){0,4}\Z)"
)
_SUBJECT = re.compile(
    rf"(?<!\w)(?:(?P<self>I|[Ww]e)|(?P<relation>{_RELATION})|(?P<name>{PART}))(?:['’]\w{{1,2}})?"
    r"\s(?:(?:is|has|had|was|just|already|finally|also)\s){0,3}\Z"
)
_LEADING_TITLE = re.compile(rf"\A{TITLE}")
_PART_OF_NAME = re.compile(
    r"\b(?:[Nn]umber|[Nn]o\.?|[Cc]hapter|[Rr]oom|[Pp]age|[Yy]ear|[Aa]ge|[A-Z]\w{1,40})\s\Z"
)
_ENDED_AFTER = {"person": ENGLISH.left_after, "name": ENGLISH.closed_after}
_NOT_STATED = re.compile(rf"(?i:{any_of(ENGLISH.not_stated)}|n['’]t\b|\w['’](?:d|ll)\b|(?-i:\bmay\b))")
_FROM = re.compile(r"(?<!\w)(?:from|since|as of|starting|effective|on|in)\s\Z", re.IGNORECASE)
_ENDED = re.compile(rf"(?i:{any_of(ENGLISH.ended)})")
_CHANGED = re.compile(rf"(?i:{any_of((*ENGLISH.changed_before, *ENGLISH.changed_after))})")
_SUBJECT_NOUN = re.compile(
    r"\b(?:my|our|his|her|their|the|an?|\w{1,40}['’]s)\s(?:[\w-]{1,40}\s){0,3}[\w-]{1,40}\s?(?:(?:is|are|was|has|have|had|just)\s?)?\Z",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\b(?:it|that|this|them|mine|ours)\b", re.IGNORECASE)
_PAST = re.compile(rf"(?i:{any_of(ENGLISH.past)})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The value of an attribute as a turn states it; `start` and `end` are the place of the value.

    `said` is its sentence up to the end of its clause.

    `owner` is `ME`, `SOMEBODY`, a word for a relative ("sister"), or a name in lower case. `since` is the day
    from which it holds, if the sentence names one. `is_end` says that the value holds no more. `is_change`
    says that the attribute is not named: it is meant only if it was stated before.
    """

    attribute: str
    owner: str
    value: str
    start: int
    end: int
    said: str
    since: date | None = None
    is_end: bool = False
    is_change: bool = False


def read_statements(
    text: str, attribute: Attribute, said_at: datetime | None = None
) -> tuple[Statement, ...]:
    """Return what a turn states of one attribute, in the order of the text, each value once."""
    found: list[Statement] = []
    for piece in sentences(text):
        if piece.text.rstrip().endswith("?"):
            continue
        for one in _statements_of(text, piece, attribute, said_at):
            if len(found) == _MOST:
                break
            if not any(other.start < one.end and one.start < other.end for other in found):
                found.append(one)
    return tuple(sorted(found, key=lambda one: one.start))


def _statements_of(
    said: str, piece: Piece, attribute: Attribute, said_at: datetime | None
) -> Iterator[Statement]:
    dates = resolve_dates(piece.text, said_at)
    for role, pattern in _expressions(attribute):
        for match in pattern.finditer(piece.text):
            start = match.start("value")
            value = match["value"].rstrip(".,'’ ")
            if not _is_value(attribute, value, piece.text, start, dates):
                continue
            clause = _clause(piece.text, match.start(), start, match.end())
            is_over = role == "ended" or _is_past(match) or _ENDED.search(" ".join(clause)) is not None
            if _is_not_stated(clause, role, is_over=is_over, is_noun=bool(match.groupdict().get("noun"))):
                continue
            is_change = _is_change(role, piece.text, attribute)
            if is_change and _is_about_something_else(clause[0], match.groupdict().get("phrase") or ""):
                continue
            yield Statement(
                attribute=attribute.name,
                owner=_owner(said, match, piece.start),
                value=value,
                start=piece.start + start,
                end=piece.start + start + len(value),
                said=piece.text[: match.end() + len(clause[2])],
                since=_since(piece.text, dates),
                is_end=is_over,
                is_change=is_change,
            )


def _is_about_something_else(before: str, phrase: str) -> bool:
    """Whether what changed is named before the phrase, and the phrase changes no "it"."""
    return _SUBJECT_NOUN.search(before) is not None and _OBJECT.search(phrase) is None


def _is_change(role: str, said: str, attribute: Attribute) -> bool:
    """Whether a new value is of what was stated before, since its sentence does not name the attribute."""
    if role == "change":
        return attribute.mention.search(said) is None
    return role == "bare" and _CHANGED.search(said) is not None


@cache
def _expressions(attribute: Attribute) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The expressions that find a value, with their role: an end, a statement, or a change."""
    kind = "|".join(map(re.escape, attribute.values)) if attribute.kind == "word" else KINDS[attribute.kind]
    value = rf"(?P<value>(?i:{kind}))" if attribute.kind in ANY_CASE else rf"(?P<value>{kind})"
    noun = rf"(?:{_POSSESSOR}\s|{_NO_PREPOSITION}(?<![\w-])){_ADJECTIVES}(?P<noun>(?i:{attribute.noun}))"
    after = any_of((*attribute.after, *(ENGLISH.changed_after if attribute.kind == "word" else ())))
    return tuple(
        (role, re.compile(text))
        for role, text in (
            ("ended", rf"(?P<phrase>(?i:{any_of(attribute.ended)})){_GAP}{value}"),
            (
                "ended",
                rf"{value}(?:\s|(?=['’]))(?P<phrase>(?i:{any_of(_ENDED_AFTER.get(attribute.kind, ()))}))",
            ),
            ("stated", rf"{noun}{_NOUN_GAP}{value}"),
            ("stated", r"(?!)" if attribute.kind in _NAMES else rf"{noun}\sto\s{value}"),
            ("stated", rf"{value}(?:['’]s|\s(?:is|became|becomes|has become))(?:\snow)?\s{noun}"),
            ("stated", rf"(?P<phrase>(?i:{any_of(attribute.before)})){_GAP}{value}"),
            ("stated", rf"{value}(?:,)?\s(?P<phrase>(?i:{after}))"),
            *_bare(attribute, value),
            *_changes(attribute, value),
        )
    )


def _changes(attribute: Attribute, value: str) -> tuple[tuple[str, str], ...]:
    """Phrases that state a new value of what was stated before; too many other words follow them."""
    kind = attribute.kind
    before = ("change", rf"(?P<phrase>(?i:{any_of(ENGLISH.changed_before)})){_GAP}{value}")
    phrases = ENGLISH.taken_over if kind in _NAMES else ENGLISH.changed_after
    after = ("change", rf"{value},?\s(?P<phrase>(?i:{any_of(phrases)}))")
    if kind == "phrase":
        return ()
    return (after,) if kind in ("person", "place", "address") else (before, after)


def _bare(attribute: Attribute, value: str) -> tuple[tuple[str, str], ...]:
    """Values that need no phrase, since they can be of no other attribute."""
    if attribute.kind == "dose":
        return (("stated", rf"(?P<value>(?i:{KINDS['weighed dose']}))"),)
    if attribute.kind == "address":
        return (("stated", value),)
    return (("bare", rf"(?P<value>{KINDS['price']})"),) if attribute.name == "price" else ()


def _is_value(
    attribute: Attribute, value: str, text: str, start: int, dates: tuple[DateMention, ...]
) -> bool:
    if attribute.kind not in ("day", "clock", "phone", "code") and any(
        mention.start < start + len(value) and start < mention.end for mention in dates
    ):
        return False
    if attribute.kind in ("person", "name", "place", "plan"):
        first = words(_LEADING_TITLE.sub("", value))[:1]
        return bool(first) and without_possessive(first[0]) not in _NO_NAMES
    if attribute.kind in ("amount", "number", "dose"):
        return _PART_OF_NAME.search(text, 0, start) is None
    return bool(value)


def _clause(text: str, start: int, value: int, end: int) -> tuple[str, str, str]:
    """What precedes a match in its clause, what of it is before the value, and what follows."""
    first = max(0, start - _REACH)
    ends = [cut.end() for cut in _CLAUSE_END.finditer(text, first, start)]
    stop = _CLAUSE_END.search(text, end, end + _REACH)
    return (
        text[ends[-1] if ends else first : start],
        text[start:value],
        text[end : stop.start() if stop else end + _REACH],
    )


def _is_not_stated(clause: tuple[str, str, str], role: str, *, is_over: bool, is_noun: bool) -> bool:
    """Whether a clause wishes, denies, plans or asks. The end of a value may be a denial; what follows "my
    boss Ann" is said of her.
    """
    if is_over:
        return role == "ended" and _NOT_STATED.search(clause[0]) is not None
    return any(map(_NOT_STATED.search, clause[:2] if is_noun else clause))


def _owner(said: str, match: re.Match[str], start: int) -> str:
    """Whose a value is: by the possessive before a noun, else by the last person before the match.

    `said` is the turn and `start` the place of the sentence of the match in it.
    """
    at = start + match.start()
    groups, before = match.groupdict(), said[max(0, at - _REACH) : at]
    if groups.get("whose"):
        return _owner_of_possessive(groups["whose"], before)
    phrase = groups.get("phrase") or ""
    return ME if _SELF.search(phrase) or phrase.lower().startswith("new ") else _person_before(before)


def _owner_of_possessive(whose: str, before: str) -> str:
    plain = whose.lower().replace("’", "'")
    relation = RELATION.search(whose)
    if relation is not None:
        return same_relation(relation["relation"])
    if plain in ("his", "her", "their"):
        return _antecedent(before)
    if plain in ("my", "our", "the", "a"):
        return ME
    return without_possessive(plain).removesuffix("'")


def _person_before(before: str) -> str:
    """The last person before a place in a turn; the speaker if there is none."""
    candidates = [(found.start(), ME) for found in _SELF.finditer(before)]
    candidates += [(found.start(), SOMEBODY) for found in _THEY.finditer(before)]
    candidates += [(found.end(), same_relation(found["relation"])) for found in RELATION.finditer(before)]
    candidates += _names_before(before)
    owner = max(candidates, default=(0, ME))[1]
    return _antecedent(before) if owner == SOMEBODY else owner


def _antecedent(before: str) -> str:
    """The relative or person that is named last before "he", "she" or "they" in the same turn."""
    candidates = [(found.end(), same_relation(found["relation"])) for found in RELATION.finditer(before)]
    candidates += _names_before(before)
    return max(candidates, default=(0, SOMEBODY))[1]


def _names_before(before: str) -> Iterator[tuple[int, str]]:
    """The places and names, before a place, of subjects and possessors."""
    for found in _PERSON.finditer(before):
        name = without_possessive(found["name"].lower().replace("’", "'"))
        if name not in _NO_NAMES:
            yield found.start("name"), name


def read_subject(text: str, verb: int) -> str | None:
    """Return the person directly before a verb, an owner as in `Statement`; `None` where none is."""
    found = _SUBJECT.search(text, max(0, verb - _REACH), verb)
    if found is None:
        return None
    if found["self"]:
        return ME
    if found["relation"]:
        return same_relation(found["relation"])
    name = without_possessive(found["name"].lower().replace("’", "'"))
    return None if name in _NO_NAMES else name


def speaks_of_self(text: str) -> bool:
    """Whether a speaker names himself: "I", "my", "us"."""
    return _SELF.search(text) is not None


def read_aliases(text: str) -> dict[str, str]:
    """Return the relatives that a turn names: "maja" is the "sister" of "my sister Maja"."""
    return {
        without_possessive(found["name"].lower().replace("’", "'")): same_relation(found["relation"])
        for found in _ALIAS.finditer(text)
    }


def same_relation(relation: str) -> str:
    """One word for all that mean the same relation."""
    word = relation.lower()
    word = word.removesuffix("s") if not any(word in one for one in ENGLISH.relations) else word
    return next((min(one) for one in ENGLISH.relations if word in one), word)


def _is_past(match: re.Match[str]) -> bool:
    adjectives = match.groupdict().get("adjectives")
    return bool(adjectives and _PAST.search(adjectives))


def _since(text: str, dates: tuple[DateMention, ...]) -> date | None:
    """The first day of a date after "from", "since" or the like."""
    return next((one.first for one in dates if _FROM.search(text, 0, one.start)), None)

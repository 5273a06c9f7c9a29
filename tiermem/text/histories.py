"""Which statement of an attribute answers a question: the latest, an earlier one, or none that is known.

A history is what one person states of one attribute of one owner, in the order of saying it. A statement of
another person, or of another owner, replaces nothing in it, and nothing of a lower trust replaces, ends or
changes what is said with a higher one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal

from tiermem.text.attributes import ENGLISH, Attribute, any_of
from tiermem.text.dates import resolve_dates, timestamp, without_dates
from tiermem.text.literals import names, numbers
from tiermem.text.statements import (
    ME,
    RELATION,
    SOMEBODY,
    Statement,
    read_aliases,
    read_statements,
    read_subject,
    same_relation,
    speaks_of_self,
)
from tiermem.text.words import sentences, stems, without_possessive, words

When = Literal["now", "before", "first"]
Period = tuple[date, date]
_Key = tuple[str, str]
"""Who states something, and whose it is."""

_PREPOSITION_BEFORE = re.compile(
    r"\b(?:from|at|with|by|for|of|to)\s(?:(?:his|her|their|my|the|\w+['’]s)\s)?(?:\w+\s)?\Z", re.IGNORECASE
)
_PLACED = re.compile(r"\b(?:at|in|on|from|near)\s(\w+)", re.IGNORECASE)
_FRAME = re.compile(
    r"\A\W*(?:what|which|who|whom|(?P<adverb>where|how (?:much|many|long|far|often))|how)\b", re.IGNORECASE
)
_EARLIER = re.compile(
    r"\bbefore(?: (?:that|then|this|now|it|the (?:current|present|last|new) \w+))?\W*\Z|"
    r"\b(?:previous|previously|former|formerly|ex|used to|earlier|prior|back then)\b|"
    r"(?:['’]s|\b(?:my|his|her|their|the)) old\b(?!-)|"
    r"\bdid\b.{1,80}\buse to (?:be|live|have|work|go|get|pay|drive|take|play|see|rent|earn|do|eat|drink|own|"
    r"study)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:at first|originally|initially|to begin with|start on|start with|started on|original)\b|"
    r"\bfirst\W*\Z|(?:['’]s|\b(?:my|his|her|their)) first\b",
    re.IGNORECASE,
)
_BEGINNING = re.compile(r"\b(?:beginning|start|early)\b", re.IGNORECASE)
_CHANGED = re.compile(rf"(?i:{any_of(ENGLISH.changed)})")
_CORRECTED = re.compile(rf"(?i:{any_of(ENGLISH.corrected)})")
_SINCE_NOW = re.compile(r"\b(?:now|since|these days|nowadays|as of|starting)\b", re.IGNORECASE)
"""Words of a sentence by which something is so now and was not always."""
_NO_STOPS = str.maketrans("", "", ",.")
_SOON = 2 * 86_400
"""Seconds within which somebody takes back what he has said."""
_PAST_TENSE = re.compile(r"\b(?:was|were|did|had)\b", re.IGNORECASE)
_MINE = re.compile(r"\b(?:I|my|me|mine|our|we)\b")
_GENERIC = frozenset(
    stems(
        "start cost first pay charge take get have go many now current currently own account still daily one"
    )
)
"""Stems of questions that name no thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFact:
    """What a question asks: the attribute, whose it is, of which thing, and when.

    `speaker` is the one who states it, in lower case; `None` if the question does not say.
    """

    attribute: Attribute
    owner: str
    speaker: str | None
    topic: frozenset[str]
    when: When | Period


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """A turn: who said what, and when, and the rank of its trust."""

    speaker: str
    text: str
    said_at: datetime | None = None
    rank: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidStatement:
    """A statement with the number of its turn."""

    turn: int
    statement: Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFact:
    """The statement that answers a question, or `None` if the last value holds no more, or may not.

    `values` are the statements that gave a new value, oldest first, the answer among them.
    """

    answer: SaidStatement | None
    values: tuple[SaidStatement, ...]


def find_fact(question: str, turns: Sequence[SaidTurn], asked_at: datetime | None = None) -> KnownFact | None:
    """The statement among turns that answers a question; `None` if it asks for none, or nothing states it."""
    asked = read_fact_question(question, [turn.speaker for turn in turns], asked_at)
    if asked is None:
        return None
    history = _history(asked, turns)
    known = _select(asked, history, turns, asked_at) if history else None
    if known is None or known.answer is None:
        return known
    answer = known.answer
    statement = answer.statement
    is_changed = is_changed_later(
        statement.value, turns[answer.turn], turns, asked.when, owner=statement.owner
    )
    return replace(known, answer=None) if is_changed else known


def read_fact_question(
    question: str, speakers: Collection[str], asked_at: datetime | None = None
) -> AskedFact | None:
    """Take apart a question for one of the attributes; `None` if it asks for none, or not for a value."""
    found = _attribute_of(question)
    when = read_when(question, asked_at)
    if found is None or when is None:
        return None
    attribute, place = found
    by_name = {
        name: speaker.lower() for speaker in speakers for name in (speaker.lower(), *words(speaker)[:1])
    }
    named = [without_possessive(word.lower()) for name in names(question) for word in (name, *name.split())]
    speaker = next((by_name[word] for word in named if word in by_name), None)
    placed = {word.lower() for word in _PLACED.findall(question)}
    others = [word for word in named if word not in by_name and word not in placed]
    is_own = speaker is not None or not others or _MINE.search(question) is not None
    owner = _relation_in(question, attribute) or (ME if is_own else others[0])
    return AskedFact(
        attribute=attribute,
        owner=owner,
        speaker=speaker,
        topic=_topic(question, attribute, place) - {*stems(speaker or ""), *stems(owner)},
        when=when,
    )


def is_changed_later(
    value: str, said: SaidTurn, others: Iterable[SaidTurn], when: When | Period | None, *, owner: str = ME
) -> bool:
    """Whether it is said later that a value was wrong or, of questions about the present, that it changed.

    What the same person tells of another than the `owner` of the value, as "Tom quit", is no change of it.
    """
    turns = [said, *(turn for turn in others if turn.rank >= said.rank)]
    later = [turn for turn in turns if timestamp(turn.said_at) > timestamp(said.said_at)]
    owners = _names_of(owner, (turn for turn in turns if turn.speaker == said.speaker))
    is_changed = when == "now" and (
        any(_is_about_change(said, turn, owners) for turn in later) or _is_other_now(value, said, turns)
    )
    return is_changed or any(_is_correction(said, turn) for turn in later)


def _names_of(owner: str, turns: Iterable[SaidTurn]) -> frozenset[str]:
    """What one speaker may call the owner of a value: the relation, the name, "he" or "she"."""
    aliases = {name: relation for turn in turns for name, relation in read_aliases(turn.text).items()}
    names = {name for name, relation in aliases.items() if relation == owner}
    return frozenset({owner, SOMEBODY, aliases.get(owner, owner), *names})


def _is_about_change(said: SaidTurn, later: SaidTurn, owners: Collection[str]) -> bool:
    """Whether the same person tells of a change of an owner that no rule reads, or another of the person."""
    if later.speaker != said.speaker:
        is_named = not {*words(said.speaker)}.isdisjoint(words(later.text))
        return is_named and any(
            _CHANGED.search(piece.text) and not speaks_of_self(piece.text) for piece in sentences(later.text)
        )
    subjects = [read_subject(later.text, change.start()) for change in _CHANGED.finditer(later.text)]
    is_of_owner = any(subject is None or subject in owners for subject in subjects)
    return is_of_owner and not _values_in(later)


def _is_other_now(value: str, said: SaidTurn, turns: Iterable[SaidTurn]) -> bool:
    """Whether the same person says later what is so now, with another name or number that no rule reads."""
    find = numbers if numbers(value) else names
    if not find(value):
        return False
    own = [turn for turn in turns if turn.speaker == said.speaker]
    now = [
        piece.text
        for turn in own
        if timestamp(turn.said_at) > timestamp(said.said_at)
        for piece in sentences(turn.text)
        if _SINCE_NOW.search(piece.text) and not piece.text.rstrip().endswith("?")
    ]
    new = {found for text in now for found in find(text)} - {*find(value)}
    return bool(new) and not new <= {
        found for turn in own for known in _values_in(turn) for found in find(known)
    }


def _values_in(turn: SaidTurn) -> list[str]:
    """The values of all attributes that rules read from a turn."""
    return [
        one.value for each in ENGLISH.attributes for one in read_statements(turn.text, each, turn.said_at)
    ]


def _is_correction(said: SaidTurn, later: SaidTurn) -> bool:
    """Whether the same person takes something back within two days: "no wait, I meant Friday"."""
    if later.speaker != said.speaker or timestamp(later.said_at) - timestamp(said.said_at) > _SOON:
        return False
    return _CORRECTED.search(later.text.translate(_NO_STOPS)) is not None


def _topic(question: str, attribute: Attribute, place: tuple[int, int]) -> frozenset[str]:
    """Stems of the thing that is asked about."""
    if not attribute.topical:
        return frozenset()
    rest = f"{question[: place[0]]} {question[place[1] :]}"
    plain = without_dates(rest, resolve_dates(rest, None))
    return frozenset(stems(plain)) - _GENERIC - frozenset(stems(" ".join(attribute.nouns)))


def _attribute_of(question: str) -> tuple[Attribute, tuple[int, int]] | None:
    """The attribute asked for and the place of its words: a noun before a phrase, of nouns the last."""
    found = [
        (_rank(attribute, match), attribute, match.span())
        for attribute in ENGLISH.attributes
        for match in attribute.question.finditer(question)
        if not _is_noun(attribute, match) or _is_asked(question, attribute, match)
    ]
    best = max(found, key=lambda one: one[0], default=None)
    return None if best is None else best[1:]


def _rank(attribute: Attribute, match: re.Match[str]) -> tuple[bool, bool, int]:
    is_noun = _is_noun(attribute, match)
    return is_noun, not (is_noun or attribute.topical), match.end()


def _is_noun(attribute: Attribute, match: re.Match[str]) -> bool:
    return match.group().lower() in attribute.nouns


def _is_asked(question: str, attribute: Attribute, noun: re.Match[str]) -> bool:
    """Whether a question asks for what a noun names, and not for something of it. "Where" and "how much" ask
    for no person.
    """
    frame = _FRAME.match(question)
    if frame is None or (attribute.kind == "person" and frame["adverb"]):
        return False
    return _PREPOSITION_BEFORE.search(question, 0, noun.start()) is None


def read_when(question: str, asked_at: datetime | None = None) -> When | Period | None:
    """When a value is asked for; `None` for a past tense without any time."""
    dates = resolve_dates(question, asked_at)
    if dates:
        first, last = dates[0].first, dates[0].last
        return first, first + (last - first) // 3 if _BEGINNING.search(question) else last
    if _FIRST.search(question):
        return "first"
    if _EARLIER.search(question):
        return "before"
    return None if _PAST_TENSE.search(question) else "now"


def _relation_in(question: str, attribute: Attribute) -> str | None:
    """The relative whose attribute is asked for; a boss is one in "my boss's car" only."""
    for found in RELATION.finditer(question):
        if found["own"] or found["relation"].lower() not in attribute.nouns:
            return same_relation(found["relation"])
    return None


def _history(asked: AskedFact, turns: Sequence[SaidTurn]) -> list[SaidStatement]:
    """The statements of the asked owner by the asked speaker, oldest first."""
    histories: dict[_Key, list[SaidStatement]] = {}
    latest: dict[tuple[str, bool], _Key] = {}
    aliases: dict[_Key, str] = {}
    trusted = _most_trusted(turns, asked.attribute)
    for at in sorted(trusted, key=lambda at: timestamp(turns[at].said_at)):
        turn, speaker = turns[at], turns[at].speaker.lower()
        aliases |= {(speaker, name): relation for name, relation in read_aliases(turn.text).items()}
        for found in read_statements(turn.text, asked.attribute, turn.said_at):
            one = replace(found, owner=aliases.get((speaker, found.owner), found.owner))
            key = _history_of(one, speaker, histories, latest)
            if key is not None and _is_of_topic(asked, one, histories.get(key, [])):
                histories.setdefault(key, []).append(SaidStatement(turn=at, statement=one))
                latest[speaker, key[1] == ME] = latest[speaker, True] = key
    return _asked_history(_as_relation(asked, aliases), histories)


def _most_trusted(turns: Sequence[SaidTurn], attribute: Attribute) -> list[int]:
    """The places of turns that no turn of the same speaker with a statement outranks."""
    highest: dict[str, int] = {}
    for turn in turns:
        speaker = turn.speaker.lower()
        if turn.rank > highest.get(speaker, 0) and read_statements(turn.text, attribute, turn.said_at):
            highest[speaker] = turn.rank
    return [at for at, turn in enumerate(turns) if turn.rank >= highest.get(turn.speaker.lower(), 0)]


def _as_relation(asked: AskedFact, aliases: Mapping[_Key, str]) -> AskedFact:
    """The fact of somebody's relative, if one speaker says that the asked name is one."""
    known = [(speaker, owner) for (speaker, name), owner in aliases.items() if name == asked.owner]
    if len(known) != 1 or asked.speaker not in (None, known[0][0]):
        return asked
    return replace(asked, speaker=known[0][0], owner=known[0][1])


def _is_of_topic(asked: AskedFact, one: Statement, history: Sequence[SaidStatement]) -> bool:
    """Whether a statement is about the asked thing: it names it, or continues what was stated of it."""
    if one.is_change or one.is_end or not asked.topic:
        return True
    said = {*stems(one.said)}
    return bool(asked.topic & said) or any(said & {*stems(earlier.statement.value)} for earlier in history)


def _history_of(
    one: Statement,
    speaker: str,
    histories: dict[_Key, list[SaidStatement]],
    latest: dict[tuple[str, bool], _Key],
) -> _Key | None:
    """The history that a statement belongs to; `None` if it states nothing by itself and there is none."""
    key = (speaker, one.owner)
    if key in histories:
        return key
    if one.owner == SOMEBODY:
        return latest.get((speaker, False), None if one.is_change else key)
    return latest.get((speaker, True)) if one.is_change and one.owner == ME else key


def _asked_history(asked: AskedFact, histories: dict[_Key, list[SaidStatement]]) -> list[SaidStatement]:
    if asked.owner == ME:
        own = [key for key in histories if key[1] == ME and asked.speaker in (None, key[0])]
        if asked.speaker is not None and not own:
            own = [key for key in histories if key[1] in (asked.speaker, asked.speaker.split()[0])]
    else:
        own = [key for key in histories if key[1] == asked.owner and asked.speaker in (None, key[0])]
        others = {key[1] for key in histories} - {ME, SOMEBODY}
        if not own and not others:
            own = [key for key in histories if key[1] == SOMEBODY and asked.speaker in (None, key[0])]
    return histories[own[0]] if len(own) == 1 else []


def _select(
    asked: AskedFact, history: Sequence[SaidStatement], turns: Sequence[SaidTurn], asked_at: datetime | None
) -> KnownFact | None:
    values, is_over = _values(history)
    today = asked_at.date() if asked_at is not None else date.max
    starts = _starts(values, turns)
    current = max((at for at, start in enumerate(starts) if start <= today), default=None)
    at = _place(asked, current, is_over=current is not None and is_over[current])
    if not isinstance(asked.when, str):
        then = asked.when[1]
        at = max((place for place, start in enumerate(starts) if start <= then), default=None)
    if at is None:
        return None
    return KnownFact(answer=values[at] if at >= 0 else None, values=tuple(values))


def _values(history: Sequence[SaidStatement]) -> tuple[list[SaidStatement], list[bool]]:
    """The statements that give a new value, and of each whether its value is said to hold no more."""
    values: list[SaidStatement] = []
    is_over: list[bool] = []
    for one in history:
        is_end = one.statement.is_end
        if values and is_same_value(values[-1].statement.value, one.statement.value):
            is_over[-1] = is_end
        else:
            at = len(values) - 1 if values and is_end else len(values)
            values.insert(at, one)
            is_over.insert(at, is_end)
    return values, is_over


def _place(asked: AskedFact, current: int | None, *, is_over: bool) -> int | None:
    """The place of the value that is asked for: -1 if none holds any more, `None` if it is not known."""
    match asked.when:
        case "first":
            return 0
        case "before":
            return current if is_over else current - 1 if current else None
        case _:
            return -1 if is_over else current


def _starts(values: Sequence[SaidStatement], turns: Sequence[SaidTurn]) -> list[date]:
    """The day from which each value holds: that of its statement, unless it names another one that is not
    before the value that it replaces.
    """
    starts: list[date] = []
    for one in values:
        said_at, since = turns[one.turn].said_at, one.statement.since
        said = said_at.date() if said_at is not None else date.min
        is_named = since is not None and (not starts or since > starts[-1])
        starts.append(since if since is not None and is_named else said)
    return starts


def is_same_value(one: str, other: str) -> bool:
    """Whether two values are the same: equal numbers, or all words of one in the other."""
    if numbers(one) or numbers(other):
        return numbers(one) == numbers(other) and _letters(one) == _letters(other)
    first, second = {*words(one)}, {*words(other)}
    return first <= second or second <= first


def _letters(value: str) -> set[str]:
    return {word for word in words(value) if word.isalpha() and word[0].isalpha() and len(word) > 4}

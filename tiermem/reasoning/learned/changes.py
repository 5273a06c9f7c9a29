"""Which of the words that a reader points at hold at the time that a question asks for.

Of a fact that changed several turns hold words that answer, and those that fit the question best are not
always those that hold. If it is unclear which of them hold, none do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, time
from typing import Final

from tiermem.reasoning.learned.fitting import ExpectedAnswer
from tiermem.reasoning.learned.passage import Words
from tiermem.reasoning.rules.compose import CHANGE
from tiermem.text import stems
from tiermem.text.dates import timestamp
from tiermem.text.histories import SaidTurn, is_same_value, read_when
from tiermem.text.literals import numbers
from tiermem.text.statements import StatedWords, read_since, read_words

_ANSWERS: Final = 0.0
"""The lead from which words of another turn may answer in place of the best ones."""
_AMOUNT: Final = re.compile(r"\d[\d.,]*")
_RIVALS: Final = -1.0
"""The lead from which words of another turn make it unclear that the best ones hold."""


def choose_by_time(
    question: str, asked: ExpectedAnswer, found: Sequence[Words], turns: Sequence[SaidTurn]
) -> Words | None:
    """The words that hold at the time that is asked for, of those `found`, best first; `None` if that is
    unclear. Words of turns that are trusted less than that of the best are left out.
    """
    best = found[0]
    found = [words for words in found if turns[words.turn].rank >= turns[best.turn].rank]
    when = read_when(question)
    if asked.kind in ("list", "yes-no") or when is None or (asked.day and when not in ("first", "before")):
        return _latest_change(found, turns)
    if not isinstance(when, str):
        return _of_period(found, turns, timestamp(datetime.combine(when[1], time.max)))
    values = _values(asked, found, turns)
    if best not in values:
        return None
    if when == "now":
        return _current(best, values, turns)
    return _earlier(best, values, turns, is_first=when == "first")


def _latest_change(found: Sequence[Words], turns: Sequence[SaidTurn]) -> Words:
    """The latest words that were said as a change and may be an answer too, or else the best words."""
    best, *others = found
    changed = [
        words
        for words in others
        if words.margin > _ANSWERS
        and _moment(words, turns) > _moment(best, turns)
        and CHANGE.search(turns[words.turn].text)
    ]
    return max(changed, key=lambda words: _moment(words, turns), default=best)


def _of_period(found: Sequence[Words], turns: Sequence[SaidTurn], end: float) -> Words:
    """The best words; if they hold after the period, the latest other value of the speaker by its end."""
    best, *others = found
    if _start(best, turns) <= end:
        return best
    earlier = [
        words
        for words in others
        if words.margin > _RIVALS
        and _start(words, turns) <= end
        and turns[words.turn].speaker == turns[best.turn].speaker
        and not is_same_value(words.text, best.text)
    ]
    return max(earlier, key=lambda words: _moment(words, turns), default=best)


def _values(asked: ExpectedAnswer, found: Sequence[Words], turns: Sequence[SaidTurn]) -> tuple[Words, ...]:
    """The best words and their rivals, oldest first.

    A rival is another value by the same speaker, of the same owner or somebody's wish, in a turn that says
    that something changed or shares a word with the question. Of several levels of trust the highest counts.
    """
    best, *others = found
    speaker, owner = turns[best.turn].speaker, _read(best, turns).owner
    known = asked.known.difference(stems(speaker))
    rivals = [
        words
        for words in others
        if words.margin > _RIVALS
        and turns[words.turn].speaker == speaker
        and not is_same_value(words.text, best.text)
        and (
            CHANGE.search(turns[words.turn].text)
            or not known.isdisjoint(stems(turns[words.turn].text))
            or _is_same_unit(words.text, best.text)
        )
        and not (read := _read(words, turns)).is_asked
        and (read.owner == owner or not read.is_stated)
    ]
    highest = max(turns[words.turn].rank for words in (best, *rivals))
    trusted = (words for words in (best, *rivals) if turns[words.turn].rank == highest)
    return tuple(sorted(trusted, key=lambda words: _moment(words, turns)))


def _is_same_unit(one: str, other: str) -> bool:
    """Whether both are amounts, and of the same thing: "1.89 percent" and "4.62 percent"."""
    return bool(numbers(one) and numbers(other)) and _without_digits(one) == _without_digits(other) != ""


def _without_digits(text: str) -> str:
    return " ".join(_AMOUNT.sub("", text).split())


def _current(best: Words, values: Sequence[Words], turns: Sequence[SaidTurn]) -> Words | None:
    """The latest value, if it is stated of the present."""
    present = [words for words in values if not _read(words, turns).is_over]
    latest = present[-1] if best in present else None
    if latest is None or latest is best:
        return latest
    return latest if latest.margin > _ANSWERS and _read(latest, turns).is_stated else None


def _earlier(
    best: Words, values: Sequence[Words], turns: Sequence[SaidTurn], *, is_first: bool
) -> Words | None:
    """The first value, or one before the last; `None` if the best words are neither and it is unclear."""
    if is_first:
        return best if best is values[0] else None
    if best is not values[-1] or _read(best, turns).is_over:
        return best
    return values[0] if len(values) == 2 and values[0].margin > _ANSWERS else None


def _read(words: Words, turns: Sequence[SaidTurn]) -> StatedWords:
    return read_words(turns[words.turn].text, words.start, words.end)


def _start(words: Words, turns: Sequence[SaidTurn]) -> float:
    """The time from which words hold: of a later day that their sentence names, else when they were said."""
    turn = turns[words.turn]
    since = read_since(turn.text, words.start, turn.said_at)
    said = _moment(words, turns)
    return said if since is None else max(said, timestamp(datetime.combine(since, time.min)))


def _moment(words: Words, turns: Sequence[SaidTurn]) -> float:
    return timestamp(turns[words.turn].said_at)

"""Answer scores that need no judge: SQuAD's token F1 and exact match, MemTier's soft match, ours by words."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Final

from tiermem.text.dates import DateMention, resolve_dates

ENOUGH_F1: Final = 0.5
"""Token F1 from which an answer is right by words."""
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")
_BESIDE_DATES: Final = re.compile(r"\b(?:on|in|the|at|of)\b|\W", re.IGNORECASE)
"""What beside a date says nothing more."""
_NO_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """Lower case, without ASCII punctuation and English articles, single spaces: SQuAD's normal form."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def exact(answer: str, gold: Sequence[str]) -> bool:
    """True when the answer equals a gold answer after normalising."""
    return any(normalised(answer) == normalised(text) for text in gold)


def token_f1(answer: str, gold: Sequence[str]) -> float:
    """The best token F1 against any gold answer; two texts without a token left agree fully."""
    return max((_f1(normalised(answer).split(), normalised(text).split()) for text in gold), default=0.0)


def soft_match(answer: str, gold: Sequence[str]) -> bool:
    """MemTier's accuracy: equal after normalising, or one contains the other as a contiguous substring.

    An empty string lies in every other; it matches only another empty one, or silence would be right.
    """
    mine = normalised(answer)
    return any(_contains(mine, normalised(text)) for text in gold)


def right_by_words(answer: str, gold: Sequence[str]) -> bool:
    """True when the answer holds a gold answer's words in order, or shares enough of them.

    Where a gold answer is a date and nothing else, an answer that names dates is right when one of them lies
    within it: "19 February 2024" is "On 19.02.2024", and is not "18 February 2024", whose words are nearly
    the same.
    """
    named = resolve_dates(answer, None)
    return bool(answer.strip()) and any(_is_right(answer, named, text) for text in gold)


def _is_right(answer: str, named: Sequence[DateMention], gold: str) -> bool:
    date = date_of(gold)
    if date is not None and named:
        return any(date.first <= one.first and one.last <= date.last for one in named)
    words = normalised(gold)
    holds = bool(words) and f" {words} " in f" {normalised(answer)} "
    return holds or token_f1(answer, (gold,)) >= ENOUGH_F1


def date_of(gold: str) -> DateMention | None:
    """The date that a gold answer is, if it says nothing beside it."""
    mentions = resolve_dates(gold, None)
    if len(mentions) != 1:
        return None
    (only,) = mentions
    beside = f"{gold[: only.start]} {gold[only.end :]}"
    return None if _BESIDE_DATES.sub("", beside) else only


def _contains(one: str, other: str) -> bool:
    return one == other if not one or not other else one in other or other in one


def _f1(answer: Sequence[str], gold: Sequence[str]) -> float:
    if not answer or not gold:
        return float(answer == gold)
    shared = (Counter(answer) & Counter(gold)).total()
    if not shared:
        return 0.0
    precision, recall = shared / len(answer), shared / len(gold)
    return 2 * precision * recall / (precision + recall)

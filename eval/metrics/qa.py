"""Answer scores that need no judge: SQuAD's token F1 and exact match, and MemTier's soft match."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Final

ENOUGH_F1: Final = 0.5
"""Token F1 from which an answer is right by words."""
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")
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
    """True when the answer holds a gold answer's words in order, or shares enough of them."""
    mine = f" {normalised(answer)} "
    holds = any(f" {normalised(text)} " in mine for text in gold if normalised(text))
    return bool(answer.strip()) and (holds or token_f1(answer, gold) >= ENOUGH_F1)


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

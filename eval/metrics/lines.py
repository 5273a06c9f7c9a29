"""Whether a turn that search displays shows the answer: it holds a gold answer, or is of the evidence."""

from __future__ import annotations

from eval.metrics.qa import date_of, normalised
from eval.types import LabelledQuestion, Passage
from pagestore import Turn
from tiermem.text.dates import resolve_dates
from tiermem.text.words import ends_at_spaces


def shows_answer(turn: Turn, place: Passage, question: LabelledQuestion) -> bool:
    """Whether a turn is of the question's evidence, or holds one of its gold answers."""
    return place in question.evidence or any(holds_gold(turn, gold) for gold in question.gold)


def holds_gold(turn: Turn, gold: str) -> bool:
    """Whether a turn holds a gold answer as whole words in order.

    A gold answer that is a date and nothing else is held by a turn that names a day within it, also by an
    expression that counts from when the turn was said ("yesterday").
    """
    date = date_of(gold)
    if date is not None:
        named = resolve_dates(turn.text, turn.said_at)
        return any(date.first <= one.first and one.last <= date.last for one in named)
    if not normalised(gold):
        return False
    words = normalised(gold) if gold.isascii() else gold
    text = normalised(turn.text) if gold.isascii() else turn.text
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        if not (_is_inside(text[start - 1 : start], words[0]) or _is_inside(text[end : end + 1], words[-1])):
            return True
        start = text.find(words, start + 1)
    return False


def _is_inside(neighbour: str, end: str) -> bool:
    """Whether a character at an end of the words and the one next to it are of one word."""
    return neighbour.isalnum() and ends_at_spaces(end)

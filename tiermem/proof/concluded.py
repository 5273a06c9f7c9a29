"""What another memory says: what a program concluded of words that it does not show.

It is kept as a turn of the role `memory`. As with any other turn, this proves that the program says so; no
words of a speaker prove that it is so. What rests on such turns alone is no more than `worded`, until words
are found that say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pagestore import Page, Span, Turn
from tiermem.model import LinkedFact, Rejected
from tiermem.text.quotes import touched_turns
from tiermem.trust import kind_of_role

ONLY_CONCLUDED = "only another memory says so, and it shows no words"


def is_concluded(turn: Turn) -> bool:
    """Whether another memory says it, and not somebody."""
    return kind_of_role(turn.role) == "memory"


def only_concluded(spans: Iterable[Span], pages: Sequence[Page]) -> bool:
    """Whether every turn these spans touch is what another memory says; `False` where they touch none."""
    touched = touched_turns(spans, pages)
    return bool(touched) and all(map(is_concluded, touched))


def without_words(linked: LinkedFact | Rejected, pages: Sequence[Page]) -> LinkedFact | Rejected:
    """What was linked, `worded` at most where it rests on what another memory says and on nothing else."""
    if isinstance(linked, Rejected) or not only_concluded(linked.spans, pages):
        return linked
    return replace(linked, support="worded", reason=ONLY_CONCLUDED)

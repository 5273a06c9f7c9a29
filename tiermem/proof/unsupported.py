"""Content words of a wording that its sources do not hold.

A wording of which every content word is in its sources may still say something else: the words can be
combined to another statement. A content word that is in no source is an addition of the wording.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from tiermem.text.dates import WEEKDAYS
from tiermem.text.literals import ORDINALS, numbers
from tiermem.text.readings import is_negated
from tiermem.text.words import STOP_WORDS, WORD, stem, word_list, words

CONTENT_FREE = frozenset(
    map(
        stem,
        word_list("""
            say tell mention note state according add remark report explain describe discuss talk speak
            answer reply respond refer call name include make take go get give use thing something someone
            somebody anything anyone everything everyone other another one ones way kind sort type lot
            bit also well quite simply actually basically currently recently specifically especially
            particularly usually various several different many much few yes
        """),
    )
)
"""Stems of verbs of reporting, light verbs and fillers. They need no support: they state nothing."""

TIME_WORDS = frozenset(
    map(
        stem,
        (
            *word_list("second minute hour day night week weekend month year decade today yesterday"),
            *word_list("tomorrow ago last next previous prior following early late mid middle"),
            *word_list("beginning start end shortly around since"),
            *WEEKDAYS,
            *ORDINALS,
        ),
    )
)
"""Stems of words that place a statement in time. A date next to them is checked instead."""

_NEGATION = "not"


def content_stems(texts: Iterable[str]) -> frozenset[str]:
    """Return what sources support: the stems of their words, all negations as one."""
    return frozenset(_content_stem(word) for text in texts for word in words(text))


def unsupported_words(text: str, supported: Set[str], *, is_dated: bool) -> tuple[str, ...]:
    """Return the content words of `text` whose stems are not in `supported`, each once, as they are written.

    Numbers are left out; they are checked with what they count. Words that place a statement in time are left
    out if `is_dated`: a date or a computation is checked instead.
    """
    free = CONTENT_FREE | TIME_WORDS if is_dated else CONTENT_FREE
    found: dict[str, str] = {}
    for match in WORD.finditer(text.replace("’", "'")):
        word = match.group().lower()
        root = _content_stem(word)
        if word not in STOP_WORDS and root not in free and root not in supported and not numbers(word):
            found.setdefault(root, match.group())
    return tuple(found.values())


def _content_stem(word: str) -> str:
    return _NEGATION if is_negated(word) else stem(word)

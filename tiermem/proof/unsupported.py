"""Words that need no support, of which a wording may have some that its sources do not hold."""

from __future__ import annotations

from tiermem.text.dates import WEEKDAYS
from tiermem.text.literals import ORDINALS
from tiermem.text.words import stem, word_list

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

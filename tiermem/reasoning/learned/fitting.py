"""What a question asks for, and how much speaks against words, or a turn, as the answer to it.

What is subtracted is in logits, and was chosen on halves A of LoCoMo and REALTALK: decision 55.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from tiermem.reasoning.rules.questions import Kind, parse_question
from tiermem.text import stems
from tiermem.text.histories import SaidTurn
from tiermem.text.literals import names, numbers

NOTHING: Final = float("inf")
"""What speaks against words that cannot be an answer at all."""
_NOT_THE_ONE: Final = 4.0
"""What a lead loses where the question names another of the speakers."""
_OTHER_KIND: Final = 3.0
"""What a lead loses where words are of another kind than what is asked for."""
_DAY: Final = re.compile(
    r"(?:when\b|(?:on |in |since )?(?:what|which) (?:date|day|month|year)\b)", re.IGNORECASE
)
_EITHER: Final = re.compile(r"\bor\b", re.IGNORECASE)
_NAME: Final = re.compile(r"\b(?:name|named|called)\b", re.IGNORECASE)
_SEEN: Final = re.compile(
    r"\b(?:photos?|pictures?|pics?|images?|paint\w{0,6}|draw\w{0,6}|show\w{0,4}|shar\w{0,4})\b", re.IGNORECASE
)
_CAPTION: Final = "[shares a"
"""How what was on a picture begins in a turn."""
_AMOUNTS: Final = frozenset({"how many", "how much", "how long"})
_AMOUNT: Final = re.compile(
    r"\b(?:an?|one|once|twice|both|couple|few|several|every|daily|weekly|monthly|always|never|since|dozens?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedAnswer:
    """A question taken apart: its kind, whether a day, a name or one of several things is asked for, its
    words as stems, the speakers it names, and whether it asks for what was on a picture.
    """

    kind: Kind
    day: bool
    name: bool
    either: bool
    seen: bool
    known: frozenset[str]
    speakers: frozenset[str]

    def against_turn(self, turn: SaidTurn) -> float:
        """What a lead loses in a turn: something where another is asked about than the one who speaks."""
        other = len(self.speakers) == 1 and turn.speaker.lower() not in self.speakers
        return _NOT_THE_ONE if other else 0.0

    def against(self, text: str, start: int, end: int) -> float:
        """What the lead of `start` to `end` of a turn's text loses; `NOTHING` where they say no more than the
        question does, as "pasta" to "what kind of pasta?", or "he" to "who?".
        """
        words = text[start:end]
        if self.day:
            return 0.0
        if not self._new(words):
            return NOTHING
        opened = text.rfind(_CAPTION, 0, start + 1)
        captioned = not self.seen and opened >= 0 and "]" not in text[opened:start]
        return _OTHER_KIND * (captioned + self._of_another_kind(words))

    def _new(self, words: str) -> bool:
        said = set(stems(words))
        if self.kind in _AMOUNTS and _is_amount(words):
            return True
        return bool(said) if self.either or self.kind == "yes-no" else not said <= self.known

    def _of_another_kind(self, words: str) -> bool:
        if self.kind in _AMOUNTS:
            return not _is_amount(words)
        if self.kind == "yes-no" and self.either:
            return self.known.isdisjoint(stems(words))
        return self.name and not names(words)


def _is_amount(words: str) -> bool:
    return bool(numbers(words, loose=True) or _AMOUNT.search(words))


def expected_answer(question: str, speakers: Collection[str]) -> ExpectedAnswer:
    """The question taken apart, among these speakers."""
    asked = {part.lower() for name in names(question) for part in (name, *name.split())}
    return ExpectedAnswer(
        kind=parse_question(question).kind,
        day=asks_for_day(question),
        name=_NAME.search(question) is not None,
        either=_EITHER.search(question) is not None,
        seen=_SEEN.search(question) is not None,
        known=frozenset(stems(question)),
        speakers=frozenset(asked & {one.lower() for one in speakers}),
    )


def asks_for_day(question: str) -> bool:
    """Whether a date is asked for."""
    return _DAY.match(question.strip()) is not None

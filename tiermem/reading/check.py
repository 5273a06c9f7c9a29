"""The check after every answer, by code alone: nothing precise is said that the cited words do not hold.

A wrong number, date or name is what a summary answer gets wrong most quietly. The check can only
refuse: it never changes an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from tiermem.model import Check
from tiermem.text import Source, unsupported_literals

UNCITED = "(the answer cites nothing)"


def check(question: str, answer: str, cited: Sequence[Source]) -> Check:
    """Whether every number, date and proper name of `answer` stands in what it cites, or follows from a
    date there. An answer without any source fails, whatever it says.
    """
    if not cited:
        return Check(passed=False, unsupported=(UNCITED,))
    missing = unsupported_literals(answer, cited, question=question)
    return Check(passed=not missing, unsupported=missing)

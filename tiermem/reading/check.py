"""The check of a worded answer against what it cites, by code alone; see `tiermem.proof.grade`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tiermem.model import Caution, Check
from tiermem.proof import Grade, grade
from tiermem.text import Source
from tiermem.trust import kind_of_role

UNCITED = "the answer cites nothing"
UNCHECKED = "the answer is too long to be checked, or has no word of the cited sentences"
MOST_LISTED = 64
"""Unsupported words that a check lists."""


def check(
    question: str, answer: str, cited: Sequence[Source], *, is_inferred: bool = False
) -> tuple[Check, Grade]:
    """Grade `answer` by what it cites, and return the check to record and the grade it was made from.

    Without any source it is refused.

    `is_inferred` says that its maker calls it concluded from the cited words.
    """
    if not cited:
        return Check(support="contradicted", reason=UNCITED), Grade(support="worded")
    found = _grade_by_own_words(answer, cited, question)
    if is_inferred:
        found = replace(found, cautions=(*found.cautions, Caution(code="inferred")))
    checked = Check(
        support=found.support,
        unsupported=found.unsupported[:MOST_LISTED],
        cautions=found.cautions,
        derivations=found.computations,
        reason="" if found.sentences or found.unsupported else UNCHECKED,
    )
    return checked, found


def _grade_by_own_words(answer: str, cited: Sequence[Source], question: str) -> Grade:
    """Grade by all that is cited; by what people said alone if that leaves the answer unmarked."""
    found = grade(answer, cited, question)
    if not any(caution.code in ("assistant", "memory") for caution in found.cautions):
        return found
    said = [one for one in cited if not (one.concluded or kind_of_role(one.role) == "assistant")]
    alone = grade(answer, said, question)
    return alone if alone.is_unmarked else found

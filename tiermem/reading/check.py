"""The check of a worded answer against what it cites: code, no model; see `tiermem.proof.check`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from tiermem.model import Check
from tiermem.proof import ONLY_CONCLUDED, graded
from tiermem.text import Source

UNCITED = "the answer cites nothing"
INFERRED = "it is concluded from the words cited"


def check(
    question: str,
    answer: str,
    cited: Sequence[Source],
    *,
    counted: Sequence[str] = (),
    asked_at: datetime | None = None,
    inferred: bool = False,
) -> Check:
    """How far `answer` is borne out by what it cites; without any source it is refused, whatever it says.

    What its maker calls `inferred` is no more than worded, and so is what only another memory says.
    """
    if not cited:
        return Check(support="contradicted", reason=UNCITED)
    found = graded(answer, cited, question=question, counted=counted, asked_at=asked_at)
    if inferred and found.support in ("stated", "derived"):
        return replace(found, support="worded", reason=INFERRED)
    if found.support in ("stated", "derived") and any(one.concluded for one in cited):
        return _by_words(question, answer, cited, found, counted=counted, asked_at=asked_at)
    return found


def _by_words(
    question: str,
    answer: str,
    cited: Sequence[Source],
    found: Check,
    *,
    counted: Sequence[str],
    asked_at: datetime | None,
) -> Check:
    """How far what somebody said bears it out, without what another memory says; else worded."""
    said = [one for one in cited if not one.concluded]
    alone = graded(answer, said, question=question, counted=counted, asked_at=asked_at) if said else None
    if alone is not None and alone.support in ("stated", "derived"):
        return alone
    return replace(found, support="worded", reason=ONLY_CONCLUDED)

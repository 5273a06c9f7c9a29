"""The check of a worded answer against what it cites: code, no model; see `tiermem.proof.check`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from tiermem.model import Check
from tiermem.proof import graded
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

    What its maker calls `inferred` is no more than worded.
    """
    if not cited:
        return Check(support="contradicted", reason=UNCITED)
    found = graded(answer, cited, question=question, counted=counted, asked_at=asked_at)
    if inferred and found.support in ("stated", "derived"):
        return replace(found, support="worded", reason=INFERRED)
    return found

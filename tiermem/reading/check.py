"""The check of a worded answer against what it cites: code, no model; see `tiermem.text.check`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tiermem.model import Check
from tiermem.text import Source, graded

UNCITED = "the answer cites nothing"


def check(
    question: str,
    answer: str,
    cited: Sequence[Source],
    *,
    counted: Sequence[str] = (),
    asked_at: datetime | None = None,
) -> Check:
    """How far `answer` is borne out by what it cites; without any source it is refused, whatever it says."""
    if not cited:
        return Check(support="contradicted", reason=UNCITED)
    return graded(answer, cited, question=question, counted=counted, asked_at=asked_at)

"""What one lesson is: two texts, and the labels there are for them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Final, Literal

Task = Literal["read", "rank", "support"]
"""Find the answer and say whether there is one; say whether a turn bears on a question; grade a claim."""
Part = Literal["train", "dev", "test"]
"""Learned from; looked at while learning; measured at the end."""
GRADES: Final = ("stated", "unclear", "contradicted")
"""What a text says of a claim, in the order of the head's outputs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A question or a claim (`first`), a text it is held against (`second`), and labels.

    `spans` are the acceptable answers, in characters of `second`; without any the span is not learned.
    `label` is 1 or 0 for `read` (does the text suffice) and `rank`, and a number in `GRADES` for `support`.
    `group` is the article, conversation or chat it is from: the unit that data is split by. `latest` is when
    the last of the turns it shows or is labelled by was said, `asked_at` when the question was asked.
    """

    id: str
    source: str
    group: str
    task: Task
    first: str
    second: str
    label: int
    spans: tuple[tuple[int, int], ...] = ()
    answers: tuple[str, ...] = ()
    category: str = ""
    asked_at: datetime | None = None
    latest: datetime | None = None


def digest(examples: Iterable[Example]) -> str:
    """SHA-256 over the examples in their order: the same lessons have the same digest."""
    found = hashlib.sha256()
    for one in examples:
        found.update(repr(astuple(one)).encode("utf-8", "surrogatepass"))
    return found.hexdigest()

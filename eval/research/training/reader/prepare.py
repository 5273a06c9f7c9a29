"""What a training begins with: as many lessons as are wanted, drawn by the seed, as numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eval.research.training.data.conversations import WITHOUT
from eval.research.training.data.examples import Example
from eval.research.training.reader.encode import Encoded, encoded_one
from tiermem.embedding.onnx import tokenizer
from tiermem.embedding.weights import TOKENIZER
from tiermem.reasoning.learned.pieces import Pieces, encode

_OURS: Final = ("written", "changes")
"""Sources that were written for this."""
_TALK: Final = (*_OURS, "friendsqa", "longmemeval")
"""Sources in which people talk."""
_AGAIN: Final = 16
"""Of all the rest every so many-th lesson is in the last epoch."""
_HIDDEN: Final = 3
"""Of the lessons whose evidence was taken away every so many-th is in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Lessons, their pieces and their numbers, in one order."""

    lessons: Sequence[Example]
    pieces: Sequence[Pieces]
    encoded: Sequence[Encoded]


def drawn(lessons: Sequence[Example], count: int | None, *, seed: int) -> list[Example]:
    """So many of the lessons, or all there are, chosen by seed and name alone; in their own order."""
    if count is None or count >= len(lessons):
        return list(lessons)
    by_chance = sorted(
        range(len(lessons)), key=lambda at: hashlib.sha256(f"{seed}:{lessons[at].id}".encode()).digest()
    )
    return [lessons[at] for at in sorted(by_chance[:count])]


def course_of(lessons: Sequence[Example], epochs: int) -> list[list[int]]:
    """The places of the lessons of every epoch: so often all but those that were written for this, and at
    the end, where there are any, once what is read in these and in other talk, and some of all the rest,
    which is not to be forgotten.
    """
    written = {at for at, one in enumerate(lessons) if one.source in _OURS}
    rest = [at for at in range(len(lessons)) if at not in written]
    if not written:
        return [rest] * epochs
    read = [at for at, one in enumerate(lessons) if one.source in _TALK and one.task == "read"]
    shown = [at for at in read if not lessons[at].id.endswith(WITHOUT)]
    hidden = [at for at in read if lessons[at].id.endswith(WITHOUT)]
    last = sorted({*shown, *hidden[::_HIDDEN], *rest[::_AGAIN]})
    return [*([rest] * epochs), last]


def whole_tokenizer(weights: Path) -> Any:
    """The tokenizer beside the weights, cutting and padding nothing."""
    made = tokenizer(weights / TOKENIZER)
    made.no_truncation()
    made.no_padding()
    return made


def prepared(lessons: Sequence[Example], by: Any) -> Prepared:
    """The lessons as numbers, by this tokenizer."""
    pieces = [encode(by, one.first, one.second) for one in lessons]
    numbers = [encoded_one(one, cut) for one, cut in zip(lessons, pieces, strict=True)]
    return Prepared(lessons=lessons, pieces=pieces, encoded=numbers)

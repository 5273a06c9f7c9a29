"""Which article, conversation or chat is learned from and which is measured on; nothing crosses over.

The split comes first, by whole groups; sampling, cutting and rewording come after it and cannot undo it.
`check` looks at the finished examples all the same, for a group can have two names.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from eval.research.training.data.examples import Example, Part
from tiermem.errors import InvalidInput

_RUN: Final = 16
"""Words in a row that no two groups of different parts may have in common."""
_WORD: Final = re.compile(r"\w+")
_LONG_QUESTION: Final = 6
"""Words from which a question that is asked twice is the same question."""


class Leak(InvalidInput):
    """Something of what is measured on can be learned from."""


def parts_of(groups: Iterable[str], *, dev: float = 0.0, test: float = 0.0) -> dict[str, Part]:
    """A part for every group: by its name's digest alone, in the given shares of their number, rounded.

    Raises `ValueError` where the shares are more than all there is.
    """
    if dev < 0 or test < 0 or dev + test > 1:
        raise ValueError(f"shares of {dev} and {test} are no shares of a whole")
    ordered = sorted(set(groups), key=lambda name: hashlib.sha256(name.encode()).digest())
    held_out = round(test * len(ordered))
    looked_at = held_out + round(dev * len(ordered))
    return {
        name: "test" if at < held_out else "dev" if at < looked_at else "train"
        for at, name in enumerate(ordered)
    }


def article(title: str) -> str:
    """The group of a Wikipedia article, however its title is written."""
    return "wikipedia:" + "_".join(_WORD.findall(title.lower().replace("_", " ")))


def check(examples: Mapping[Part, Sequence[Example]]) -> None:
    """Raise `Leak`, naming the example, for a group in two parts, words or a question of what is measured on
    among what is learned from, and a label or a turn from after the question.
    """
    _check_time(one for part in examples.values() for one in part)
    _check_groups(examples)
    train, rest = examples.get("train", ()), [*examples.get("dev", ()), *examples.get("test", ())]
    _check_questions(train, rest)
    _check_words(train, rest)


def _check_time(examples: Iterable[Example]) -> None:
    for one in examples:
        if one.latest is not None and one.asked_at is not None and one.latest > one.asked_at:
            raise Leak(f"{one.id!r} is labelled by what was said at {one.latest}, after it was asked")


def _check_groups(examples: Mapping[Part, Sequence[Example]]) -> None:
    seen: dict[str, Part] = {}
    for part, of in examples.items():
        for one in of:
            if seen.setdefault(one.group, part) != part:
                raise Leak(f"{one.group!r} is in {seen[one.group]!r} and, with {one.id!r}, in {part!r}")


def same_question(text: str) -> str:
    """A question without case and signs; "" for one so short that it may well be asked twice."""
    words = _WORD.findall(text.lower())
    return " ".join(words) if len(words) >= _LONG_QUESTION else ""


def _check_questions(train: Iterable[Example], rest: Iterable[Example]) -> None:
    asked = {same_question(one.first): one.id for one in rest} | {"": ""}
    for one in train:
        other = asked.get(same_question(one.first))
        if other:
            raise Leak(f"{one.id!r} asks what {other!r} asks")


def _check_words(train: Sequence[Example], rest: Sequence[Example]) -> None:
    known = {run: one.id for one in rest for run in runs_of(one.second)}
    for one in train:
        for run in runs_of(one.second):
            if run in known:
                raise Leak(f"{one.id!r} holds words of {known[run]!r}")


def runs_of(text: str) -> list[int]:
    """Every run of so many words that a text shares with another only by being copied."""
    words = _WORD.findall(text.lower())
    return [hash(tuple(words[at : at + _RUN])) for at in range(len(words) - _RUN + 1)]

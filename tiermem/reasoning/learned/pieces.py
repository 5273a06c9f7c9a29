"""Two texts as a reader's word pieces: `[CLS] first [SEP] second [SEP]`, cut to what it was taught on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tiermem.text.unicode import join_surrogates

WIDTH: Final = 256
"""Word pieces of both texts together."""
FIRST: Final = 56
"""Of them, those of the question or the claim at most."""
_CHARACTERS: Final = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """The ids, the index of the first one of the second text, and the ranges of its pieces in that text."""

    ids: Sequence[int]
    second: int
    offsets: Sequence[tuple[int, int]]
    """By piece of the second text, without the separator at its end."""

    def at(self, start: int, end: int) -> tuple[int, int] | None:
        """First and last piece of the characters `start` to `end`; `None` where they were cut off."""
        touched = [
            number for number, (begin, last) in enumerate(self.offsets) if begin < end and start < last
        ]
        if not touched or self.offsets[touched[-1]][1] < end:
            return None
        return self.second + touched[0], self.second + touched[-1]

    def inside(self, start: int, end: int) -> tuple[int, int]:
        """From which piece on, and before which, are those inside these characters; none: (0, 0)."""
        found = [at for at, (first, last) in enumerate(self.offsets) if start <= first < last <= end]
        return (self.second + found[0], self.second + found[-1] + 1) if found else (0, 0)


def encode(tokenizer: Any, first: str, second: str) -> Pieces:
    """Both texts in one; of a long first text the beginning is read, of the second what there is room for."""
    begin = tokenizer.encode(join_surrogates(first[:_CHARACTERS]))
    head = [*begin.ids[:-1][:FIRST], begin.ids[-1]]
    rest = tokenizer.encode(join_surrogates(second[:_CHARACTERS]), add_special_tokens=False)
    room = WIDTH - len(head) - 1
    return Pieces(
        ids=[*head, *rest.ids[:room], begin.ids[-1]],
        second=len(head),
        offsets=rest.offsets[:room],
    )

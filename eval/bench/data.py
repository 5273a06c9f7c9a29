"""Turns of any number, and questions each of which one turn answers. Nothing is random: a seed gives both."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

WORDS = 20_000
"""Size of the vocabulary; how often a word is said falls with its rank (Zipf)."""
LENGTH = 20
"""Words of a turn."""
SESSION = 50
"""Turns of a session."""
QUERY = 4
"""Words of a question, drawn from its turn."""


@dataclass(frozen=True)
class KnownItem:
    """Words of one turn, and the number of that turn."""

    text: str
    turn: int


def make_turns(count: int, *, seed: int = 0) -> Iterator[str]:
    """Make turns of `LENGTH` words. The first ones are the same for every count."""
    chance = random.Random(seed)  # noqa: S311  # no secret
    for _ in range(count):
        yield " ".join(_word(int(WORDS ** chance.random())) for _ in range(LENGTH))


def make_questions(turns: list[str], count: int, *, seed: int = 1) -> list[KnownItem]:
    """Ask for turns chosen at random, each by some of its words."""
    chance = random.Random(seed)  # noqa: S311  # no secret
    chosen = [chance.randrange(len(turns)) for _ in range(count)]
    return [KnownItem(" ".join(chance.sample(turns[at].split(), QUERY)), at) for at in chosen]


def _word(rank: int) -> str:
    """The word of a rank: pairs of a consonant and a vowel, so that each is one token everywhere."""
    letters = ""
    while rank or not letters:
        rank, pair = divmod(rank, 100)
        letters += "bcdfghjklmnprstvwxyz"[pair // 5] + "aeiou"[pair % 5]
    return letters + "n"

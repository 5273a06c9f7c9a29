"""Storing, indexing and summarising a long message is linear work, counted in calls and not in time."""

import sys
import threading
from collections.abc import Callable
from random import Random
from types import FrameType

import pytest

import tiermem

SIZE = 82_000
"""Characters of the longest message."""
LARGEST_FACTOR = 20.0
"""How many times as many calls ten times the text may take; work that grows with the square takes 100."""


def words(count: int) -> list[str]:
    """So many made-up words, the same at each call."""
    chance = Random(3)
    return ["".join(chance.choices("abcdefghiklmnoprstuvw", k=chance.randint(2, 9))) for _ in range(count)]


def prose(size: int) -> str:
    said = words(size // 5)
    sentences = (" ".join(said[at : at + 12]).capitalize() for at in range(0, len(said), 12))
    return ". ".join(sentences)[:size]


def one_sentence(size: int) -> str:
    return prose(size).replace(".", ",")


def rows(size: int) -> str:
    return "\n".join(f"| {word} | {n} | {n * 7 % 97} m |" for n, word in enumerate(words(size // 10)))[:size]


def code(size: int) -> str:
    lines = (f"    {word}_{n} = load({word!r}, retries={n % 7})" for n, word in enumerate(words(size // 20)))
    return "\n".join(lines)[:size]


def chinese(size: int) -> str:
    chance = Random(3)
    return "".join(chr(chance.randint(0x4E00, 0x4FFF)) if at % 15 else "。" for at in range(size))


def dates(size: int) -> str:
    lines = (f"On {n % 28 + 1} May {1900 + n % 120} Ann paid {n} euros for tea." for n in range(size // 30))
    return " ".join(lines)[:size]


def count_calls(text: str) -> int:
    """Count the calls of functions, in all threads, with which a memory stores a text and summarises it."""
    calls = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        with tiermem.open(":memory:", engine="local", embedder="hashed") as memory:
            memory.add(text, speaker="Ann")
            memory.flush()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


@pytest.mark.parametrize("write", [prose, one_sentence, rows, code, chinese, dates])
def test_a_message_ten_times_as_long_takes_about_ten_times_the_work(write: Callable[[int], str]) -> None:
    count_calls(write(1_000))  # what is loaded once
    short, long = count_calls(write(SIZE // 10)), count_calls(write(SIZE))
    assert short > 10_000
    assert long < LARGEST_FACTOR * short

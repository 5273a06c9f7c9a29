"""What was erased cannot be guessed back: no file holds a hash of its words that has no salt."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from uuid import UUID

import pytest

import tiermem
from pagestore import SessionId, SpaceId, Span, Turn
from pagestore.codec import key_of
from pagestore.line import canonical
from pagestore.rendering import render_turn
from tests.api.conftest import OpenMemory
from tiermem.dialogue import read_dialogue
from tiermem.index.qdrant import _point_id
from tiermem.ledger import summary_unit_id
from tiermem.llm.prompts import fence_for

SPACE, CHAT = SpaceId("default"), SessionId("chat")
SECRET = "My locker code is 0417."  # noqa: S105 - what is told, no password
DICTIONARY = [f"My locker code is {number:04}." for number in range(380, 440)]
FILE = [
    {"speaker": "Ann", "text": "We went to Oslo in May, by train."},
    {"speaker": "Bob", "text": SECRET},
    {"speaker": "Ann", "text": "My dog is called Pixel."},
]
ALGORITHMS: tuple[Callable[[bytes], bytes], ...] = (
    *(
        lambda data, name=name: hashlib.new(name, data).digest()
        for name in ("md5", "sha1", "sha256", "sha512")
    ),
    *(lambda data, size=size: hashlib.blake2b(data, digest_size=size).digest() for size in (16, 32, 64)),
    lambda data: hashlib.sha256(b"\0" + data).digest(),
)
"""Every hash the code uses, and those others might."""


def told(text: str) -> Iterator[bytes]:
    """The forms in which words may be hashed."""
    turn = Turn(speaker="Bob", text=text)
    for form in (text, text.casefold(), f"Bob: {text}", f"Bob\x1f\x1f{text}", render_turn(turn)[0]):
        yield form.encode()
        yield canonical(form)


def old_file_id(text: str, position: int) -> str:
    """The id that a turn of a file had when it was made of its words."""
    return f"{position}-{hashlib.sha256(f'Bob{chr(31)}{chr(31)}{text}'.encode()).hexdigest()[:12]}"


def hashes(text: str, places: list[Span]) -> Iterator[bytes]:
    """Every hash without a salt by which somebody who guesses `text` might know it again."""
    yield from (algorithm(form) for algorithm, form in product(ALGORITHMS, told(text)))
    for identity in (text, *(old_file_id(text, position) for position in range(1, 4))):
        yield key_of(CHAT, identity, b"")
    for place, words in product(places, (text, f"Bob says {text}", f"Bob: {text}")):
        unit = summary_unit_id(SPACE, place.page_id, words, [place])
        yield bytes.fromhex(unit.removeprefix("u1:"))
        yield UUID(_point_id(SPACE, unit)).bytes


def names(text: str) -> Iterator[bytes]:
    """What may stand in a store in letters."""
    yield fence_for([text]).encode()
    yield from (old_file_id(text, position).encode() for position in range(1, 4))


def everything(store: Path) -> bytes:
    """Every byte of a store, and what stands in it as base64."""
    files = (file.read_bytes() for file in sorted(store.rglob("*")) if file.is_file())
    data = b"\n".join(re.sub(rb"\0{64,}", b"\n", content) for content in files)
    packed = re.findall(rb'"((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)"', data)
    return data + b"\n".join(b64decode(one) for one in packed)


def guessed(store: Path, places: list[Span]) -> list[str]:
    """The words of the dictionary that some hash in the store gives away, whole or its first 12 digits."""
    data = everything(store)
    begun = {run[:12] for run in re.findall(rb"[0-9a-f]{12,}", data.replace(b"-", b""))}

    def gives_away(digest: bytes) -> bool:
        return digest.hex().encode()[:12] in begun or digest in data

    return [
        text
        for text in DICTIONARY
        if any(map(gives_away, hashes(text, places))) or any(name in data for name in names(text))
    ]


def places_of(memory: tiermem.Memory) -> list[Span]:
    """Where turns stand, which erasing leaves as it is, with their headers and without."""
    pages = [memory.page(info.id) for info in memory.pages()]
    return [
        Span(page_id=page.id, start=start, end=line.end)
        for page in pages
        for line in page.lines
        for start in (line.start, line.body)
    ]


@pytest.mark.local_only("every byte of the files is looked through")
def test_erased_words_cannot_be_guessed_from_any_byte_of_the_store(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text("".join(json.dumps(turn) + "\n" for turn in FILE))
    memory = open_memory()
    (conversation,) = read_dialogue(file)
    (read,) = conversation.sessions
    by_words = Turn(speaker="Bob", text=SECRET, turn_id=SECRET)
    memory.add(read.turns, session=read.session)
    memory.add(by_words, session=read.session)
    memory.flush()
    memory.ask("What is the locker code of Bob?")
    places = places_of(memory)
    assert guessed(tmp_path / "store", places) == [SECRET]
    for turn in (read.turns[1], by_words):
        memory.erase(turn=turn.turn_id, session=read.session, reason="asked to")
    memory.flush()
    assert guessed(tmp_path / "store", places) == []
    memory.close()
    memory = open_memory()
    assert memory.add([*read.turns, by_words], session=read.session).new == 0
    memory.close()
    assert guessed(tmp_path / "store", places) == []

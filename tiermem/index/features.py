"""Rows of numbers: what search and ranking need to know of a turn or of a unit, without its text.

Stems and names are hashes, vectors are 8-bit integers. Words can still be guessed from them, so
erasing a turn empties its row. No value depends on what else is stored.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pagestore import Page, Turn
from tiermem.index.bm25 import dimension
from tiermem.index.encoding import EXCHANGE, pieces, spoken, turn_pieces
from tiermem.index.values import Entry
from tiermem.model import TurnFilter, fold_name
from tiermem.text import search_stems, stems, words
from tiermem.text.long_runs import shorten_runs
from tiermem.text.unicode import join_surrogates

ASKS, TELLS_TIME, IS_USER, IS_SHORT, HAS_WHOLE, IS_INACTIVE, IS_EMPTY = (1 << bit for bit in range(7))
"""Flags of a row. `IS_SHORT`: it has a vector of its whole text, to be compared with that of the turn before.
`HAS_WHOLE`: that vector is the first one and no vector of a sentence. `IS_INACTIVE`: a unit that was
superseded or retired.
"""

LEVELS = 120
"""The largest number in a vector. Small numbers divide it, so that vectors of counts are kept exactly."""

EXACT = 1024
"""Dimensions of which a product of two vectors is exact in 32-bit floats, as it stays below 2 ** 24."""

ROW = np.dtype([
    ("seq", "<u8"), ("session", "<u8"), ("owner", "<u8"),
    ("page", "<u4"), ("line", "<u4"), ("start", "<u4"), ("end", "<u4"),
    ("day", "<i4"), ("length", "<u2"), ("content", "u1"), ("flags", "u1"),
    ("terms", "<u2"), ("labels", "<u2"), ("values", "<u2"), ("pieces", "<u2"), ("id", "<u2"), ("event", "u1"),
    ("vectors", "u1"),
])  # fmt: skip
"""A row. The last seven are how many items of each kind it has in the arrays of its block."""

ITEMS: Mapping[str, tuple[str, ...]] = {
    "terms": ("terms", "counts"),
    "labels": ("labels",),
    "values": ("values",),
    "pieces": ("pieces",),
    "id": ("id",),
    "event": ("event",),
    "vectors": ("vectors", "scales"),
}
"""The arrays of a block that hold the items of each kind."""

ITEM_TYPES: Mapping[str, str] = {
    "terms": "<u4", "counts": "u1", "labels": "<u4", "values": "<u4", "pieces": "<u2",
    "id": "u1", "event": "<i4", "vectors": "i1", "scales": "<f4",
}  # fmt: skip

_MOST = MOST_VALUES = np.iinfo(np.uint16).max
"""Items of a kind that a row has at most; of more `values` any may have been left out."""

# In lower case, "may" and "march" are verbs.
_TELLS_TIME = re.compile(
    r"\b(?:(?i:yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday|january|february|april|june|july|august|september|october"
    r"|november|december|recently|just|since)|March|May|(?:19|20)\d\d)\b"
)

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFeatures:
    """One row before it is packed. `texts` are what to embed; they are not stored.

    `seq` is the number of a turn in the log, and the hash of the words of a unit: it orders equal scores.
    `page` is the number of the page among those of its session and owner, `line` the line of it; `start` and
    `end` are its characters there. Days are ordinals, 0 where unknown. `terms` are how often each stem is
    said, 0 for one of the scene of a unit. `labels` are the words of the name of a speaker, and `values` what
    filters ask for (`wanted_values`). `pieces` are different word pieces. `id` is that of a unit, as
    UTF-8, and `event` the first and last day on which what it says may have happened.
    """

    seq: int
    session: int
    owner: int
    page: int = 0
    line: int = 0
    start: int = 0
    end: int = 0
    day: int = 0
    length: int = 0
    content: int = 0
    flags: int = 0
    terms: Mapping[int, int]
    labels: Sequence[int] = ()
    values: Sequence[int] = ()
    pieces: Sequence[int] = ()
    id: bytes = b""
    event: Sequence[int] = ()
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Rows one after another, and their items in the same order."""

    rows: Array
    terms: Array
    counts: Array
    labels: Array
    values: Array
    pieces: Array
    id: Array
    event: Array
    vectors: Array
    scales: Array

    def select(self, numbers: Array) -> Block:
        """The block of these rows, in this order."""
        rows = self.rows[numbers]
        taken: dict[str, Array] = {}
        for kind, names in ITEMS.items():
            starts = first_items(self.rows[kind])[numbers]
            places = ranges(starts, rows[kind])
            taken |= {name: getattr(self, name)[places] for name in names}
        return Block(rows=rows, **taken)

    def replace(self, numbers: Iterable[int], others: Block) -> Block:
        """The same block with the rows of another one, in order, in place of these."""
        order = np.arange(len(self.rows))
        order[list(numbers)] = len(self.rows) + np.arange(len(others.rows))
        return join_blocks([self, others]).select(order)

    def without_vectors(self) -> Block:
        """The same block without vectors."""
        rows, vectors = self.rows.copy(), np.empty((0, 1), ITEM_TYPES["vectors"])
        rows["vectors"] = 0
        return replace(self, rows=rows, vectors=vectors, scales=self.scales[:0])

    def without(self, numbers: Iterable[int]) -> Block:
        """The same block with these rows emptied: only flags and the numbers of turns are left."""
        numbers = list(numbers)
        rows = np.zeros(len(numbers), ROW)
        is_turn = self.rows["id"][numbers] == 0
        rows["seq"], rows["flags"] = np.where(is_turn, self.rows["seq"][numbers], 0), IS_EMPTY
        items = {name: getattr(self, name)[:0] for names in ITEMS.values() for name in names}
        return self.replace(numbers, Block(rows=rows, **items))


def join_blocks(blocks: Sequence[Block]) -> Block:
    """One block of the rows of several, in order."""
    names = (name for names in ITEMS.values() for name in names)
    items = {name: np.concatenate([getattr(one, name) for one in blocks]) for name in names}
    # As bytes: numpy compares the fields of rows again for every block.
    rows = np.frombuffer(b"".join(one.rows.tobytes() for one in blocks), ROW)
    return Block(rows=rows.copy(), **items)


def first_items(counts: Array) -> Array:
    """The place of the first item of each row."""
    starts: Array = np.cumsum(counts, dtype=np.int64) - counts
    return starts


def ranges(starts: Array, counts: Array) -> Array:
    """The numbers from each start on, so many for each, one after another."""
    counts = counts.astype(np.int64)
    numbers: Array = np.arange(counts.sum()) + np.repeat(starts - first_items(counts), counts)
    return numbers


def turn_features(
    page: Page, number: int, *, owner: str = "", cut: Callable[[str], Iterable[int]] | None = None
) -> RowFeatures:
    """The row of the turn on a line of a page. `cut` gives the word pieces of a text.

    Raises `ValueError` where the line has no turn.
    """
    turn, text = _turn_and_text(page, number)
    name = turn.speaker if turn.speaker != turn.role else None
    whole, said = spoken(text.strip(), name), turn_pieces(text, name)
    is_short = len(whole) <= EXCHANGE and bool(text.strip())
    has_whole = is_short and said != [whole]
    return replace(
        turn_words(page, number, owner=owner),
        content=len(stems(text)),
        flags=ASKS * turn.text.rstrip().endswith("?")
        | TELLS_TIME * tells_time(turn.text)
        | IS_USER * (turn.role == "user")
        | IS_SHORT * is_short
        | HAS_WHOLE * has_whole,
        pieces=tuple(sorted(set(cut(text)))) if cut else (),
        texts=(*([whole] if has_whole else []), *said),
    )


def turn_words(page: Page, number: int, *, owner: str = "") -> RowFeatures:
    """The row of the turn on a line of a page, as far as its words and its place are concerned.

    Raises `ValueError` where the line has no turn.
    """
    turn, text = _turn_and_text(page, number)
    line, terms = page.lines[number], count_terms(text)
    return RowFeatures(
        seq=line.seq,
        session=hash_name(page.session),
        owner=hash_name(owner),
        page=page.number,
        line=number,
        start=line.start,
        end=line.end,
        day=_day(turn.said_at),
        length=sum(terms.values()),
        terms=terms,
        labels=tuple(dict.fromkeys(_labels(turn))),
        values=tuple(dict.fromkeys(_values(turn))),
    )


def _turn_and_text(page: Page, number: int) -> tuple[Turn, str]:
    """The turn on a line, and its text as rows are made of it."""
    turn = page.lines[number].turn
    if turn is None:
        raise ValueError(f"line {number} of page {page.id!r} has no turn")
    return turn, shorten_runs(join_surrogates(turn.text))


def unit_features(unit: Entry) -> RowFeatures:
    """The row of a unit; words that only its scene holds count as said no time."""
    text = shorten_runs(join_surrogates(unit.text))
    terms = count_terms(text)
    return RowFeatures(
        seq=hash_name(unit.text),
        id=unit.id.encode(errors="surrogatepass"),
        session=hash_name(unit.session),
        owner=hash_name(unit.owner),
        day=_day(unit.said_at),
        length=sum(terms.values()),
        flags=0 if unit.active else IS_INACTIVE,
        terms=dict.fromkeys(count_terms(unit.scene), 0) | terms,
        event=tuple(map(_day, unit.event or ())),
        texts=tuple(pieces(text)),
    )


def pack(rows: Sequence[RowFeatures], vectors: Mapping[str, Sequence[float]], dimensions: int) -> Block:
    """The block of some rows. One of which a vector is missing has none, and is found by its words."""
    texts = [one.texts if vectors.keys() >= set(one.texts) else () for one in rows]
    numbers = [vectors[text] for some in texts for text in some]
    levels, scales = quantise(np.asarray(numbers, np.float32).reshape(-1, dimensions))
    return Block(
        rows=_pack_numbers(rows, list(map(len, texts))),
        terms=_items("terms", (term for one in rows for term in one.terms)),
        counts=_items("counts", (min(often, 255) for one in rows for often in one.terms.values())),
        labels=_items("labels", (label for one in rows for label in one.labels[:_MOST])),
        values=_items("values", (value for one in rows for value in one.values[:_MOST])),
        pieces=_items("pieces", (piece for one in rows for piece in one.pieces)),
        id=_items("id", (byte for one in rows for byte in one.id)),
        event=_items("event", (day for one in rows for day in one.event)),
        vectors=levels,
        scales=scales,
    )


def _pack_numbers(rows: Sequence[RowFeatures], vectors: Sequence[int]) -> Array:
    """The numbers of rows that have so many vectors."""
    packed = np.zeros(len(rows), ROW)
    for at, (one, count) in enumerate(zip(rows, vectors, strict=True)):
        packed[at] = (
            one.seq, one.session, one.owner, one.page, one.line, one.start, one.end,
            one.day, min(one.length, _MOST), min(one.content, 255), one.flags,
            len(one.terms), min(len(one.labels), _MOST), min(len(one.values), _MOST), len(one.pieces),
            len(one.id), len(one.event), count,
        )  # fmt: skip
    return packed


def quantise(vectors: Array) -> tuple[Array, Array]:
    """Vectors as 8-bit integers, and the factor of each that brings it to unit length."""
    highest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    levels = np.rint(vectors * (LEVELS / np.where(highest > 0, highest, 1))).astype(np.int8)
    lengths = np.linalg.norm(levels.astype(np.float32), axis=1)
    return levels, np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1), 0).astype(np.float32)


def tells_time(text: str) -> bool:
    """Whether a text states a time."""
    return _TELLS_TIME.search(text) is not None


def hash_name(name: str) -> int:
    """The number of a session or an owner; 0 for the empty name."""
    digest = blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") if name else 0


def name_label(word: str) -> int:
    """The number of a word of the name of a speaker, in lower case."""
    return zlib.crc32(word.encode(errors="surrogatepass"))


def wanted_values(asked: TurnFilter) -> tuple[int, ...]:
    """The numbers of the speaker, the role and the metadata that a filter asks for.

    The row of a turn has all of them if the filter keeps the turn, and hardly ever else.
    """
    names = (("speaker", asked.speaker), ("role", asked.role))
    return (
        *(_value(kind, fold_name(name)) for kind, name in names if name is not None),
        *(_value(f"where {one.key}", one.value) for one in asked.where),
    )


def have_values(block: Block, values: Sequence[int]) -> Array:
    """Which rows have all of these values; one that had too many of them may have any."""
    row_of_value = np.repeat(np.arange(len(block.rows)), block.rows["values"])
    wanted = np.isin(block.values, np.array(values, np.uint32))
    held = np.bincount(row_of_value[wanted], minlength=len(block.rows))
    have: Array = (held == len(set(values))) | (block.rows["values"] == MOST_VALUES)
    return have


def _values(turn: Turn) -> Iterator[int]:
    yield _value("speaker", fold_name(turn.speaker))
    if turn.role is not None:
        yield _value("role", fold_name(turn.role))
    for key, given in turn.metadata.items():
        for one in given if isinstance(given, list) else [given]:
            if isinstance(one, str | int | float):
                yield _value(f"where {key}", one)


def _value(name: str, value: str | float) -> int:
    """The number of a value. Those that are equal have one, but `True` and 1 are two things."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    shown = f"{value:x}" if is_number else str(value)  # `str` refuses very large numbers
    written = f"{name}\0{type(value).__name__}\0{shown}"
    return zlib.crc32(written.encode(errors="surrogatepass"))


def _labels(turn: Turn) -> Iterator[int]:
    """The words of the name of who speaks, where that is more than a role."""
    if turn.speaker != turn.role:
        yield from map(name_label, words(turn.speaker))


def count_terms(text: str) -> dict[int, int]:
    """How often each stem occurs in a text."""
    counts = Counter(map(dimension, search_stems(join_surrogates(text))))
    return dict(counts.most_common(_MOST))


def _day(moment: date | datetime | None) -> int:
    """The day of a moment in its own time zone."""
    return 0 if moment is None else moment.toordinal()


def _items(name: str, values: Iterable[float]) -> Array:
    return np.fromiter(values, ITEM_TYPES[name])

"""What an engine is given for a text: pieces to embed, BM25 term weights, and names it can filter on.

Both adapters encode alike, so an embedded index and a server rank alike. Changing anything here
changes what is stored: raise `SCHEMA`, and an older index asks to be rebuilt.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator
from urllib.parse import quote, unquote
from uuid import UUID, uuid5

from tiermem.index.interface import Collection
from tiermem.text import stems

SCHEMA = 1

PIECE = 450
"""Characters embedded as one vector. A sentence embedder blurs a long text, and reads only its start."""

PIECES = 64
"""Most vectors of one entry; words beyond them are found by keyword only."""

SATURATION = 1.2
LENGTH_WEIGHT = 0.75
AVERAGE_STEMS: dict[Collection, int] = {"units": 13, "pages": 270}
"""Typical entry lengths, fixed (measured on LoCoMo) so that a weight never depends on what else is stored."""

_STAMP = re.compile(r"^\[[^\]\n]{0,40}\] ", re.MULTILINE)
_POINTS = UUID("b3c1b1f6-5a3e-5d0e-9d6f-0c9a5d1f7e21")


def clean(text: str) -> str:
    """`text` as UTF-8 can carry it: surrogate pairs joined, lone ones replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def pieces(text: str) -> list[str]:
    """What of `text` to embed: cut at lines, or at spaces in a long line, without the times that open lines.

    Each piece becomes one vector of the entry; the best of them is the entry's similarity.
    """
    found: list[str] = []
    current = ""
    for line in _STAMP.sub("", clean(text)).splitlines(keepends=True):
        for part in _parts(line):
            if current and len(current) + len(part) > PIECE:
                found.append(current)
                current = ""
            current += part
        if len(found) >= PIECES:
            break
    found.append(current)
    return [piece.strip() for piece in found if piece.strip()][:PIECES]


def _parts(line: str) -> Iterator[str]:
    while len(line) > PIECE:
        cut = line.rfind(" ", 1, PIECE) + 1 or PIECE
        yield line[:cut]
        line = line[cut:]
    yield line


def document_terms(text: str, collection: Collection) -> dict[int, float]:
    """The saturated term frequencies of BM25; the engine multiplies them with IDF when it searches."""
    counts = Counter(stems(clean(text)))
    length = counts.total() / AVERAGE_STEMS[collection]
    damping = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length)
    weights: dict[int, float] = {}
    for term, count in counts.items():
        weights[_dimension(term)] = count * (SATURATION + 1) / (count + damping)
    return dict(sorted(weights.items()))


def query_terms(text: str) -> dict[int, float]:
    """One for each different stem; empty when the text has no searchable word."""
    return dict.fromkeys(sorted({_dimension(term) for term in stems(clean(text))}), 1.0)


def _dimension(term: str) -> int:
    return zlib.crc32(term.encode())


def key(name: str) -> str:
    """A name as engines can store and compare it: any string, reversible, different for different names."""
    return quote(name, safe=" !#$&'()*+,/:;=?@[]", errors="surrogatepass")


def name_of(stored: str) -> str:
    """The name `key` was given."""
    return unquote(stored, errors="surrogatepass")


def point_id(space: str, entry_id: str) -> str:
    """The engine's id of an entry, the same wherever and whenever it is put."""
    return str(uuid5(uuid5(_POINTS, key(space)), key(entry_id)))


def mark_id(space: str) -> str:
    """The engine's id of the point that holds a space's mark; no entry can have it."""
    return str(uuid5(_POINTS, "mark of " + key(space)))

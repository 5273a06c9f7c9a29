"""What an engine is given for a text: pieces to embed, BM25 term weights, and names it can filter on.

Both adapters encode alike, so an embedded index and a server rank alike. Changing anything here
changes what is stored: raise `SCHEMA`, and an older index asks to be rebuilt.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote, unquote
from uuid import UUID, uuid5

from tiermem.index.interface import Collection, Entry, Said
from tiermem.llm.characters import sendable
from tiermem.text import sentences, stems

SCHEMA = 5

PIECE = 450
"""Characters embedded as one vector. A sentence embedder blurs a long text, and reads only its start."""

PIECES = 64
"""Most vectors of one entry; words beyond them are found by keyword only."""

SENTENCE = 20
"""Shorter sentences are embedded with the next: alone they mean nothing."""

TURN_PIECES = 8
"""Into how many pieces of equal length a long turn is cut."""

EXCHANGE = 400
"""Characters up to which a turn is embedded whole, to be found together with the one before it."""

SCENE = 0.1
"""What a word counts that only the scene of a unit holds. At full weight it lowers what recall brings."""

SATURATION = 1.2
LENGTH_WEIGHT = 0.75
AVERAGE_STEMS: dict[Collection | Literal["around"], int] = {
    "units": 13,
    "pages": 270,
    "turns": 15,
    "around": 80,
}
"""Typical entry lengths, fixed (measured on LoCoMo) so that a weight never depends on what else is stored."""

Terms = dict[int, float]

_STAMP = re.compile(r"^\[[^\]\n]{0,40}\] ", re.MULTILINE)
_POINTS = UUID("b3c1b1f6-5a3e-5d0e-9d6f-0c9a5d1f7e21")


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """An entry as an engine is given it: texts to embed, and term weights by field.

    Each text of `meaning` has a vector of its own; those of `exchange` share one, their sum.
    """

    meaning: tuple[str, ...] = ()
    exchange: tuple[str, ...] = ()
    terms: dict[str, Terms] = field(default_factory=dict)


def encoded(entry: Entry, collection: Collection) -> Encoded:
    """Units by their pieces, pages by their words, turns by their sentences and what was said around them."""
    if collection == "units":
        return Encoded(meaning=tuple(pieces(entry.text)), terms={"words": unit_terms(entry)})
    words = {"words": document_terms(entry.text, collection)}
    if collection == "pages":
        return Encoded(terms=words)
    said = entry.said or Said()
    whole, before = spoken(sendable(entry.text).strip(), said.speaker), sendable(said.before).strip()
    short = before and len(whole) <= EXCHANGE and len(before) <= EXCHANGE
    return Encoded(
        meaning=tuple(turn_pieces(entry.text, said.speaker)),
        exchange=(whole, before) if short else (),
        terms={**words, "around": document_terms(said.around, "around")},
    )


def pieces(text: str) -> list[str]:
    """What of `text` to embed: cut at lines, or at spaces in a long line, without the times that open lines.

    Each piece becomes one vector of the entry; the best of them is the entry's similarity.
    """
    found: list[str] = []
    current = ""
    for line in _STAMP.sub("", sendable(text)).splitlines(keepends=True):
        for part in _parts(line):
            if current and len(current) + len(part) > PIECE:
                found.append(current)
                current = ""
            current += part
        if len(found) >= PIECES:
            break
    found.append(current)
    return [piece.strip() for piece in found if piece.strip()][:PIECES]


def turn_pieces(text: str, speaker: str | None) -> list[str]:
    """What of a turn to embed: its sentences, or runs of them where it is long, each with its speaker."""
    enough = max(SENTENCE, len(text) / TURN_PIECES)
    runs: list[list[str]] = []
    length = enough
    for sentence in sentences(sendable(text)):
        for part in _parts(sentence.text):
            if length >= enough:
                runs.append([part])
                length = len(part)
            else:
                runs[-1].append(part)
                length += 1 + len(part)
    found = [" ".join(run) for run in runs]
    if len(found) > 1 and len(found[-1]) < SENTENCE:
        found[-2:] = [" ".join(found[-2:])]
    return [spoken(piece.strip(), speaker) for piece in found]


def spoken(text: str, speaker: str | None) -> str:
    """The words with their speaker, where there is a name that says more than a role."""
    return f"{sendable(speaker)}: {text}" if speaker else text


def _parts(line: str) -> Iterator[str]:
    start = 0
    while len(line) - start > PIECE:
        end = line.rfind(" ", start + 1, start + PIECE) + 1 or start + PIECE
        yield line[start:end]
        start = end
    yield line[start:]


def document_terms(text: str, kind: Collection | Literal["around"]) -> Terms:
    """The saturated term frequencies of BM25; the engine multiplies them with IDF when it searches."""
    counts = Counter(stems(sendable(text)))
    length = counts.total() / AVERAGE_STEMS[kind]
    damping = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length)
    weights: Terms = {}
    for term, count in counts.items():
        weights[dimension(term)] = count * (SATURATION + 1) / (count + damping)
    return dict(sorted(weights.items()))


def unit_terms(unit: Entry) -> Terms:
    """The terms of a unit's text, and at little weight those that only its scene holds."""
    weights = document_terms(unit.text, "units")
    for term, weight in document_terms(unit.scene, "units").items():
        weights.setdefault(term, SCENE * weight)
    return dict(sorted(weights.items()))


def query_terms(text: str) -> Terms:
    """One for each different stem; empty when the text has no searchable word."""
    return dict.fromkeys(sorted(map(dimension, query_stems(text))), 1.0)


def query_stems(text: str, *, without: Iterable[str] = ()) -> list[str]:
    """The different stems of a query, in order, without those of some words unless that leaves none."""
    found = list(dict.fromkeys(stems(sendable(text))))
    left_out = {stem for word in without for stem in stems(word)}
    return [stem for stem in found if stem not in left_out] or found


def dimension(term: str) -> int:
    """Where a stem stands among the term weights."""
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

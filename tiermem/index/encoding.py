"""What an engine is given for an entry: pieces to embed, BM25 term weights, and names it can filter on.

All adapters encode alike, so an index in a file and one on a server rank alike. Changing anything here
changes what is stored: raise `SCHEMA`, and an older index asks to be rebuilt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from urllib.parse import quote, unquote
from uuid import UUID, uuid5

from tiermem.index.bm25 import Terms, document_terms, unit_terms
from tiermem.index.values import Collection, Entry
from tiermem.text import sentences
from tiermem.text.long_runs import shorten_runs
from tiermem.text.unicode import join_surrogates

SCHEMA = 9
"""The version of what is stored of an entry; an index of another one asks to be rebuilt."""

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

_STAMP = re.compile(r"^\[[^\]\n]{0,40}\] ", re.MULTILINE)
_POINTS = UUID("b3c1b1f6-5a3e-5d0e-9d6f-0c9a5d1f7e21")


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedEntry:
    """An entry as an engine is given it: texts to embed, and term weights by field.

    Each text of `meaning` has a vector of its own; those of `exchange` share one, their sum.
    """

    meaning: tuple[str, ...] = ()
    exchange: tuple[str, ...] = ()
    terms: dict[str, Terms] = field(default_factory=dict)


def encode_entry(entry: Entry, collection: Collection) -> EncodedEntry:
    """Units by their pieces, turns by their sentences and what was said around them.

    Of base64 and other long runs without words the beginning counts.
    """
    entry = _shorten_entry(entry)
    if collection == "units":
        return EncodedEntry(meaning=tuple(pieces(entry.text)), terms={"words": unit_terms(entry)})
    context = entry.context
    if context is None:
        raise ValueError("a turn is put with its context")
    whole = spoken(join_surrogates(entry.text).strip(), context.speaker)
    before = join_surrogates(context.before).strip()
    short = before and len(whole) <= EXCHANGE and len(before) <= EXCHANGE
    return EncodedEntry(
        meaning=tuple(turn_pieces(entry.text, context.speaker)),
        exchange=(whole, before) if short else (),
        terms={
            "words": document_terms(entry.text, "turns"),
            "around": document_terms(context.around, "around"),
        },
    )


def _shorten_entry(entry: Entry) -> Entry:
    context = entry.context
    if context is not None:
        before, around = shorten_runs(context.before), shorten_runs(context.around)
        context = replace(context, before=before, around=around)
    return replace(entry, text=shorten_runs(entry.text), context=context)


def pieces(text: str) -> list[str]:
    """What of `text` to embed: cut at lines, or at spaces in a long line, without the times that open lines.

    Each piece becomes one vector of the entry; the best of them is the entry's similarity.
    """
    found: list[str] = []
    current = ""
    for line in _STAMP.sub("", join_surrogates(text)).splitlines(keepends=True):
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
    for sentence in sentences(join_surrogates(text)):
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
    return f"{join_surrogates(speaker)}: {text}" if speaker else text


def _parts(line: str) -> Iterator[str]:
    start = 0
    while len(line) - start > PIECE:
        end = line.rfind(" ", start + 1, start + PIECE) + 1 or start + PIECE
        yield line[start:end]
        start = end
    yield line[start:]


def key(name: str) -> str:
    """A name as engines can store and compare it: any string, reversible, different for different names."""
    return quote(name, safe=" !#$&'()*+,/:;=?@[]", errors="surrogatepass")


def name_of(stored: str) -> str:
    """The name `key` was given."""
    return unquote(stored, errors="surrogatepass")


@lru_cache(maxsize=2**14)
def point_id(space: str, entry_id: str) -> str:
    """The engine's id of an entry, the same wherever and whenever it is put."""
    return str(uuid5(_points_of(space), key(entry_id)))


@lru_cache(maxsize=2**10)
def _points_of(space: str) -> UUID:
    return uuid5(_POINTS, key(space))


def mark_id(space: str) -> str:
    """The engine's id of the point that holds a space's mark; no entry can have it."""
    return str(uuid5(_POINTS, "mark of " + key(space)))

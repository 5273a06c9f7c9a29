"""The pieces of an entry that are embedded, and names as servers can store them.

Changing anything here changes what is stored: raise `SCHEMA`, and an older index asks to be rebuilt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

from tiermem.text import sentences
from tiermem.text.unicode import join_surrogates

SCHEMA = 11
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

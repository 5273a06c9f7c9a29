"""Looks through every file of a store, or every table, for words that should no longer be there.

Each file is read as UTF-8, with JSON escapes undone, and as UTF-16 at both alignments and byte orders;
words are compared as words, so neither case nor punctuation nor line breaks hide them. Only the bytes around
words that a fingerprint needs are read in this way. In binary files a word is not found where a non-ASCII
letter is written for ASCII ones (as in "Straße" for "strasse"). Files of the index that hold only vectors,
weights and numbers are left out.

The rule: a lone name or number counts only in places that hold words. The log also holds numbers of records,
places, times, hashes and names of fields; the index holds numbers and ids; a lock holds the number of a
process. A price that equals one of these is not a leftover.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pagestore import SpaceId
from pagestore.errors import PageStoreError
from pagestore.finding import lines_with
from pagestore.store import directory_name
from pagestore.values import texts_in
from tiermem.index.folder import FILE
from tiermem.ledger import entry_texts
from tiermem.ledger.entries import decode_body
from tiermem.ledger.replacements import REPLACEMENT
from tiermem.text.fingerprints import FEW, Fingerprints, is_lone

_WORDLESS = ("seg", "open", "page", "gone", "void", "ckpt", "erased")
"""Lines of a log that hold numbers, times, hashes and names of sessions and agents, and no words."""
_NUMBERS = ("at", "ts", "h", "y", "z", "s", "g", "c", "t", "n", "_")
"""Fields of such values in other lines."""
_LINES = ("tiermem.lines", "raw")
"""The table and column of a database that hold lines of logs."""
_BATCH = 1_000_000
"""Bytes of lines of a log that are looked through together."""
_EMPTY = re.compile(rb"\0{64,}")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_WORD_ESCAPE = re.compile(rb"\\u(?!00[01])[0-9a-fA-F]{4}")
_ODD_ESCAPE = re.compile(rb'\\[^nrtbfu"\\/]')
_REACH = 4096
"""Bytes read on either side of a word in addition to those that the longest fingerprint may take."""
_WIDEST = 8
"""Bytes that a character of a fingerprint takes at most: in UTF-16, or as an escape of JSON."""
_WAIT = 10.0
"""Seconds to wait for a writer of a file of SQLite's."""
_SHORTEST = 512
"""Bytes that a file of SQLite's has at least once anything is in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """A file or table that still holds some of the words, and how many of the phrases looked for."""

    file: str
    phrases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftoverScan:
    """What was looked for and where. `clean` when every file was looked through and nothing was found.

    Of a store in a database `files` are its tables (`kind`), of which the rows of this space, or of none, are
    looked through.

    Phrases are runs of five words, shorter turns of eight bytes or more, and names and numbers of four
    characters or more, without years; what somebody else also said says nothing and is not looked for.
    `silent` turns have no phrase that is theirs alone: of these nothing was looked for. Files in `unread`
    could not be looked through, as the index while another process writes it: `Memory.leftover_scan` looks
    again. Other spaces of the store are not looked through, and nothing outside of it.
    """

    phrases: int
    files: int
    bytes: int
    found: tuple[Leftover, ...]
    silent: int = 0
    unread: tuple[str, ...] = ()
    kind: Literal["file", "table"] = "file"

    @property
    def clean(self) -> bool:
        """True when every file was looked through and none holds any of the words."""
        return not self.found and not self.unread


LEFT_TO_THE_OWNER = LeftoverScan(
    phrases=0, files=0, bytes=0, found=(), unread=("every file: looking through them is for the owner",)
)
"""The scan of an agent, who does not see what others said."""


def not_looked(words: Fingerprints, unread: str) -> LeftoverScan:
    """The scan that was not made: what would be looked for, and what was not looked through, and why."""
    return LeftoverScan(
        phrases=len(words.phrases),
        files=0,
        bytes=0,
        found=(),
        silent=words.silent,
        unread=(unread,),
    )


def leftover_scan(store: Path | None, space: SpaceId, words: Fingerprints) -> LeftoverScan:
    """Look through the store for `words`; a memory without a directory has no files."""
    files = list(_files(store, space)) if store is not None else []
    read = 0
    found, unread = [], []
    for file in files:
        if not file.exists():  # the index, which spaces share, tidies itself meanwhile
            continue
        name = str(file.relative_to(store or file))
        try:
            phrases = _phrases_in(file, store or file, words)
        except sqlite3.Error:
            unread.append(name)
            continue
        read += file.stat().st_size
        if phrases:
            found.append(Leftover(file=name, phrases=len(phrases)))
    return LeftoverScan(
        phrases=len(words.phrases),
        files=len(files) - len(unread),
        bytes=read,
        found=tuple(found),
        silent=words.silent,
        unread=tuple(unread),
    )


def scan_tables(values: Iterable[tuple[str, str, bytes]], words: Fingerprints) -> LeftoverScan:
    """Look through values of a database for `words`; each comes with its table and column."""
    found: dict[str, set[str]] = {}
    read = 0
    for table, are_lines, batch in _batches(values):
        read += sum(map(len, batch))
        phrases = found.setdefault(table, set())
        there = set(_found_in(b"".join(batch), words, in_lines=are_lines))
        if lone := {phrase for phrase in there if is_lone(phrase)}:
            texts = (text for line in batch for text in _words_of_line(line)) if are_lines else ()
            there -= lone - {phrase for text in texts for phrase in words.found_in(text)}
        phrases |= there
    return LeftoverScan(
        phrases=len(words.phrases),
        files=len(found),
        bytes=read,
        found=tuple(Leftover(file=table, phrases=len(there)) for table, there in found.items() if there),
        silent=words.silent,
        kind="table",
    )


def _batches(values: Iterable[tuple[str, str, bytes]]) -> Iterator[tuple[str, bool, list[bytes]]]:
    """Lines of logs by the megabyte, and every other value by itself, each with its table."""
    lines: list[bytes] = []
    size = 0
    for table, column, value in values:
        if (table, column) != _LINES:
            yield table, False, [value]
            continue
        lines.append(value if value.endswith(b"\n") else value + b"\n")
        size += len(value)
        if size >= _BATCH:
            yield table, True, lines
            lines, size = [], 0
    if lines:
        yield _LINES[0], True, lines


def _found_in(data: bytes, words: Fingerprints, *, in_lines: bool = False) -> Iterator[str]:
    """The fingerprints in some bytes, in whatever way they are written; `in_lines` as the log writes them."""
    for part in _lines_near(data, words) if in_lines else _parts_near(data, words):
        for text in _readings(part):
            yield from words.found_in(text)


def _phrases_in(file: Path, store: Path, words: Fingerprints) -> set[str]:
    """The fingerprints that a file holds; raises `sqlite3.Error` for an index that cannot be read now."""
    in_lines = file.suffix == ".jsonl"
    phrases = {phrase for data in _written(file) for phrase in _found_in(data, words, in_lines=in_lines)}
    lone = {phrase for phrase in phrases if is_lone(phrase)}
    return phrases - (lone - _among_words(file, store, words)) if lone else phrases


def _among_words(file: Path, store: Path, words: Fingerprints) -> set[str]:
    """The fingerprints standing where a file holds words. Of one that the library did not write, anywhere."""
    place = file.relative_to(store)
    if place.parts[0] == "index" or file.suffix == ".idx" or file.name in ("LOCK", "FORMAT"):
        return set()
    if file.suffix != ".jsonl":
        return {p for data in _written(file) for text in _readings(data) for p in words.found_in(text)}
    with file.open("rb") as lines:
        return {p for line in lines for text in _words_of_line(line) for p in words.found_in(text)}


def _words_of_line(line: bytes) -> Iterator[str]:
    """The words in a line of a log, of whatever kind; what does not read as one is words throughout."""
    try:
        fields = json.loads(line)
        if fields.get("t") == "turn":
            yield from (fields["x"], fields["sp"], fields.get("k") or "", *texts_in(fields.get("m")))
        elif fields.get("t") in _WORDLESS:
            return
        elif isinstance(fields.get("b"), dict):
            yield from _words_of_record(fields["n"], fields["b"], seq=fields["q"])
        else:
            yield from _strings(fields)
    except (ValueError, KeyError, TypeError, AttributeError, PageStoreError):
        yield from _readings(line)


def _words_of_record(kind: str, body: Mapping[str, Any], *, seq: int) -> Iterator[str]:
    if kind == REPLACEMENT:
        kind, body = body["kind"], body["body"]
    entry = decode_body(kind, body, seq=seq)
    yield from entry_texts(entry) if entry is not None else _strings(body)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from () if name in _NUMBERS else _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _files(store: Path, space: SpaceId) -> Iterator[Path]:
    spaces, own = store / "spaces", directory_name(space)
    for place, folders, files in os.walk(store):
        there = Path(place)
        if there == spaces:
            folders[:] = [name for name in folders if name == own]
            files.clear()
        elif (store / "index") in (there, *there.parents):
            folders[:] = [name for name in folders if not _holds_no_text(name)]
            files[:] = [name for name in files if not _holds_no_text(name)]
        folders.sort()
        yield from (there / name for name in sorted(files) if (there / name).is_file())


def _holds_no_text(name: str) -> bool:
    """Whether a file or directory of an index segment holds vectors, weights and numbers alone."""
    return (
        name.startswith(("vector_storage-", "vector_index-"))
        or "id_tracker." in name
        or name.endswith("-null")
    )


def _written(file: Path) -> Iterator[bytes]:
    """The stretches of a file that were ever written; most of an index is room kept free, all zeros."""
    if file.name == FILE:
        yield _read_sqlite_file(file)
        return
    with file.open("rb") as opened:
        at, size = 0, file.stat().st_size
        while at < size:
            try:
                start = os.lseek(opened.fileno(), at, os.SEEK_DATA)
                at = os.lseek(opened.fileno(), start, os.SEEK_HOLE)
            except OSError as error:
                if error.errno == errno.ENXIO:  # nothing but room from here on
                    return
                start, at = at, size
            opened.seek(start)
            yield opened.read(at - start)


def _parts_near(data: bytes, words: Fingerprints) -> Iterator[bytes]:
    """The parts of some bytes that may hold a fingerprint: those around the words that it needs."""
    if len(words.required_words) > FEW or (b"\0" in data and not all(map(str.isascii, words.required_words))):
        yield data
        return
    reach = max((_WIDEST * len(phrase) for phrase in words.phrases), default=0) + _REACH
    start = end = 0
    for first, last in sorted(_places(data, words.required_words)):
        if first - reach > end:
            yield data[start:end]
            start = first - reach
        end = max(end, last + reach)
    yield data[start:end]


def _lines_near(data: bytes, words: Fingerprints) -> Iterator[bytes]:
    """The lines that may hold a fingerprint: those with all of its words, or with escapes that may hide some.

    No run of words goes beyond a line: each is one record.
    """
    if len(words.required_words) > FEW:
        yield data
        return
    data = data if data.endswith(b"\n") else data + b"\n"
    yield from lines_with(data, words.groups)
    for escape in (*_WORD_ESCAPE.finditer(data), *_ODD_ESCAPE.finditer(data)):
        yield data[data.rfind(b"\n", 0, escape.start()) + 1 : data.find(b"\n", escape.start())]


def _places(data: bytes, needed: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Where one of some words may be: its bytes in UTF-8 or UTF-16, or an escape that may hide it.

    Non-ASCII letters of one word can be written as different bytes: of text with such letters, any line that
    has the word.
    """
    lowered = data.lower()
    for word in filter(str.isascii, needed):
        for piece in (word.encode(), word.encode("utf-16-le")[:-1])[: 2 if b"\0" in data else 1]:
            at = lowered.find(piece)
            while at >= 0:
                yield at, at + len(piece)
                at = lowered.find(piece, at + len(piece))
    yield from (escape.span() for escape in _WORD_ESCAPE.finditer(data))
    if b"\0" in data:
        return
    yield from (escape.span() for escape in _ODD_ESCAPE.finditer(data))
    if not data.isascii():
        at = 0
        for line in data.splitlines(keepends=True):
            text = "" if line.isascii() else line.decode("utf-8", "replace").casefold()
            if text and any(word in text for word in needed):
                yield at, at + len(line)
            at += len(line)


def _read_sqlite_file(file: Path) -> bytes:
    """Return the bytes of a database file, read by SQLite; raise `sqlite3.Error` while it is locked.

    If this process opened and closed the file itself, POSIX would release all locks that the process holds
    on it. Only a file that SQLite calls damaged, or no database, is read that way.
    """
    size = file.stat().st_size
    if size < _SHORTEST:
        return file.read_bytes() if size else b""
    where = f"{file.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(where, uri=True, timeout=_WAIT, isolation_level=None)) as opened:
            opened.execute("BEGIN")  # so that it is not written while it is copied
            opened.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return opened.serialize()
    except sqlite3.DatabaseError as error:
        kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if kind not in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            raise
        return file.read_bytes()


def _readings(data: bytes) -> Iterator[str]:
    """Everything the bytes could be meant to say."""
    for piece in _EMPTY.split(data):
        text = piece.decode("utf-8", "replace")
        yield text
        if "\\" in text:
            yield _ESCAPE.sub(_unescape, text)
        if b"\0" in piece:
            # One byte further on, the other byte order reads as this one.
            yield (piece + b"\0").decode("utf-16-le", "replace")
            yield (piece[1:] + b"\0").decode("utf-16-le", "replace")


def _unescape(found: re.Match[str]) -> str:
    if found[1] is not None:
        return chr(int(found[1], 16))
    return " " if found[2] in "nrtbf" else found[2]

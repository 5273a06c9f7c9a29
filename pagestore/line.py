"""One record is one line of JSON that checks itself.

    {"q":17,"d":16,"t":"turn","s":"sess","sp":"Ann","x":"text","z":"salt","c":"9ae0c3f1"}

`q` is the gap-free number of the record, `d` the highest number known to be durable when the line was
written, `t` its type, `c` the CRC-32 of every byte before `,"c":`. A line holds no line break of any
kind, so `grep`, `jq` and naive readers see one record a line. Any text survives: lone surrogates are
escaped; the low half of two surrogates that are next to each other is written raw, because JSON would
read two escapes as one character (the one case in which a line is not valid UTF-8).
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pagestore.errors import Corrupt, PageStoreError
from pagestore.merkle import leaf_hash

Fields = dict[str, Any]

FORMAT = 2
"""The number of the format of logs and stores, which is the only one that is read."""

MALFORMED = (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError)
"""What reading raises over a line whose checksum fits and whose fields are not those of this format."""

TURNS = frozenset({"turn", "gone"})
"""The types of lines that hold a turn, or the tombstone of one."""

_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_TAIL = len(b',"c":"00000000"}\n')
_ESCAPED_BREAKS = (("\u2028", "\\u2028"), ("\u2029", "\\u2029"), ("\x85", "\\u0085"))
_SURROGATE = re.compile("[\ud800-\udbff]|(?<![\ud800-\udbff])[\udc00-\udfff]")


@dataclass(frozen=True, slots=True)
class Line:
    """One intact record: its fields, and how many bytes its line has.

    `digest` is what a tombstone keeps of it: of a turn the SHA-256 of its line, of which ids of pages are
    made; of any other record its leaf.
    """

    fields: Fields
    digest: bytes
    length: int

    @property
    def seq(self) -> int:
        """The number of the record."""
        return int(self.fields["q"])

    @property
    def kind(self) -> str:
        """The type of the record, as the log names it."""
        return str(self.fields["t"])

    @property
    def leaf(self) -> bytes:
        """Its leaf in the Merkle tree: of a turn, that of session and digest, which its tombstone keeps."""
        if self.kind not in TURNS:
            return self.digest
        return leaf_hash(canonical([self.fields["s"], self.digest.hex()]))

    @property
    def evidence(self) -> int:
        """The highest record number this line proves to have been durable."""
        return int(self.fields["d"])


def encode(fields: Mapping[str, Any]) -> bytes:
    """The line of a record; `ValueError` for what JSON cannot hold."""
    body = one_line(fields)[:-1]
    return b'%s,"c":"%08x"}\n' % (body, zlib.crc32(body))


def one_line(value: object) -> bytes:
    """A value as JSON without a line break of any kind; any text in it survives."""
    text = _to_json(value)
    if not text.isascii():
        for character, escape in _ESCAPED_BREAKS:
            text = text.replace(character, escape)
        text = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.encode("utf-8", "surrogatepass")


def field_bytes(name: str, value: object) -> bytes:
    """How a field is written in the lines of the log."""
    return encode({name: value})[1 : 1 - _TAIL]


def is_intact(raw: bytes) -> bool:
    """Whether the checksum of a line is there and agrees."""
    if len(raw) < _TAIL or raw[-_TAIL : -_TAIL + 6] != b',"c":"' or raw[-3:] != b'"}\n':
        return False
    # Compared as bytes: parsing the digits would let an upper-case digit pass for a lower-case one.
    return raw[-11:-3] == b"%08x" % zlib.crc32(raw[:-_TAIL])


def decode(raw: bytes) -> Fields | None:
    """The fields of an intact line; `None` for anything else."""
    if not is_intact(raw):
        return None
    try:
        fields = json.loads(raw.decode("utf-8", "surrogatepass"))  # without guessing the encoding
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    numbered = all(type(fields.get(name)) is int for name in ("q", "d"))
    return fields if numbered and isinstance(fields.get("t"), str) else None


def line_of(raw: bytes, fields: Fields) -> Line:
    """A line with the digest that hashes above it are made of."""
    if fields["t"] == "turn":
        digest = hashlib.sha256(raw).digest()
    elif fields["t"] in ("gone", "void"):
        digest = bytes.fromhex(fields["h"])
    else:
        digest = leaf_hash(raw)
    return Line(fields, digest, len(raw))


def goes_on(fields: Fields) -> bool:
    """Whether another part of the same turn follows a line with these fields."""
    part, parts = fields.get("p", (1, 1)) if fields["t"] in TURNS else (1, 1)
    return bool(part < parts)


def split(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Every complete line of `data` with its offset; a last piece without a line break is left out."""
    start = 0
    while (end := data.find(b"\n", start) + 1) > 0:
        yield start, data[start:end]
        start = end


def canonical(value: object) -> bytes:
    """The bytes of a JSON value for hashing: one form for one value, whatever text is in it."""
    return _to_json(value).encode("utf-8", "surrogatepass")


@contextmanager
def as_written(where: str) -> Iterator[None]:
    """Raise `Corrupt` where the fields of an intact line are not those of this format."""
    try:
        yield
    except PageStoreError:
        raise
    except MALFORMED as error:
        raise Corrupt(
            f"{where}: what was asked for cannot be read there ({error!r}); run `verify`"
        ) from error

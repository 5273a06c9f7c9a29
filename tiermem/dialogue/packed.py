"""Files packed with gzip or xz, unpacked up to a limit: one megabyte can unpack to a thousand and more."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from typing import IO

from tiermem.errors import InvalidInput

MOST = 512_000_000
"""Bytes that a packed file may unpack to; a file that is not packed may be of any size."""
_PIECE = 1 << 20
"""Bytes unpacked before the limit is looked at again."""
_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zXZ\x00"
_ZSTD = b"\x28\xb5\x2f\xfd"
"""How files begin that are packed with zstd, which Python 3.13 and older cannot unpack."""


def unpack(data: bytes) -> bytes:
    """What `data` holds when it is packed with gzip or xz, else `data`.

    `InvalidInput` for a damaged file, for one that is packed with zstd, and for one that unpacks to more than
    `MOST` bytes, of which no more is unpacked than that.
    """
    if data.startswith(_ZSTD):
        raise InvalidInput(
            "it is packed with zstd, which is not read: unpack it first, as with `zstd -d FILE`"
        )
    try:
        stream = _open_stream(data)
        if stream is None:
            return data
        with stream:
            return read_unpacked(stream)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise InvalidInput(f"the compressed file is damaged: {error}") from error


def read_unpacked(stream: IO[bytes] | gzip.GzipFile | lzma.LZMAFile, before: int = 0) -> bytes:
    """The bytes of a stream; `InvalidInput` where they are more than `MOST` with those counted `before`."""
    content = bytearray()
    while piece := stream.read(_PIECE):
        content += piece
        if before + len(content) > MOST:
            raise InvalidInput(
                f"it unpacks to more than {MOST / 1e6:g} MB; if it really is that large, unpack it first: a "
                "file that is not packed may be of any size"
            )
    return bytes(content)


def _open_stream(data: bytes) -> gzip.GzipFile | lzma.LZMAFile | None:
    if data.startswith(_GZIP):
        return gzip.GzipFile(fileobj=io.BytesIO(data))
    if data.startswith(_XZ):
        return lzma.LZMAFile(io.BytesIO(data))
    return None

"""Reading a dataset's JSON, plain or compressed, with the digest of what was read."""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
from pathlib import Path
from typing import Any

from tiermem.errors import InvalidInput


def read_json(path: Path) -> tuple[Any, str]:
    """The parsed content of a `.json`, `.json.gz` or `.json.xz` file, and the SHA-256 of the JSON itself.

    The digest is taken after decompression, so the same data has the same digest however it is packed.
    """
    try:
        raw = _bytes(path)
    except (OSError, lzma.LZMAError, EOFError) as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error}") from error
    try:
        return json.loads(raw), hashlib.sha256(raw).hexdigest()
    except ValueError as error:
        raise InvalidInput(f"{str(path)!r} is not JSON: {error}") from error


def _bytes(path: Path) -> bytes:
    match path.suffix:
        case ".xz":
            with lzma.open(path) as stream:
                return stream.read()
        case ".gz":
            with gzip.open(path) as stream:
                return stream.read()
        case _:
            return path.read_bytes()

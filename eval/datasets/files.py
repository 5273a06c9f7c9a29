"""What reading any dataset takes: its JSON, plain or compressed, and turns without its names for them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pagestore import Turn
from tiermem.dialogue.packed import unpacked
from tiermem.errors import InvalidInput


def read_json(path: Path) -> tuple[Any, str]:
    """The parsed content of a `.json`, `.json.gz` or `.json.xz` file, and the SHA-256 of the JSON itself.

    The digest is taken after decompression, so the same data has the same digest however it is packed.
    """
    try:
        raw = unpacked(path.read_bytes())
    except (OSError, InvalidInput) as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error}") from error
    try:
        return json.loads(raw), hashlib.sha256(raw).hexdigest()
    except ValueError as error:
        raise InvalidInput(f"{str(path)!r} is not JSON: {error}") from error


def unnamed(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """The turns without the ids a file or its reader gave them: no name may reach a system."""
    return tuple(replace(turn, turn_id=None) for turn in turns)

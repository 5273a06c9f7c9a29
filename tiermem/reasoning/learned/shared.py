"""Readers that several parts of a process read with: one file is loaded once, while anybody uses it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final
from weakref import WeakValueDictionary

from tiermem.embedding.weights import find_weights
from tiermem.reasoning.learned.factors import SHIPPED, SHIPPED_SHA256
from tiermem.reasoning.learned.graph import LearnedReader

_in_use: Final[WeakValueDictionary[tuple[Path, int, Path | None], LearnedReader]] = WeakValueDictionary()
_loading: Final = Lock()


def shared_reader(factors: Path, weights: Path | None = None) -> LearnedReader:
    """The reader of a file, as it is now, on the weights in a directory (`None`: they are looked for).

    Raises `OSError`, `KeyError` or `ValueError` where the file is none, or is the one of the package and was
    changed; and `EmbedderUnavailable` without weights.
    """
    key = (factors, factors.stat().st_mtime_ns, weights)
    with _loading:
        reader = _in_use.get(key)
        if reader is None:
            raw = factors.read_bytes()
            if factors == SHIPPED and sha256(raw).hexdigest() != SHIPPED_SHA256:
                raise ValueError("it is not the file of this version, by its SHA-256: install tiermem again")
            reader = LearnedReader(find_weights(weights), raw)
            _in_use[key] = reader
        return reader

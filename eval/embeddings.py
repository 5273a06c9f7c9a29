"""Vectors kept on disk between runs, so that a benchmark embeds each text once.

A cached vector is bit for bit the one that was computed: a run gives the same numbers with a full
cache, with half of one and without.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from anyio import to_thread

from tiermem.embedding import Lexicon, lexicon_of
from tiermem.embedding.interface import Embedder

_AT_ONCE: Final = 256
"""Texts embedded between two writes: what a kill can cost."""
_ASKED_AT_ONCE: Final = 500


def cache_directory(named: Path | None = None) -> Path:
    """Where caches of evaluation lie: the one named, `$TIERMEM_CACHE/eval`, or the user's cache."""
    if named is not None:
        return named
    root = os.environ.get("TIERMEM_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache" / "tiermem") / "eval"


class CachedEmbedder:
    """An embedder that asks another only for texts it has not seen. Safe from many threads."""

    def __init__(self, embedder: Embedder, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        self._lock = threading.Lock()
        self._file = sqlite3.connect(file, check_same_thread=False, isolation_level=None, timeout=60)
        self._file.execute("PRAGMA journal_mode=WAL")
        self._file.execute("PRAGMA synchronous=OFF")  # a lost vector is computed again
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )
        self.computed = 0

    @property
    def name(self) -> str:
        """The name of the embedder behind: the vectors are its own."""
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        """The length of every vector."""
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order; only new texts are embedded, each once, and paid for."""
        keys = [self._key(text) for text in texts]
        known = await to_thread.run_sync(self._read, keys)
        missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in known}.items())
        for start in range(0, len(missing), _AT_ONCE):
            batch = missing[start : start + _AT_ONCE]
            vectors = await self._embedder.embed([text for _, text in batch])
            packed = {key: _packed(vector) for (key, _), vector in zip(batch, vectors, strict=True)}
            await to_thread.run_sync(self._write, packed)
            known |= packed
            self.computed += len(batch)
        return [_unpacked(known[key]) for key in keys]

    async def lexicon(self) -> Lexicon:
        """The words of the embedder behind."""
        return await lexicon_of(self._embedder)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._file.close()

    def _key(self, text: str) -> bytes:
        named = f"{self.name}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(named).digest()

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        known: dict[bytes, bytes] = {}
        with self._lock:
            for start in range(0, len(keys), _ASKED_AT_ONCE):
                batch = keys[start : start + _ASKED_AT_ONCE]
                places = ",".join("?" * len(batch))
                known |= dict(
                    self._file.execute(f"SELECT key, vector FROM vectors WHERE key IN ({places})", batch)  # noqa: S608  (only question marks)
                )
        return known

    def _write(self, vectors: dict[bytes, bytes]) -> None:
        with self._lock:
            self._file.execute("BEGIN")
            self._file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", vectors.items())
            self._file.execute("COMMIT")


def _packed(vector: Sequence[float]) -> bytes:
    import numpy as np

    return np.asarray(vector, dtype=np.float32).tobytes()


def _unpacked(vector: bytes) -> list[float]:
    import numpy as np

    return np.frombuffer(vector, dtype=np.float32).tolist()  # type: ignore[no-any-return]

"""Vectors of texts that were embedded a moment ago, so that they are not embedded again at once."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock


class Newest:
    """The newest vectors by text. Memories that share an index ask for them from event loops of their own."""

    def __init__(self) -> None:
        self._held: dict[str, array[float]] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._held)

    def of(self, texts: Iterable[str]) -> dict[str, list[float]]:
        """Vectors of those texts that are held."""
        with self._lock:
            return {text: self._held[text].tolist() for text in texts if text in self._held}

    def put(self, vectors: Mapping[str, Sequence[float]], *, most: int) -> None:
        """Hold these as the newest, and of all that is held the newest `most`."""
        with self._lock:
            for text, vector in vectors.items():
                self._held.pop(text, None)
                self._held[text] = array("d", vector)
            while len(self._held) > most:
                self._held.pop(next(iter(self._held)))

    def clear(self) -> None:
        """Hold nothing any more."""
        with self._lock:
            self._held.clear()

"""Vectors of texts that were embedded a moment ago, so that they are not embedded again at once."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Newest(Generic[K]):
    """The newest vectors by key. Memories that share an index ask for them from event loops of their own."""

    def __init__(self) -> None:
        self._held: dict[K, array[float]] = {}
        self._lock = Lock()

    def of(self, keys: Iterable[K]) -> dict[K, list[float]]:
        """Vectors of those keys that are held."""
        with self._lock:
            return {key: self._held[key].tolist() for key in keys if key in self._held}

    def put(self, vectors: Mapping[K, Sequence[float]], *, most: int) -> None:
        """Hold these as the newest, and of all that is held the newest `most`."""
        with self._lock:
            for key, vector in vectors.items():
                self._held.pop(key, None)
                self._held[key] = array("d", vector)
            while len(self._held) > most:
                self._held.pop(next(iter(self._held)))

    def clear(self) -> None:
        """Hold nothing any more."""
        with self._lock:
            self._held.clear()

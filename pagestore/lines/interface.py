"""Where the numbered lines of one log are kept: in files, in memory, or elsewhere.

The rules:
- Lines have the numbers 0, 1, 2, …; none is left out, and none is taken away.
- When `append`, `begin` or `overwrite` returns, what it was given survives a crash (where lines outlive
  the process at all). A batch is there whole, or `Full` is raised and nothing of it is.
- Lines lie in parts, each of which begins with a header. A part that ended can have a cache.
- A writer appends at the end that `begin_write` showed it; no other writer appends until `end_write`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from pagestore.line import Fields, Line
from pagestore.values import Damage


class Lines(Protocol):
    """The lines of one log. One thread writes at a time; any number read.

    Where several writers may have a log open, what is read ends where this writer's last `begin_write`,
    `read_appended`, `append` or `begin` ended.

    Reading raises `Inaccessible`; writing raises `Full`, or `Poisoned` when it is unknown what is kept.
    """

    @property
    def is_shared(self) -> bool:
        """Whether other writers may append while these lines are open."""
        ...

    def parts(self) -> Sequence[int]:
        """The parts there are, in order: 1, 2, …"""
        ...

    def scan(self, part: int, after: int) -> Iterator[Line | Damage]:
        """Yield the lines of a part in order, and a `Damage` in place of each line that is not intact.

        `after` is the number of the last line before this part.

        The first time, in order of the parts and before anything else is asked, what was never acknowledged
        is not reported as damage: it is left out, and `repair` removes it. The parts of a turn are there
        all or none.
        """
        ...

    def cached(self, part: int) -> Fields | None:
        """What `cache` was given for a part that ended and has not changed since; `None` where it is lost.

        Then the part need not be scanned.
        """
        ...

    def cache(self, part: int, content: Fields) -> None:
        """Keep something for a part that ended, if that is possible."""
        ...

    def repair(self) -> None:
        """Remove what was never acknowledged, and make every line durable, before anything is appended."""
        ...

    def read_appended(self, after: int) -> Sequence[Line]:
        """Return the lines with a number above `after` that other writers appended; acquires no lock.

        The caller writes nothing meanwhile. Raises `Corrupt` for an unreadable line.
        """
        ...

    def begin_write(self, after: int) -> Sequence[Line]:
        """Acquire the write lock; return what `read_appended` does. `end_write` follows, also after an error.

        Raises `Locked` when another writer keeps the lock too long, and `Corrupt`.
        """
        ...

    def end_write(self) -> None:
        """Release the write lock; idempotent."""
        ...

    def claim(self, work: Collection[str]) -> frozenset[str]:
        """Claim pieces of work among all writers; return those that nothing had claimed.

        A claim ends with `release` or with the process. All are given where there can be one writer only.
        Raises `Inaccessible`.
        """
        ...

    def release(self, work: Collection[str]) -> None:
        """Release claims; idempotent."""
        ...

    def due(self) -> int | None:
        """The part that is to begin before more is appended; `None` while the last one takes more."""
        ...

    def begin(self, part: int, header: bytes) -> None:
        """Begin the part that is due with its first line; the caller holds the write lock."""
        ...

    def append(self, batch: Sequence[bytes]) -> None:
        """Put lines at the end; the caller holds the write lock.

        After `Inaccessible` they are there or not; the next `begin_write` returns them if they are.
        """
        ...

    def overwrite(self, tombstones: Mapping[int, bytes]) -> None:
        """Put a tombstone over each of some lines, as long as the line. No copy of what was there is left.

        After an error some may be overwritten.
        """
        ...

    def read(self, first: int, count: int = 1) -> list[bytes]:
        """Lines by number, as they lie there; one that cannot be found is empty."""
        ...

    def read_some(self, numbers: Sequence[int]) -> list[bytes]:
        """Lines of these different numbers, in their order, as `read` does."""
        ...

    def data(self, part: int) -> bytes:
        """The lines of a part, one behind the other."""
        ...

    def where(self, number: int) -> str:
        """How the place of a line is named to people."""
        ...

    def torn(self) -> tuple[str, ...]:
        """What was never acknowledged and is still there, or was moved to a file of its own."""
        ...

    def check_held(self) -> None:
        """Return where no other process can have begun to write meanwhile; else raise `Poisoned`."""
        ...

    def close(self) -> None:
        """Release what is held; idempotent."""
        ...

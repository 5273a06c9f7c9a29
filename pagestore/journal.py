"""Makes batches of lines durable: write, sync, and only then fold. A log that is full or failing says so.

The rules:
- Nothing is folded, so nothing is seen or acknowledged, before it is durable.
- No room: what was written of the batch is taken back, and the log goes on.
- Any other failure, a failed fsync above all, leaves unknown what is on disk: the journal is poisoned and
  takes nothing more until the log is opened again.
- A new segment has its header and its name on disk before anything follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock

from pagestore import snapshot
from pagestore.errors import Full, Inaccessible, Poisoned
from pagestore.line import Fields
from pagestore.lines.segments import Segments
from pagestore.options import LogOptions
from pagestore.recovery import Recovered
from pagestore.staging import Batch, Stored
from pagestore.state import State

FORMAT = 1


class Journal:
    """The writing end of one log. Not thread-safe, but for `lock`, under which `state` changes.

    `active` is the segment that takes the next record, `end` its length.
    """

    def __init__(
        self,
        segments: Segments,
        found: Recovered,
        options: LogOptions,
        *,
        lock: RLock,
        stored: Callable[[bytes], Stored | None],
    ) -> None:
        self.failed: BaseException | None = None
        self._segments = segments
        self._state: State = found.state
        self._options = options
        self._lock = lock
        self._stored = stored
        self._began = found.began
        self.active = found.active
        self.end = found.end
        if not found.active:
            self._begin_segment(1)

    def stage(self) -> Batch:
        """An empty batch for the end of the log."""
        return self._batch(self.active, self.end)

    def commit(self, batch: Batch) -> None:
        """Make a batch durable, then fold it; raises `Full`, `Poisoned`."""
        if not batch.lines:
            return
        self._refuse_if_failed()
        try:
            self._write(batch, self.active, self.end)
            self._segments.sync(self.active)
            self._fold(batch)
        except Full:
            raise
        except BaseException as error:
            self.failed = error
            raise
        self.end = batch.end
        if self.end >= self._options.segment_bytes:
            self._roll()

    def overwrite(self, stubs: Sequence[tuple[int, int, bytes]]) -> None:
        """Write stubs (segment, offset, line) over lines and sync them; raises `Poisoned`."""
        self._refuse_if_failed()
        try:
            with self._lock:
                for segment, offset, data in stubs:
                    self._segments.write(segment, offset, data)
            for segment in sorted({segment for segment, _, _ in stubs}):
                self._segments.sync(segment)
        except Full as error:
            self.failed = error
            raise Poisoned(
                f"{error}; some lines may be overwritten, and the next opening does the rest"
            ) from error
        except BaseException as error:
            self.failed = error
            raise

    def _refuse_if_failed(self) -> None:
        if self.failed is not None:
            raise Poisoned(f"an earlier write failed ({self.failed}); close and reopen") from self.failed

    def _batch(self, segment: int, offset: int) -> Batch:
        return Batch(self._state, self._options, segment=segment, offset=offset, stored=self._stored)

    def _write(self, batch: Batch, segment: int, offset: int) -> None:
        try:
            self._segments.write(segment, offset, b"".join(batch.raw))
        except Full as error:
            # Synced, or a power cut could bring back what the caller was told is not stored.
            self._segments.truncate(segment, offset)
            self._segments.sync(segment)
            raise Full(f"{error}; this write was taken back, and what was stored before it stays") from error

    def _fold(self, batch: Batch) -> None:
        with self._lock:
            for line in batch.lines:
                self._state.fold(line)

    def _roll(self) -> None:
        """Begin the next segment. What is stored stays stored if that fails; the next commit tries again."""
        try:
            self._begin_segment(self.active + 1)
        except (Full, Inaccessible):
            return
        except Poisoned as error:
            self.failed = error
        except BaseException as error:
            self.failed = error
            raise

    def _begin_segment(self, number: int) -> None:
        header = self._batch(number, 0)
        header.add("seg", self._header(number))
        self._segments.create(number)
        self._write(header, number, 0)
        self._segments.sync(number)
        self._segments.sync_directory()
        if self.active and self._began.keys >= self._state.unsalted:
            # Unsalted keys, also of turns erased since, go into no cache that is not made from the bytes.
            self._segments.write_snapshot(
                self.active, snapshot.dump(self._state, self._began, self._segments.size(self.active))
            )
        self._began = snapshot.mark(self._state)
        self._fold(header)
        self.active, self.end = number, header.end

    def _header(self, number: int) -> Fields:
        header = {
            "v": FORMAT,
            "i": number,
            "space": self._state.space,
            "n": len(self._state.tree),
            "root": self._state.tree.root().hex(),
            "at": self._options.clock().isoformat(),
        }
        # The first record is what tells this log from every other, also from one begun in the same moment.
        return {**header, "z": self._options.salt(16).hex()} if number == 1 else header

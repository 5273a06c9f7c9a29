"""Makes batches of lines durable, and only then folds them. A log that is full or failing says so.

The rules:
- Nothing is folded, so nothing is seen or acknowledged, before it is durable.
- No room: nothing of the batch is kept, and the log goes on.
- Any other failure, a failed fsync above all, leaves unknown what is kept: the journal is poisoned and
  takes nothing more until the log is opened again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import RLock

from pagestore import snapshot
from pagestore.errors import Full, Inaccessible, Poisoned
from pagestore.line import Fields
from pagestore.lines.interface import Lines
from pagestore.options import LogOptions
from pagestore.recovery import RecoveredLog
from pagestore.staging import Batch, StoredTurn
from pagestore.state import State

FORMAT = 2


class Journal:
    """The writing end of one log. Not thread-safe, but for `lock`, under which `state` changes."""

    def __init__(
        self,
        lines: Lines,
        found: RecoveredLog,
        options: LogOptions,
        *,
        lock: RLock,
        stored: Callable[[bytes], StoredTurn | None],
    ) -> None:
        self.failed: BaseException | None = None
        self._lines = lines
        self._state: State = found.state
        self._options = options
        self._lock = lock
        self._stored = stored
        self._began = found.began
        if not lines.parts():
            self._begin_part(1)

    def stage(self) -> Batch:
        """An empty batch for the end of the log."""
        return Batch(self._state, self._options, stored=self._stored)

    def commit(self, batch: Batch) -> None:
        """Make a batch durable, then fold it; raises `Full`, `Poisoned`."""
        if not batch.lines:
            return
        self._refuse_if_failed()
        try:
            self._lines.append(batch.raw)
            self._fold(batch)
        except Full:
            raise
        except BaseException as error:
            self.failed = error
            raise
        part = self._lines.due()
        if part is not None:
            self._roll(part)

    def overwrite(self, tombstones: Mapping[int, bytes]) -> None:
        """Put tombstones over lines; raises `Poisoned`."""
        self._refuse_if_failed()
        try:
            self._lines.overwrite(tombstones)
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

    def _fold(self, batch: Batch) -> None:
        with self._lock:
            for line in batch.lines:
                self._state.fold(line)

    def _roll(self, part: int) -> None:
        """Begin the next part. What is stored stays stored if that fails; the next commit tries again."""
        try:
            self._begin_part(part)
        except (Full, Inaccessible):
            return
        except Poisoned as error:
            self.failed = error
        except BaseException as error:
            self.failed = error
            raise

    def _begin_part(self, part: int) -> None:
        batch = self.stage()
        batch.add("seg", self._header(part))
        (header,) = batch.raw
        self._lines.begin(part, header)
        if part > 1 and self._began.keys >= self._state.unsalted:
            # Unsalted keys, also of turns erased since, go into no cache that is not made from the lines.
            self._lines.cache(part - 1, snapshot.dump(self._state, self._began))
        self._began = snapshot.mark(self._state)
        self._fold(batch)

    def _header(self, part: int) -> Fields:
        header = {
            "v": FORMAT,
            "i": part,
            "space": self._state.space,
            "n": len(self._state.tree),
            "root": self._state.tree.root().hex(),
            "at": self._options.clock().isoformat(),
        }
        # The first line is what tells this log from every other, also from one begun in the same moment.
        return {**header, "z": self._options.salt(16).hex()} if part == 1 else header

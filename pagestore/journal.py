"""Makes batches of lines durable, and only then folds them. A log that is full or failing says so.

The rules:
- A batch is made and stored under the write lock, after the lines of other writers are folded.
- Nothing is folded, so nothing is seen or acknowledged, before it is durable.
- No room: nothing of the batch is kept, and the log goes on.
- Not reached: the next `begin_write` returns the batch if it is kept, and the log goes on.
- Any other failure, a failed fsync above all, leaves unknown what is kept: the journal is poisoned and
  takes nothing more until the log is opened again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock

from pagestore import snapshot
from pagestore.errors import Full, Inaccessible, Locked, Poisoned
from pagestore.line import FORMAT, Fields, Line, as_written
from pagestore.lines.interface import Lines
from pagestore.options import LogOptions
from pagestore.recovery import RecoveredLog
from pagestore.staging import Batch, StoredTurn
from pagestore.state import State
from pagestore.values import WrittenByOthers


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
        forget: Callable[[], None],
    ) -> None:
        """`stored` finds a turn by its key; `forget` is called when an erasure is folded."""
        self.failed: BaseException | None = None
        self.by_others = WrittenByOthers()
        self._lines = lines
        self._state: State = found.state
        self._options = options
        self._lock = lock
        self._stored = stored
        self._forget = forget
        self._began = found.began
        if not lines.parts():
            self._begin_part(1)

    @contextmanager
    def write(self) -> Iterator[Batch]:
        """Give an empty batch for the end of the log; commit it when the block ends without an error.

        Committing makes the lines durable, then folds them. Raises `Full`, `Poisoned`, and what
        `Lines.begin_write` raises.
        """
        with self._begin() as batch:
            yield batch
            if not batch.lines:
                return
            self._commit(batch)
        part = self._lines.due()
        if part is not None:
            self._roll(part)

    def catch_up(self) -> bool:
        """Fold what other writers appended, without the write lock; returns whether they appended anything.

        The caller writes nothing meanwhile.
        """
        appended = self._lines.read_appended(self._state.head)
        if appended:
            self._fold_appended(appended)
        return bool(appended)

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

    @contextmanager
    def _begin(self) -> Iterator[Batch]:
        """Hold the write lock, with the lines of other writers folded."""
        try:
            appended = self._lines.begin_write(self._state.head)
            if appended:
                self._fold_appended(appended)
            yield Batch(self._state, self._options, stored=self._stored)
        finally:
            self._lines.end_write()

    def _commit(self, batch: Batch) -> None:
        self._refuse_if_failed()
        try:
            self._lines.append(batch.raw)
            self._fold(batch.lines)
        except (Full, Inaccessible):
            raise
        except BaseException as error:
            self.failed = error
            raise

    def _fold_appended(self, lines: Sequence[Line]) -> None:
        """Fold what other writers appended."""
        try:
            with as_written(f"the log of space {self._state.space!r}"):
                self._fold(lines)
        except BaseException as error:
            self.failed = error
            raise
        erasures = sum(line.kind == "erase" for line in lines)
        self.by_others = WrittenByOthers(
            lines=self.by_others.lines + len(lines), erasures=self.by_others.erasures + erasures
        )

    def _refuse_if_failed(self) -> None:
        if self.failed is not None:
            raise Poisoned(f"an earlier write failed ({self.failed}); close and reopen") from self.failed

    def _fold(self, lines: Sequence[Line]) -> None:
        with self._lock:
            for line in lines:
                if line.kind == "seg":
                    self._began = snapshot.mark(self._state)
                self._state.fold(line)
            if any(line.kind == "erase" for line in lines):
                self._forget()

    def _roll(self, part: int) -> None:
        """Begin the next part. What is stored stays stored if that fails; the next commit tries again."""
        try:
            self._begin_part(part)
        except (Full, Inaccessible, Locked):
            return
        except Poisoned as error:
            self.failed = error
        except BaseException as error:
            self.failed = error
            raise

    def _begin_part(self, part: int) -> None:
        with self._begin() as batch:
            if self._lines.due() != part:  # another writer has begun it
                return
            batch.add("seg", self._header(part))
            (header,) = batch.raw
            self._lines.begin(part, header)
            if part > 1:
                self._lines.cache(part - 1, snapshot.dump(self._state, self._began))
            self._fold(batch.lines)

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

"""Backups, restored stores and exports, with progress on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Group
from rich.table import Table
from rich.text import Text

import tiermem
from pagestore import SpaceId
from pagestore.backup import SavedSpace, write_backup
from tiermem.apps.present.tables import counted, table
from tiermem.apps.present.terminal import Report, progress, safe
from tiermem.memory.values import BackedUp, Exported

_MB = 1_000_000


def back_up(store: Path, dest: Path, *, space: str | None, replace: bool) -> BackedUp:
    """Write the backup of a store, or of one of its spaces."""
    spaces = None if space is None else [SpaceId(space)]
    with _megabytes(f"{store}: copying") as report:
        saved = write_backup(store, dest, spaces=spaces, replace=replace, progress=report)
    return BackedUp(file=dest, bytes=dest.stat().st_size, spaces=saved)


def restored(archive: Path, store: Path, *, replace: bool) -> tuple[SavedSpace, ...]:
    """Make a store of a backup."""
    with _megabytes(f"{store}: restoring") as report:
        return tiermem.restore(archive, store, replace=replace, progress=report)


def exported(memory: tiermem.Memory, file: str, *, session: str | None, replace: bool) -> Exported:
    """Write the dialogue to a file, or to standard output."""
    to = sys.stdout.buffer if file == "-" else file
    with progress(f"{memory.space}: writing", "pages") as report:
        return memory.export(to, session=session, replace=replace, progress=report)


def backed_up_view(done: BackedUp) -> Group:
    """What a backup holds, and what it means for what is erased later."""
    told = f"{safe(str(done.file))}: {done.bytes:,} bytes; {done.keeps}."
    return Group(_spaces(done.spaces), Text(told))


def restored_view(done: Sequence[SavedSpace], store: Path) -> Group:
    """What a restored store holds."""
    told = f"Every hash agrees. {safe(str(store))} is a store now; its index is made at first use."
    return Group(_spaces(done), Text(told))


def exported_in_words(done: Exported, file: str) -> str:
    """What an export holds, how to read it back, and what it means for what is erased later."""
    command = f"tiermem ingest {'FILE' if file == '-' else file}{' --stamps' if done.stamped else ''}"
    gone = f", {counted(done.erased, 'turn')} erased before" if done.erased else ""
    return safe(
        f"{counted(done.turns, 'turn')} of {counted(done.sessions, 'session')}{gone}. "
        f"`{command}` reads it back; {done.keeps}."
    )


def _spaces(saved: Sequence[SavedSpace]) -> Table:
    columns = ("space", "turns", "pages", "records", "bytes")
    figures = ((one.turns, one.pages, one.records, one.bytes) for one in saved)
    rows = [(safe(one.space), *(f"{n:,}" for n in told)) for one, told in zip(saved, figures, strict=True)]
    return table(columns, rows, numbers=columns[1:])


@contextmanager
def _megabytes(what: str) -> Iterator[Report]:
    with progress(what, "MB") as report:
        yield lambda done, total: report(done // _MB, total // _MB)

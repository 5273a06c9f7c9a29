"""Progress on stderr: a bar with the time left in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from eval.types import CaseId

_EVERY: Final = 30.0
"""Seconds between two lines where there is no terminal."""


class Watcher:
    """Shows a run's progress; see `watching`."""

    def __init__(self, console: Console, bar: Progress) -> None:
        self._console = console
        self._bar = bar
        self._task: TaskID | None = None
        self._total = 0
        self._done = 0
        self._began = self._told = time.monotonic()

    def starts(self, what: str, total: int) -> None:
        """So many questions are still to be asked."""
        self._total = total
        self._task = self._bar.add_task(what, total=total)

    def step(self, system: str, case: CaseId) -> None:
        """One question more is recorded."""
        self._done += 1
        if self._task is not None:
            self._bar.update(self._task, completed=self._done, description=f"{system} · {case}")
        now = time.monotonic()
        if self._console.is_terminal or now - self._told < _EVERY:
            return
        self._told = now
        left = (now - self._began) / self._done * (self._total - self._done)
        self._console.print(
            f"{self._done} of {self._total} ({system}, {case}), about {left / 60:.0f} min left"
        )


@contextmanager
def watching(*, lines: bool = False) -> Iterator[Watcher]:
    """A watcher whose bar goes when the block ends; with `lines`, for several at once, it never has one."""
    console = Console(stderr=True, highlight=False, markup=False, force_terminal=False if lines else None)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield Watcher(console, bar)

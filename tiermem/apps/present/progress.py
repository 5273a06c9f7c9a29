"""Progress on stderr, where that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import progress as bars
from rich.text import Text

from tiermem.apps.present.terminal import err
from tiermem.text.unicode import show_controls

Report = Callable[[int, int], None]


@contextmanager
def progress(what: str, unit: str, *, size: int = 1, then: str = "") -> Iterator[Report]:
    """A bar on stderr while the block runs: done of total, rate and time left; gone when it ends.

    A unit is `size` of what is reported. When all is done and the block goes on, `then` says what with.
    """
    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}"),
        bars.BarColumn(bar_width=None),
        bars.MofNCompleteColumn(),
        _Rate(unit),
        bars.TimeElapsedColumn(),
        bars.TextColumn("left"),
        bars.TimeRemainingColumn(compact=True),
    )
    console = err()
    with bars.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(show_controls(what), total=None)

        def report(done: int, total: int) -> None:
            bar.update(task, completed=done // size, total=total // size)
            if then and done >= total:
                bar.reset(task, description=show_controls(then), total=None, completed=done)

        yield report


@contextmanager
def show_activity(what: str) -> Iterator[None]:
    """A line on stderr while the block runs: what is done, and for how long; gone when it ends."""
    columns = (bars.SpinnerColumn(), bars.TextColumn("{task.description}"), bars.TimeElapsedColumn())
    console = err()
    with bars.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as line:
        line.add_task(show_controls(what), total=None)
        yield


class _Rate(bars.ProgressColumn):
    """Things a second."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: bars.Task) -> Text:
        return Text(f"{task.speed:,.1f} {self._unit}/s" if task.speed else "", style="progress.data.speed")

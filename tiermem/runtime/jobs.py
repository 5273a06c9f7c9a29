"""Work that may happen after a call returned: one run of each job at a time, none of it lost.

A job only does what the ledger says is missing, so failing or being cut short loses nothing: what
was left undone is pending and is done by the next run. Failures are kept for `stats` and logged.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable

import anyio

from tiermem.errors import TierMemError, unexpected

log = logging.getLogger("tiermem")

_LONGEST_WAIT = 3600.0
"""Seconds; a job that looks whether it is due is begun then."""

CONSOLIDATING = "consolidating"
"""The job that works step by step, so that callers need not wait for its end."""

Job = Callable[[], Awaitable[object]]


class Jobs:
    """Runs named jobs on the current event loop."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[None]] = {}
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._again: dict[str, Job] = {}
        self._due: dict[str, asyncio.TimerHandle] = {}
        self._problems: deque[tuple[str, str]] = deque(maxlen=20)

    @property
    def problems(self) -> tuple[str, ...]:
        """The newest failures, oldest first, each once."""
        return tuple(problem for _, problem in self._problems)

    def note(self, problems: Iterable[object]) -> None:
        """Keep what a job left undone, and log a warning of each kind of which none is kept."""
        for problem in problems:
            kept = (str(getattr(problem, "kind", problem)), str(problem))
            is_known = any(kind == kept[0] for kind, _ in self._problems)
            if kept in self._problems:
                self._problems.remove(kept)
            self._problems.append(kept)
            log.log(
                logging.DEBUG if is_known else logging.WARNING,
                "%s (`stats` lists others of this kind; they are logged at level DEBUG)",
                problem,
            )

    def forget(self, repeats: Callable[[str], bool]) -> None:
        """Keep no failure any more that tells of these words."""
        kept = [(kind, problem) for kind, problem in self._problems if not repeats(problem)]
        self._problems.clear()
        self._problems.extend(kept)

    def start(self, name: str, job: Job) -> None:
        """Run `job` soon; asked for again while it runs, it runs once more afterwards."""
        if name in self._running:
            self._again[name] = job
        else:
            self._scopes[name] = anyio.CancelScope()
            self._running[name] = asyncio.get_running_loop().create_task(self._run(name, job))

    def later(self, seconds: float, name: str, job: Job, *, longest: float = _LONGEST_WAIT) -> None:
        """Start `job` in so many seconds, `longest` at most.

        `drain` does not wait for that; `cancel_timer` takes it back.
        """
        self.cancel_timer(name)

        def due() -> None:
            del self._due[name]
            self.start(name, job)

        self._due[name] = asyncio.get_running_loop().call_later(min(seconds, longest), due)

    def is_due(self, name: str) -> bool:
        """Whether `name` is to start later."""
        return name in self._due

    def cancel_timer(self, name: str) -> None:
        """Forget a time given for `name`."""
        due = self._due.pop(name, None)
        if due is not None:
            due.cancel()

    def cancel_all_timers(self) -> None:
        """Forget every time given."""
        for name in list(self._due):
            self.cancel_timer(name)

    async def wait(self, name: str, *, limit: float) -> bool:
        """Wait until every run of `name` asked for by now is over; `False` when `limit` seconds are."""
        end = time.monotonic() + limit
        runs = 1 + (name in self._again)
        while runs and (task := self._running.get(name)) is not None:
            left = max(0.0, end - time.monotonic())
            done, _ = await asyncio.wait([task], timeout=None if left == math.inf else left)
            if not done:
                return False
            runs -= 1
        return True

    async def wait_for_requested(self, *, but: str | None = None) -> None:
        """Wait until every run asked for by now is over, `but` one job's, and for no later one."""
        for name in [name for name in self._running if name != but]:
            await self.wait(name, limit=math.inf)

    async def drain(self, *, but: str | None = None) -> None:
        """Wait until nothing runs and nothing is waiting to run, `but` one job.

        What runs goes on where the caller is cancelled.
        """
        while running := [task for name, task in self._running.items() if name != but]:
            await asyncio.wait(running)

    def cancel_running(self) -> None:
        """Cancel what runs; what it leaves stays pending. `drain` waits for its calls in worker threads."""
        self._again.clear()
        for scope in self._scopes.values():
            scope.cancel()

    async def _run(self, name: str, job: Job) -> None:
        try:
            with self._scopes[name]:
                await job()
        except TierMemError as error:
            self.note([f"{name} failed and stays pending: {error}"])
        except Exception as error:  # noqa: BLE001  # noted, and logged as an error
            self.note([f"{name} failed and stays pending: {unexpected(error, name)}"])
        finally:
            del self._running[name], self._scopes[name]
        if name in self._again:
            self.start(name, self._again.pop(name))

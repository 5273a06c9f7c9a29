"""Lets many threads share one fsync: the first thread serves all that wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition
from typing import Generic, TypeVar


@dataclass(slots=True, eq=False, kw_only=True)
class Job:
    """One thread's wish. `error` tells why it was not granted."""

    done: bool = False
    error: BaseException | None = None


J = TypeVar("J", bound=Job)


class GroupCommit(Generic[J]):
    """Gathers jobs and hands them to `serve` in order, one group at a time."""

    def __init__(self, serve: Callable[[list[J]], None]) -> None:
        self._serve = serve
        self._waiting: list[J] = []
        self._busy = False
        self._turn = Condition()

    def submit(self, job: J) -> None:
        """Return once the job is served; raises its error."""
        with self._turn:
            self._waiting.append(job)
            while self._busy and not job.done:
                self._turn.wait()
            if not job.done:
                self._busy = True
                group, self._waiting = self._waiting, []
        if not job.done:
            self._lead(group)
        if job.error is not None:
            raise job.error

    @contextmanager
    def alone(self) -> Iterator[None]:
        """No caller is served in the meantime."""
        with self._turn:
            while self._busy:
                self._turn.wait()
            self._busy = True
        try:
            yield
        finally:
            self._leave()

    def _lead(self, group: list[J]) -> None:
        try:
            self._serve(group)
        except BaseException as error:
            for job in group:
                job.error = job.error or error
            raise
        finally:
            for job in group:
                job.done = True
            self._leave()

    def _leave(self) -> None:
        with self._turn:
            self._busy = False
            self._turn.notify_all()

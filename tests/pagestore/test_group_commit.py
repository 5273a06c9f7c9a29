"""Threads that share one commit: each gets the outcome of its own job."""

from collections.abc import Callable, Collection
from contextlib import suppress
from threading import Thread
from time import sleep

import pytest

from pagestore.errors import Full, InvalidInput, PageStoreError
from pagestore.group_commit import GroupCommit, Job

JOBS = 5


def serve_together(serve: Callable[[list[Job]], None], jobs: list[Job]) -> None:
    """Submit jobs in one group, in order, each in a thread; all are over afterwards."""
    commit = GroupCommit[Job](serve)
    threads = []

    def submit(job: Job) -> None:
        with suppress(PageStoreError):
            commit.submit(job)

    with commit.alone():
        for number, job in enumerate(jobs, 1):
            threads.append(Thread(target=submit, args=(job,)))
            threads[-1].start()
            while len(commit._waiting) < number:
                sleep(0.001)
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("refused", [(), (0,), (1,), (4,), (0, 2, 4), range(JOBS)], ids=str)
def test_a_refused_job_keeps_its_error_when_the_group_fails(refused: Collection[int]) -> None:
    jobs = [Job() for _ in range(JOBS)]
    groups = []

    def serve(group: list[Job]) -> None:
        groups.append(group)
        for number in refused:
            jobs[number].error = InvalidInput(f"job {number}")
        raise Full("the disk is full")

    serve_together(serve, jobs)
    assert groups == [jobs]
    assert all(job.done for job in jobs)
    assert [str(job.error) for job in jobs] == [
        f"job {number}" if number in refused else "the disk is full" for number in range(JOBS)
    ]


def test_a_job_that_is_not_refused_has_no_error() -> None:
    jobs = [Job() for _ in range(JOBS)]

    def serve(group: list[Job]) -> None:
        group[1].error = InvalidInput("job 1")

    serve_together(serve, jobs)
    assert [job.error is None for job in jobs] == [True, False, True, True, True]

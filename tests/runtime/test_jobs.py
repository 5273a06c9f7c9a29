"""Jobs that run after a call returned: one run at a time, and none that was asked for is forgotten."""

from __future__ import annotations

import asyncio
from threading import Event
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tiermem.runtime.jobs import Jobs
from tiermem.writing.values import UnfinishedWork

pytestmark = pytest.mark.anyio


class Counted:
    """A job that waits in its middle until it is let go on."""

    def __init__(self) -> None:
        self.begun = self.ended = 0
        self.on = anyio.Event()

    async def __call__(self) -> None:
        self.begun += 1
        await self.on.wait()
        self.ended += 1


async def test_a_run_asked_for_while_one_is_under_way_follows_it() -> None:
    jobs, job = Jobs(), Counted()
    jobs.start("work", job)
    await anyio.lowlevel.checkpoint()
    assert job.begun == 1
    jobs.start("work", job)
    await anyio.lowlevel.checkpoint()
    assert job.begun == 1, "never two at a time"
    job.on.set()
    await jobs.drain()
    assert (job.begun, job.ended) == (2, 2)


async def test_what_is_asked_for_many_times_meanwhile_runs_once_more() -> None:
    jobs, job = Jobs(), Counted()
    for _ in range(5):
        jobs.start("work", job)
        await anyio.lowlevel.checkpoint()
    job.on.set()
    await jobs.drain()
    assert job.ended == 2
    jobs.start("work", job)
    await jobs.drain()
    assert job.ended == 3


@pytest.mark.unexpected
@pytest.mark.parametrize("error", [ValueError("odd"), AssertionError("odd"), RecursionError("odd")])
async def test_a_run_follows_one_that_failed_in_whatever_way_and_the_failure_is_noted(
    error: Exception,
) -> None:
    jobs, job, on = Jobs(), Counted(), anyio.Event()

    async def fails() -> None:
        await on.wait()
        raise error

    jobs.start("work", fails)
    await anyio.lowlevel.checkpoint()
    jobs.start("work", job)
    on.set()
    job.on.set()
    await jobs.drain()
    assert job.ended == 1
    (problem,) = jobs.problems
    assert type(error).__name__ in problem
    assert "odd" in problem


async def test_waiting_waits_for_the_run_that_follows_as_well() -> None:
    jobs, job = Jobs(), Counted()
    jobs.start("work", job)
    await anyio.lowlevel.checkpoint()
    jobs.start("work", job)
    assert not await jobs.wait("work", limit=0.0)
    job.on.set()
    assert await jobs.wait("work", limit=60.0)
    assert job.ended == 2


async def test_failures_that_tell_of_erased_words_are_kept_no_longer() -> None:
    jobs = Jobs()
    jobs.note(["about the boat", "about the bees"])
    jobs.forget(lambda told: "boat" in told)
    assert jobs.problems == ("about the bees",)


async def test_a_job_that_does_not_look_whether_it_is_due_is_not_begun_before() -> None:
    jobs, job, now = Jobs(), Counted(), asyncio.get_running_loop().time()
    jobs.later(7200.0, "work", job, longest=7200.0)
    jobs.later(7200.0, "looks", job)
    assert [jobs._due[name].when() - now >= 7200.0 for name in ("work", "looks")] == [True, False]
    jobs.cancel_all_timers()


@pytest.mark.parametrize("stage", ["distil", "index", "write-back"])
@pytest.mark.parametrize(
    "reason",
    [
        "ModelUnavailable('off')",
        "IndexUnavailable('connection refused')",
        "BudgetExceeded('1,000 tokens a day')",
        "MalformedReply('no JSON')",
        "unexpected KeyError in summarise: 'turns'",
    ],
)
def test_failures_of_one_kind_are_one_warning(
    stage: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    jobs = Jobs()
    failures = [UnfinishedWork(stage=stage, what=f"p1:{n}", reason=reason) for n in range(12)]
    jobs.note(failures)
    jobs.note(failures)
    assert [
        one.message.partition(" (`stats`")[0] for one in caplog.records if one.levelname == "WARNING"
    ] == [str(failures[0])]
    assert jobs.problems == tuple(map(str, failures))
    other = UnfinishedWork(stage=stage, what="p1:0", reason="Full('no room')")
    jobs.note([other, "indexing failed", "indexing failed"])
    assert [one.message.partition(" (`stats`")[0] for one in caplog.records if one.levelname == "WARNING"][
        1:
    ] == [
        str(other),
        "indexing failed",
    ]
    assert jobs.problems[-2:] == (str(other), "indexing failed")


async def test_a_job_goes_on_where_the_caller_that_waits_for_it_is_cancelled() -> None:
    jobs, job = Jobs(), Counted()
    jobs.start("work", job)
    with anyio.move_on_after(0.01):
        await jobs.drain()
    job.on.set()
    await jobs.drain()
    assert job.ended == 1


async def test_jobs_that_are_cancelled_end_after_their_call_in_a_thread_and_are_not_run_again() -> None:
    jobs, job = Jobs(), Counted()
    begun, on, steps = Event(), Event(), []

    def block() -> None:
        begun.set()
        on.wait(30)
        steps.append("call")

    async def call_in_thread() -> None:
        await anyio.to_thread.run_sync(block)
        await job()

    jobs.start("work", call_in_thread)
    jobs.start("work", call_in_thread)
    await anyio.to_thread.run_sync(begun.wait)
    jobs.cancel_running()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(jobs.drain)
        await anyio.wait_all_tasks_blocked()
        on.set()
    assert (steps, job.begun, job.ended) == (["call"], 1, 0)
    job.on.set()
    jobs.start("work", job)
    await jobs.drain()
    assert job.ended == 1

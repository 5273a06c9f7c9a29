"""Tries again where that may help: after time-outs, lost connections, 429 and 5xx, and nothing else."""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, TypeVar

import anyio

from tiermem.llm.endpoint import ModelOptions

if TYPE_CHECKING:
    from tenacity import RetryCallState
    from tenacity.stop import stop_base

T = TypeVar("T")

log = logging.getLogger("tiermem")


class Transient(Exception):
    """A failure that may pass. `wait` is how long the endpoint asked to be left alone."""

    def __init__(self, message: str, *, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


async def retry(attempt: Callable[[], Awaitable[T]], options: ModelOptions, *, who: str) -> T:
    """The result of the first attempt that succeeds; the last `Transient` when no more are made.

    The log of the process says for whom it is waited, why, and for how long. They end early when the
    endpoint asks for a wait that would go past the deadline, if there is one.
    """
    import tenacity

    backoff = tenacity.wait_random_exponential(multiplier=options.first_wait, max=options.longest_wait)

    def wait(state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        asked = failure.wait if isinstance(failure, Transient) else 0.0
        return asked + backoff(state)

    def tell(state: RetryCallState) -> None:
        failure = state.outcome.exception() if state.outcome else None
        log.warning(
            "%s: %s; trying again in %.1f s (attempt %d of %d)",
            who,
            failure,
            state.upcoming_sleep,
            state.attempt_number + 1,
            options.attempts,
        )

    stops: list[stop_base] = [tenacity.stop_after_attempt(options.attempts)]
    if options.deadline is not None:
        stops.append(tenacity.stop_before_delay(options.deadline))
    retrying = tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception_type(Transient),
        wait=wait,
        stop=tenacity.stop_any(*stops),
        sleep=anyio.sleep,
        before_sleep=tell,
        reraise=True,
    )
    return await retrying(attempt)


def seconds_of_rest(retry_after: str | None) -> float:
    """The wait a `Retry-After` header asks for: seconds or an HTTP date; 0 when it says nothing usable."""
    if retry_after is None:
        return 0.0
    try:
        seconds = float(retry_after)
    except ValueError:
        return _seconds_until(retry_after)
    return max(seconds, 0.0) if math.isfinite(seconds) else 0.0


def _seconds_until(http_date: str) -> float:
    try:
        moment = parsedate_to_datetime(http_date)
    except ValueError:
        return 0.0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((moment - datetime.now(UTC)).total_seconds(), 0.0)

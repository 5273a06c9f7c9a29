"""Runs rows on several processes, and loses neither time nor truth over one that hangs or dies."""

from __future__ import annotations

import faulthandler
import logging
import os
import resource
import socket
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from multiprocessing import get_context
from typing import Any

from tests.torture.harness import Missing, Outcome, Row, Share

HUNG_AFTER = 900
"""Seconds after which a share counts as hung; its process ends itself."""


@dataclass(slots=True)
class Result:
    """A row as it was run."""

    row: Row
    seed: int
    outcome: Outcome = field(default_factory=Outcome)
    seconds: float = 0.0
    cpu: float = 0.0
    missing: str = ""
    cut_short: bool = False
    began: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def held(self) -> bool:
        """Whether it ran and found nothing."""
        return not self.missing and self.outcome.count > 0 and not self.outcome.violations


def run(row: Row, *, seed: int, scale: float, processes: int) -> Result:
    """All shares of a row, `processes` at a time."""
    result, start = Result(row=row, seed=seed), time.monotonic()
    shares = row.shares(seed, scale)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_settle_in) as pool:
        under_way = {pool.submit(measured, row, share) for share in islice(shares, processes)}
        while under_way:
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                _take(result, future)
            result.cut_short = result.cpu > row.minutes * 60 * processes
            if not result.cut_short and not result.missing:
                under_way |= _more(pool, row, shares, len(done), result)
        result.cut_short = result.cut_short and next(shares, None) is not None
    result.seconds = time.monotonic() - start
    return result


def _more(
    pool: ProcessPoolExecutor, row: Row, shares: Iterator[Share], wanted: int, result: Result
) -> set[Future[tuple[Outcome, float, str]]]:
    try:
        return {pool.submit(measured, row, share) for share in islice(shares, wanted)}
    except BrokenProcessPool:
        result.cut_short = True
        return set()


def _take(result: Result, future: Future[tuple[Outcome, float, str]]) -> None:
    try:
        outcome, cpu, missing = future.result()
    except BrokenProcessPool:
        result.outcome.violations["a process of the harness hung or died"] += 1
        return
    result.outcome.add(outcome)
    result.cpu += cpu
    result.missing = result.missing or missing


def measured(row: Row, share: Share) -> tuple[Outcome, float, str]:
    """One share: what it found, its processor time with that of its children, and what it lacked."""
    began = _processor_seconds()
    faulthandler.dump_traceback_later(HUNG_AFTER, exit=True, file=2)
    missing = ""
    try:
        outcome = row.work(share)
    except Missing as error:
        outcome, missing = Outcome(), str(error)
    except Exception as error:  # noqa: BLE001 - whatever escapes a harness is a violation of what it shows
        outcome = Outcome(violations=_escaped(error, share))
    finally:
        faulthandler.cancel_dump_traceback_later()
    return outcome, _processor_seconds() - began, missing


def _escaped(error: Exception, share: Share) -> Counter[str]:
    traceback.print_exc(file=sys.stderr)
    where = traceback.extract_tb(error.__traceback__)[-1]
    told = f"{type(error).__name__} in {where.name}: {str(error)[:80]} (share {share.first})"
    return Counter({told: 1})


def _processor_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def _settle_in() -> None:
    """A worker yields to other work, reaches nobody beyond this machine, takes no settings from outside."""
    os.nice(19)
    faulthandler.enable()
    logging.disable(logging.WARNING)
    for name in [name for name in os.environ if name.startswith(("TIERMEM_", "OPENAI_"))]:
        if name not in ("TIERMEM_SHARED", "TIERMEM_CACHE"):
            del os.environ[name]
    connect = socket.socket.connect

    def loopback_only(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise RuntimeError(f"a harness reached out to {address!r}")
        connect(self, address)

    socket.socket.connect = loopback_only  # type: ignore[method-assign,assignment]  # the switch

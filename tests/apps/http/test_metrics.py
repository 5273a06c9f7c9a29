"""The counts of a server, as Prometheus reads them."""

import asyncio
from contextlib import suppress

import pytest

from tests.apps.http.conftest import Serving
from tiermem.apps.http.metrics import Metrics
from tiermem.apps.http.service import Service

pytestmark = pytest.mark.anyio


def test_the_requests_of_each_operation_are_counted_apart() -> None:
    metrics = Metrics()
    for operation, status, seconds in (("add", 200, 0.05), ("add", 400, 3.0), ("ask", 200, 0.2)):
        metrics.note(operation, status, seconds)
    lines = metrics.text(spaces=0).splitlines()
    assert 'tiermem_requests_total{operation="add",status="200"} 1' in lines
    assert 'tiermem_request_seconds_count{operation="add"} 2' in lines
    assert 'tiermem_request_seconds_sum{operation="add"} 3.050000' in lines
    assert 'tiermem_request_seconds_bucket{operation="add",le="+Inf"} 2' in lines
    assert 'tiermem_request_seconds_bucket{operation="add",le="0.05"} 1' in lines
    assert 'tiermem_request_seconds_count{operation="ask"} 1' in lines


async def test_a_request_that_was_cancelled_is_under_way_no_more(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = asyncio.Event()

    async def is_ready(self: object) -> bool:
        running.set()
        await asyncio.Event().wait()
        return True

    monkeypatch.setattr(Service, "is_ready", is_ready)
    async with serving() as client:
        asked = asyncio.ensure_future(client.get("/ready"))
        await running.wait()
        asked.cancel()
        with suppress(asyncio.CancelledError):
            await asked
        lines = (await client.get("/metrics")).text.splitlines()
    assert "tiermem_requests_under_way 1" in lines, "this request alone"

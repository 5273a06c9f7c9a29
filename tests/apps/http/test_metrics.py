"""The counts of a server, as Prometheus reads them."""

from tiermem.apps.http.metrics import Metrics


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

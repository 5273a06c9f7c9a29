"""Event loops that memories share: forgetting a memory never waits."""

from __future__ import annotations

from threading import Thread

from tiermem.runtime.loop import SharedLoops


def test_forgetting_waits_for_nobody_not_even_for_a_loop_that_is_being_made() -> None:
    """The collector forgets, in whatever thread it runs: also in the one that a new loop begins in."""
    loops, user = SharedLoops(), object()
    loop = loops.take("store", user)
    with loops._lock:
        forgetting = Thread(target=loops.forget, args=("store", user), daemon=True)
        forgetting.start()
        forgetting.join(60)
        assert not forgetting.is_alive()
    assert not loops._loops["store"][1]
    loops.forget("another", user)
    loop.stop()

"""Parts that a process has once: made by the first who asks, given up by the last, not shared by a fork."""

import os
from threading import Event, Thread

import pytest

from tiermem.shared import InUse, SharedByKey


def test_a_part_is_made_once_and_given_up_by_the_last() -> None:
    parts: SharedByKey[list[str]] = SharedByKey()
    first = parts.take("key", "one", lambda: ["made"])
    assert parts.take("key", "two", lambda: ["made again"]) is first
    with pytest.raises(InUse):
        parts.take("key", "three", lambda: ["made anew"], anew=True)
    assert parts.release("key", "one") is None
    assert parts.release("key", "one") is None, "repeating it counts for nothing"
    assert parts.open_parts() == (first,)
    assert parts.release("key", "two") is first
    assert parts.release("key", "two") is None
    assert parts.take("key", "one", lambda: ["made anew"], anew=True) == ["made anew"]


def test_a_part_that_could_not_be_made_is_made_by_the_next_who_asks() -> None:
    parts: SharedByKey[str] = SharedByKey()

    def fail() -> str:
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        parts.take("key", "one", fail)
    assert parts.open_parts() == ()
    assert parts.take("key", "two", lambda: "made") == "made"
    assert parts.release("key", "two") == "made"


def test_releasing_a_part_does_not_wait_while_another_is_made() -> None:
    parts: SharedByKey[bool] = SharedByKey()
    begun, released = Event(), Event()

    def slow() -> bool:
        begun.set()
        return released.wait(60)

    parts.take("quick", "one", lambda: True)
    making = Thread(target=parts.take, args=("slow", "one", slow), daemon=True)
    making.start()
    assert begun.wait(60)
    assert parts.release("quick", "one")
    released.set()
    making.join(60)
    assert parts.release("slow", "one"), "it was released only when the other was made"


def test_a_part_of_which_all_users_were_forgotten_is_for_the_next_one() -> None:
    """The collector forgets, in whatever thread it runs: also in the one in which a part is made."""
    parts: SharedByKey[str] = SharedByKey()
    parts.take("key", "one", lambda: "made")
    with parts._making, parts._using:
        forgetting = Thread(target=parts.forget, args=("key", "one"), daemon=True)
        forgetting.start()
        forgetting.join(60)
        assert not forgetting.is_alive()
    parts.forget("another", "one")
    assert parts.take("key", "two", lambda: "made again") == "made"
    assert parts.release("key", "two") == "made"


@pytest.mark.filterwarnings("ignore:.*multi-threaded")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_makes_parts_of_its_own_also_where_locks_were_held() -> None:
    parts: SharedByKey[int] = SharedByKey()
    parts.take("key", "one", os.getpid)
    with parts._making, parts._using:
        child = os.fork()
        if child == 0:
            os._exit(0 if parts.take("key", "two", os.getpid) == os.getpid() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert parts.take("key", "two", os.getpid) == os.getpid()

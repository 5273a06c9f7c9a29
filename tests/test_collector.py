"""The collector of garbage is off while much is made that is kept, and as it was afterwards."""

import gc

import pytest

import tiermem
from tiermem.collector import pause_collector
from tiermem.embedding.hashed import HashEmbedder


def test_the_collector_is_off_inside_and_on_afterwards_also_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        _fail_with_the_collector_off()
    assert gc.isenabled()


def _fail_with_the_collector_off() -> float:
    with pause_collector():
        with pause_collector():
            assert not gc.isenabled()
        assert not gc.isenabled(), "the inner one found it off, and leaves it off"
        return 1 / 0


def test_a_program_that_turned_the_collector_off_finds_it_off() -> None:
    gc.disable()
    try:
        memory = tiermem.open(":memory:", engine="local", embedder=HashEmbedder())
        memory.add({"speaker": "Ann", "text": "My dog is Biscuit.", "id": "t1"}, session="s1")
        memory.erase(turn="t1", reason="asked to")
        memory.close()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_collector_is_on_after_opening_and_erasing() -> None:
    memory = tiermem.open(":memory:", engine="local", embedder=HashEmbedder())
    assert gc.isenabled()
    memory.add({"speaker": "Ann", "text": "My dog is Biscuit.", "id": "t1"}, session="s1")
    memory.erase(turn="t1", reason="asked to")
    assert gc.isenabled()
    memory.close()

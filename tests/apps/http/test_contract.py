"""What is promised of a memory, promised of one over HTTP: the tests of the API, run against a server.

They are the tests themselves, as they stand in `tests/api`, with `open_memory` giving memories over HTTP.
"""

import inspect
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import tiermem
from tests.api.conftest import OpenMemory, build_dialogue_store

MODULES = (
    "test_steps",
    "test_memory",
    "test_remember",
    "test_feedback",
    "test_metadata",
    "test_taken_back",
    "test_asked_at",
)
FIXTURES = {"open_memory", "memory", "tmp_path"}
INSIDE = ("._async", "._call", "._opened")
"""What a test names that looks into a memory of this process."""
LOCAL = {
    "a_question_that_is_stopped_by_its_steps_leaves_no_answer": "a server may have answered by then",
    "a_page_that_is_left_out_is_told_by_a_last_step": "breaks a part of this process",
    "deleting_the_index_and_reindexing_gives_the_same_search": "removes the index of a store that is closed",
    "a_space_can_be_read_while_another_writes_it": "is about two openings of one directory",
    "memory_in_memory_leaves_nothing_behind": "is about a memory without a directory",
    "an_answer_is_judged_by_itself_or_by_its_id": "looks at the log of a memory of this process",
    "erasing_the_words_takes_outcome_and_weight": "looks at the log of a memory of this process",
    "what_cannot_be_judged_is_refused_and_not_recorded": "looks at the log of a memory of this process",
}
"""Tests that are about a memory of this process, and why."""


def shared() -> Iterator[tuple[str, Any]]:
    """The tests that go through `open_memory` alone."""
    for module in MODULES:
        for name, test in vars(import_module(f"tests.api.{module}")).items():
            promise = name.removeprefix("test_")
            if promise == name or promise in LOCAL or not inspect.isfunction(test):
                continue
            taken = set(inspect.signature(test).parameters) - filled_in(test)
            if taken & {"open_memory", "memory"} and taken <= FIXTURES and not looks_inside(test):
                yield f"test_{module.removeprefix('test_')}_{promise}", test


def filled_in(test: Any) -> set[str]:
    """What parameters a test is given by its marks."""
    marks = (mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize")
    names = (mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0] for mark in marks)
    return {name.strip() for each in names for name in each}


def looks_inside(test: Any) -> bool:
    """Whether a test looks into a memory of this process."""
    return any(name in inspect.getsource(test) for name in INSIDE)


@pytest.fixture
def open_memory(open_remote: OpenMemory) -> OpenMemory:
    return open_remote


@pytest.fixture(scope="module")
def dialogue_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("dialogue") / "store"
    build_dialogue_store(store)
    return store


@pytest.fixture
def memory(open_memory: OpenMemory, dialogue_store: Path, tmp_path: Path) -> tiermem.Memory:
    shutil.copytree(dialogue_store, tmp_path / "store")
    return open_memory()


SHARED = dict(shared())
globals().update(SHARED)


def test_most_of_what_is_promised_is_promised_over_http() -> None:
    assert len(SHARED) > 50

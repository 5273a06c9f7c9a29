"""A function is a language model."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

import tiermem
from tiermem.errors import InvalidInput, ModelUnavailable
from tiermem.llm.interface import Call

LINES: dict[str, Any] = {"compose": {"answer": "in Porto", "cited": [0]}, "distil": {"facts": []}}


def in_json(call: Call) -> str:
    return json.dumps(LINES[call.role])


def as_value(call: Call) -> dict[str, Any]:
    line: dict[str, Any] = LINES[call.role]
    return line


async def awaited(call: Call) -> str:
    return in_json(call)


class Client:
    def chat(self, call: Call) -> str:
        return in_json(call)


def ask(model: Any, **options: Any) -> tiermem.Answer:
    with tiermem.open(":memory:", embedder="hashed", model=model, **options) as memory:
        memory.add("I am in Porto.", speaker="Ann")
        return memory.ask("Where is Ann?")


@pytest.mark.parametrize(
    "model", [in_json, as_value, awaited, Client().chat, lambda call: json.dumps(as_value(call))]
)
def test_a_function_answers(model: Any) -> None:
    answer = ask(model)
    assert (answer.text, len(answer.citations)) == ("in Porto", 1)
    assert answer.trace.engine == f"model:{model.__name__}"
    assert answer.usage.calls == 1


def test_a_plain_function_does_not_run_where_others_are_awaited() -> None:
    threads: list[threading.Thread] = []

    def model(call: Call) -> str:
        threads.append(threading.current_thread())
        return in_json(call)

    async def on_loop(call: Call) -> str:
        threads.append(threading.current_thread())
        return in_json(call)

    ask(model)
    ask(on_loop)
    assert "worker" in threads[0].name.lower()
    assert "worker" not in threads[-1].name.lower()


def test_the_same_function_opens_the_same_space_again(tmp_path: Any) -> None:
    with tiermem.open(tmp_path, embedder="hashed", model=in_json) as first:
        first.add("I am in Porto.", speaker="Ann")
        with tiermem.open(tmp_path, embedder="hashed", model=in_json) as second:
            assert second.stats().turns == 1
        with pytest.raises(InvalidInput, match="model is another object there"):
            tiermem.open(tmp_path, embedder="hashed", model=as_value)


def test_what_a_function_raises_is_the_error_of_the_question() -> None:
    def model(call: Call) -> str:
        raise ModelUnavailable("the client is offline")

    with pytest.raises(ModelUnavailable, match="the client is offline"):
        ask(model)


@pytest.mark.parametrize("given", [7, dict, Client, Client()])
def test_what_is_neither_a_name_nor_a_model_nor_a_function_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInput, match="model must be a name, a function, or an object"):
        ask(given)

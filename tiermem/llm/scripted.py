"""Language models that know their lines: for tests, and for trying a pipeline without a model.

They check budgets and pay like a real model, with tokens estimated from the words.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any

from anyio import to_thread

from tiermem.errors import ModelUnavailable, TierMemError, describe_error
from tiermem.llm.interface import Call, Reply, Role
from tiermem.llm.meter import check_budget, pay
from tiermem.llm.wire import estimated_tokens
from tiermem.model import Usage

Line = str | dict[str, Any] | list[Any] | Exception
"""What is said: text as it is, an object as JSON, an exception by raising it."""


ModelFunction = Callable[[Call], Line | Awaitable[Line]]
"""A function, also an `async def`, that is given a call and returns the reply."""


class FunctionModel:
    """Answers each call with what a function makes of it. `calls` keeps all calls, in order.

    With `in_thread` the function runs in a worker thread, as one that waits for a network has to.
    """

    def __init__(self, answer: ModelFunction, *, name: str = "scripted", in_thread: bool = False) -> None:
        self.calls: list[Call] = []
        self._answer = answer
        self._name = name
        self._in_thread = in_thread

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionModel) and (self._answer, self._name) == (other._answer, other._name)

    def __hash__(self) -> int:
        return hash((self._answer, self._name))

    def model_for(self, role: Role) -> str:
        """The same name for every role."""
        return self._name

    async def complete(self, call: Call) -> Reply:
        """The function's line, paid for; an exception is raised."""
        check_budget()
        self.calls.append(call)
        line = await to_thread.run_sync(self._answer, call) if self._in_thread else self._answer(call)
        if isawaitable(line):
            line = await line
        if isinstance(line, Exception):
            raise line
        text = line if isinstance(line, str) else json.dumps(line)
        usage = Usage(
            calls=1,
            input_tokens=estimated_tokens([message.content for message in call.messages]),
            output_tokens=estimated_tokens([text]),
        )
        pay(usage, prompt=call.prompt, model=self._name)
        return Reply(text=text, usage=usage, model=self._name)

    async def close(self) -> None:
        """Nothing to close."""


class CallerModel(FunctionModel):
    """A function that a caller gave as a model.

    A call in which it raises counts as failed, and is `ModelUnavailable`.
    """

    def unpriced_models(self) -> tuple[str, ...]:
        """Its own name: what a call costs is unknown."""
        return (self._name,)

    async def complete(self, call: Call) -> Reply:
        """The function's reply, paid for. Raises `ModelUnavailable`, or the `TierMemError` that it raises."""
        check_budget()
        try:
            return await super().complete(call)
        except TierMemError:
            self._pay_failed(call)
            raise
        except Exception as error:
            self._pay_failed(call)
            raise ModelUnavailable(f"the model {self._name!r} raised {describe_error(error)}") from error

    def _pay_failed(self, call: Call) -> None:
        pay(Usage(calls=1, failed=1), prompt=call.prompt, model=self._name)


class ScriptedModel(FunctionModel):
    """Plays (prompt name, line) pairs in order; any other call is an `AssertionError` that says so."""

    def __init__(self, *script: tuple[str, Line], name: str = "scripted") -> None:
        super().__init__(self._next_line, name=name)
        self._script = deque(script)

    def _next_line(self, call: Call) -> Line:
        prompt = call.prompt.partition("@")[0]
        if not self._script:
            raise AssertionError(f"unscripted call to {prompt!r}: the script is over")
        expected, line = self._script.popleft()
        if prompt != expected:
            raise AssertionError(f"the script expects {expected!r} here, and {prompt!r} was asked")
        return line

    def finish(self) -> None:
        """Raise `AssertionError` when lines are left that were never asked for."""
        if self._script:
            raise AssertionError(f"never asked: {[prompt for prompt, _ in self._script]}")

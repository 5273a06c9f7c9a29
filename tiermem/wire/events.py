"""What an operation tells while it runs, as events and back: each is what one of its callbacks is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tiermem.model import AskStep
from tiermem.wire.operations import WireOperation
from tiermem.wire.values import plain, read_as

Tell = Callable[[str, Any], None]
"""Is given the name of an event and what it says, as JSON has it."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A callback that operations take, by its name; the event; what it is given as JSON, and back."""

    parameter: str
    event: str
    given: Callable[..., Any]
    taken: Callable[[Any], tuple[Any, ...]]

    def callback(self, tell: Tell) -> Callable[..., None]:
        """A callback that tells what it is given as events."""

        def call(*given: Any) -> None:
            tell(self.event, self.given(*given))

        return call


def _numbers(done: int, known: int) -> Mapping[str, int]:
    return {"done": done, "known": known}


TELLINGS = (
    Telling("progress", "progress", _numbers, lambda value: (value["done"], value["known"])),
    Telling("on_step", "step", plain, lambda value: (read_as(AskStep, value),)),
)


def telling(operation: WireOperation) -> Telling | None:
    """How an operation tells of itself while it runs; `None` where it does not."""
    return next((one for one in TELLINGS if one.parameter in operation.hints), None)

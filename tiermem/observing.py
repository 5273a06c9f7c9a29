"""What of the work others may watch as it begins and ends: public calls of a memory, and calls of models.

Nothing is reported unless `observe` is called, and then no text but the results of calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Protocol

Done = Callable[[object], None]
"""Called with what came of a call that did not raise."""


class Observer(Protocol):
    """Whose contexts are around each call; they see what it raises, and must raise nothing of their own."""

    def memory_called(self, name: str, space: str | None) -> AbstractContextManager[Done]:
        """Around the public method of this name, of a memory of this space (`None`: it is closed)."""
        ...

    def model_called(
        self, role: str, model: str, *, max_tokens: int, temperature: float
    ) -> AbstractContextManager[Done]:
        """Around one request to a model, whose `Reply` comes of it."""
        ...


_observers: list[Observer] = []


def observe(observer: Observer) -> Callable[[], None]:
    """Have an observer watch every memory of this process from now on; what is returned ends that."""
    _observers.append(observer)

    def end() -> None:
        if observer in _observers:
            _observers.remove(observer)

    return end


@contextmanager
def enter_observers(around: Callable[[Observer], AbstractContextManager[Done]]) -> Iterator[Done]:
    """Inside the contexts of all observers; what is yielded is to be called with what came of it."""
    with ExitStack() as each:
        watching = [each.enter_context(around(observer)) for observer in tuple(_observers)]

        def done(result: object) -> None:
            for one in watching:
                one(result)

        yield done

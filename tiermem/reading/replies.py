"""Notes usable replies: a model without any is an error, not a memory that holds no answer."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeVar

from tiermem.errors import MalformedReply
from tiermem.reasoning import Engine

P = ParamSpec("P")
T = TypeVar("T")


@dataclass
class Replies:
    """Notes whether any reply to one question could be used, and keeps the first malformed one.

    Decisions of a router do not count: one that cannot be read escalates.
    """

    has_usable: bool = False
    malformed: MalformedReply | None = None

    def observe_replies(self, engine: Engine) -> Engine:
        """The same engine, with its replies noted here."""
        return replace(
            engine,
            compose=None if engine.compose is None else self._observe_replies_of(engine.compose),
            integrate=None if engine.integrate is None else self._observe_replies_of(engine.integrate),
            plan=None if engine.plan is None else self._observe_replies_of(engine.plan),
        )

    def check_usable(self) -> None:
        """Raise the malformed reply if no reply could be used."""
        if self.malformed is not None and not self.has_usable:
            raise self.malformed

    def _observe_replies_of(
        self, judge: Callable[P, Coroutine[Any, Any, T]]
    ) -> Callable[P, Coroutine[Any, Any, T]]:
        async def call(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                reply = await judge(*args, **kwargs)
            except MalformedReply as error:
                self.malformed = self.malformed or error
                raise
            self.has_usable = True
            return reply

        return call

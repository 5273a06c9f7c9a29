"""Counts usable replies: a model without any is an error, not a memory that holds no answer."""

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
    """Counts the usable replies to one question, and keeps the first malformed one.

    Decisions of a router are not counted: one that cannot be read escalates.
    """

    usable: int = 0
    malformed: MalformedReply | None = None

    @property
    def has_usable(self) -> bool:
        """Whether any reply could be used."""
        return self.usable > 0

    def count_replies(self, engine: Engine) -> Engine:
        """The same engine, with its replies counted here."""
        return replace(
            engine,
            compose=self._count_replies_of(engine.compose),
            integrate=self._count_replies_of(engine.integrate),
            plan=self._count_replies_of(engine.plan),
        )

    def check_usable(self) -> None:
        """Raise the malformed reply if no reply could be used."""
        if self.malformed is not None and not self.has_usable:
            raise self.malformed

    def _count_replies_of(
        self, judge: Callable[P, Coroutine[Any, Any, T]]
    ) -> Callable[P, Coroutine[Any, Any, T]]:
        async def call(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                reply = await judge(*args, **kwargs)
            except MalformedReply as error:
                self.malformed = self.malformed or error
                raise
            self.usable += 1
            return reply

        return call

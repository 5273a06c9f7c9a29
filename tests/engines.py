"""An engine for tests: whatever judgement a test does not give fails loudly when it is asked for."""

from collections.abc import Awaitable, Callable
from typing import Any

from tiermem.reasoning import Engine
from tiermem.reasoning.interface import Compose

JUDGEMENTS = ("distil", "route", "integrate", "plan", "compose", "select", "reconcile")


def engine(*, name: str = "test", free: bool = True, best_first: bool = False, **judgements: Any) -> Engine:
    """The judgements given (`route=None`: nobody is asked beforehand); the others fail when asked."""
    given = {judgement: _unasked(judgement) for judgement in JUDGEMENTS} | judgements
    return Engine(name=name, free=free, best_first=best_first, **given)


def compose_of(engine: Engine) -> Compose:
    """What words the answers of an engine that has one to do it."""
    assert engine.compose is not None
    return engine.compose


def _unasked(judgement: str) -> Callable[..., Awaitable[Any]]:
    async def fail(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError(f"{judgement!r} was asked, and this test gives no such judgement")

    return fail

"""The steps of a question, reported to a callback as they are done: parts of the trace, early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tiermem.llm.meter import current
from tiermem.model import AskStep, AskStepName

OnStep = Callable[[AskStep], None]


class Steps:
    """Reports the steps of one question to `on_step`, if there is one."""

    def __init__(self, on_step: OnStep | None = None) -> None:
        self._on_step = on_step

    def done(self, name: AskStepName, **parts: Any) -> None:
        """Report that a step is done, with its parts of the trace and the usage so far."""
        if self._on_step is not None:
            meter = current()
            usage = meter.by_step() if meter is not None else ()
            self._on_step(AskStep(name=name, usage=usage, **parts))

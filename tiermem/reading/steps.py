"""The steps of a question, told as they are done to whoever wants to know: parts of the trace, early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tiermem.llm.meter import current
from tiermem.model import AskStep, AskStepName

OnStep = Callable[[AskStep], None]


class Steps:
    """Tells of the steps of one question; without anybody to tell, nothing."""

    def __init__(self, on_step: OnStep | None = None) -> None:
        self._on_step = on_step

    def done(self, name: AskStepName, **parts: Any) -> None:
        """Tell that a step is done, with what the trace will hold of it, and what was used by now."""
        if self._on_step is not None:
            meter = current()
            usage = meter.by_step() if meter is not None else ()
            self._on_step(AskStep(name=name, usage=usage, **parts))

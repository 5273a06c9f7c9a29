"""Python's collector of garbage, which looks at all that is held again and again while much is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collector() -> Iterator[None]:
    """Inside, the process collects no garbage in cycles: for steps that make much of which all is kept.

    It waits for a moment, and is collected afterwards; a collector that is off stays off.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

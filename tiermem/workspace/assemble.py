"""In which order what is held is shown: the newest first, what matters most first, or both weighed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from tiermem.workspace.items import Item, faded_importance

Order = Literal["recent", "important", "balanced"]
"""`recent`: what was used last comes first. `important`: what matters most. `balanced`: what matters most by
now, where importance halves in an hour.
"""


def order_items(items: Sequence[Item], order: Order, now: datetime) -> tuple[Item, ...]:
    """Items, given in the order of their use, as they are to be shown; of equal ones the newest first."""
    newest = tuple(reversed(items))
    if order == "recent":
        return newest
    if order == "important":
        return tuple(sorted(newest, key=lambda item: -item.importance))
    return tuple(sorted(newest, key=lambda item: -faded_importance(item, now)))

"""The reward of TierMem's Eq. 1 with the coefficients of its Table 11, and as a plugin of ms-swift.

This file stands alone, on the standard library: ms-swift imports it by its path (`external_plugins`), and it
registers `tiermem_router` there. What it reads of a reply is what a router of TierMem is read for: one JSON
object with an `action`, "S" or "R".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Literal

Choice = Literal["S", "R"]
"""S: answer from what was recalled. R: read the raw pages."""

CORRECT_REWARD: Final = 1.0
WRONG_PENALTY: Final = -1.5
COST_S: Final = 0.0
COST_R: Final = 0.1
WASTE_R: Final = 0.4
FORMAT_ERROR_PENALTY: Final = -1.0
NAME: Final = "tiermem_router"
"""What `reward_funcs` calls it."""


def reward(choice: Choice | None, *, c_s: bool, c_r: bool) -> float:
    """What a choice is worth where the answer from summaries is right or not, and that from the pages.

    `None` is a reply that makes no choice. Reading the pages costs, and is waste where summaries suffice.
    """
    if choice is None:
        return FORMAT_ERROR_PENALTY
    if choice == "S":
        return _accuracy(right=c_s) - COST_S
    return _accuracy(right=c_r) - COST_R - (WASTE_R if c_s else 0.0)


def _accuracy(*, right: bool) -> float:
    return CORRECT_REWARD if right else WRONG_PENALTY


def choice_in(completion: str) -> Choice | None:
    """What a reply chooses: the `action` of the JSON object that it is; `None` where it is not in form."""
    try:
        reply = json.loads(completion)
    except ValueError:
        return None
    action = reply.get("action") if isinstance(reply, dict) else None
    return action if action in ("S", "R") else None


class RouterReward:
    """A reward function of ms-swift; `c_s` and `c_r` are columns of the data, an entry a completion."""

    def __call__(
        self, completions: Sequence[str], c_s: Sequence[bool], c_r: Sequence[bool], **_: Any
    ) -> list[float]:
        """The reward of each completion."""
        rows = zip(completions, c_s, c_r, strict=True)
        return [reward(choice_in(text), c_s=bool(s), c_r=bool(r)) for text, s, r in rows]


def register() -> bool:
    """Make it known to ms-swift; `False` where ms-swift is not installed."""
    if find_spec("swift") is None or find_spec("swift.plugin") is None:
        return False
    import_module("swift.plugin").orms[NAME] = RouterReward
    return True


register()

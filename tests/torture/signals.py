"""The row on what is folded of outcomes: whatever happens, weights are what the records left say."""

from __future__ import annotations

import anyio

from tests.torture.harness import Outcome, Row, Share
from tests.writing.judging import life


def judged_lives(share: Share) -> Outcome:
    """Random lives of outcomes among merges, corrections, withdrawals and erasures."""
    outcome = Outcome()
    for number in share.cases:
        seen = anyio.run(life, number)
        outcome.count += 1
        if wrong := seen.pop("wrong"):
            outcome.violations[f"life {number}: a weight, or an outcome of what is erased"] += wrong
        outcome.seen.update(seen)
    return outcome


ROWS = (
    Row(
        name="judged-lives",
        failure="a weight that its records do not bear out",
        done="random lives of outcomes, judged again, of units merged, corrected, withdrawn, reinstated and "
        "erased, by a clock that goes back; after each step every weight is worked out anew from the records",
        unit="lives",
        count=2_000,
        share=50,
        work=judged_lives,
    ),
)

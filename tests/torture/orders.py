"""The row on orders and lies hidden in what tools and web pages say."""

from __future__ import annotations

import anyio

from tests.injections.attack import ENGINES, run
from tests.injections.cases import Attack, made, written
from tests.torture.harness import Outcome, Row, Share

MADE = 500
FAILURES = {
    "raised": "a unit was trusted more than what it rests on",
    "superseded": "what a more trusted source said was superseded",
    "crossed": "another space was shown",
    "reached": "an answer from trusted sources rests on a lie",
}


def attacks(share: Share) -> Outcome:
    """Every attack meets the local engine and a gullible model that does what it reads."""
    chosen = [_attacks()[number // len(ENGINES)] for number in share.cases]
    outcome = Outcome(count=share.count)
    for at, engine in enumerate(ENGINES):
        mine = tuple(one for n, one in zip(share.cases, chosen, strict=True) if n % len(ENGINES) == at)
        total = anyio.run(run, mine, engine)
        outcome.seen["units"] += total["units"]
        for name, told in FAILURES.items():
            if total[name]:
                outcome.violations[f"{told} ({engine})"] += total[name]
    return outcome


def _attacks() -> tuple[Attack, ...]:
    return (*written(), *made(MADE))


ROWS = (
    Row(
        name="injections",
        failure="stored injection",
        done=f"{len(written())} attacks written by hand and {MADE} made, each on the local engine and on a "
        "gullible model",
        unit="attacks",
        count=len(ENGINES) * (len(written()) + MADE),
        share=40,
        work=attacks,
        minutes=12,
    ),
)

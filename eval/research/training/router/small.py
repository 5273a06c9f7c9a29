"""The small policy from files of outcomes: compared on other conversations, or learned from all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eval.research.training.router.compare import SEEDS, compare, logged, seen
from eval.research.training.router.learn import by_reward, supervised
from eval.research.training.router.page import Compared
from eval.research.training.router.policy import RouterPolicy
from eval.research.training.router.rows import Row
from tiermem.errors import InvalidInput


async def compared(files: Sequence[Sequence[Row]]) -> list[Compared]:
    """What every way to route comes to on each file. `InvalidInput` where there is too little to learn."""
    found = []
    for rows in files:
        if len({row.case for row in rows}) < 2:
            raise InvalidInput("a policy is measured on other conversations than it learns from: bring two")
        of = await seen(rows)
        try:
            found.append(Compared(rows=of.rows, ways=compare(of)))
        except ValueError as error:
            raise InvalidInput(f"too little to learn a router from: {error}") from error
    return found


async def learned_policy(rows: Sequence[Row]) -> RouterPolicy:
    """By labels, then by reward, from every conversation. `InvalidInput` where there is too little."""
    of = await seen(rows)
    try:
        known = logged(of, np.ones(len(of.rows), bool))
        learned = by_reward(supervised(known), known, seed=SEEDS[0])
    except ValueError as error:
        raise InvalidInput(f"too little to learn a router from: {error}") from error
    return RouterPolicy(
        bias=learned.bias,
        weights=learned.weights,
        embedder=rows[0].origin.embedder,
        turns=any(one.source == "turn" for row in rows for one in row.recalled),
        trained_on=tuple(dict.fromkeys(row.origin.dataset for row in rows)),
    )

"""The engine whose every judgement is made by rules: no model, no network, the same answer every time."""

from __future__ import annotations

from functools import partial
from typing import Final

from tiermem.reasoning.interface import Engine
from tiermem.reasoning.rules.compose import compose
from tiermem.reasoning.rules.distil import distil
from tiermem.reasoning.rules.integrate import integrate
from tiermem.reasoning.rules.plan import plan
from tiermem.reasoning.rules.reconcile import reconcile
from tiermem.reasoning.rules.route import route
from tiermem.reasoning.rules.select import select
from tiermem.trust import DEFAULT_TRUST, TrustLevels

NAME: Final = "local"
NAME_WITH_READER: Final = "local with a reader"
"""The names of engines whose units are made by rules; of the second one a reader words the answers."""


def by_rules(trust: TrustLevels = DEFAULT_TRUST) -> Engine:
    """Judges with code alone. It never raises on any text and costs no tokens.

    `trust` are the levels of the evidence: what is said at a lower one replaces nothing said at a higher one.
    """
    return Engine(
        name=NAME,
        distil=distil,
        route=route,
        integrate=integrate,
        plan=plan,
        compose=compose if trust == DEFAULT_TRUST else partial(compose, trust=trust),
        select=select,
        reconcile=reconcile,
        free=True,
    )

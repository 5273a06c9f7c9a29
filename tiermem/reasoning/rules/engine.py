"""The engine whose judgements are made by rules: no model, no network, the same each time."""

from __future__ import annotations

from typing import Final

from tiermem.reasoning.interface import Engine
from tiermem.reasoning.rules.distil import distil
from tiermem.reasoning.rules.integrate import integrate
from tiermem.reasoning.rules.plan import plan
from tiermem.reasoning.rules.reconcile import reconcile
from tiermem.reasoning.rules.select import select

NAME: Final = "local"
NAME_WITH_READER: Final = "local with a reader"
"""The names of engines whose units are made by rules; the second is in stores of earlier versions."""


def by_rules() -> Engine:
    """Judges with code alone; it neither routes nor words answers. It never raises, and costs no tokens."""
    return Engine(
        name=NAME,
        distil=distil,
        route=None,
        integrate=integrate,
        plan=plan,
        compose=None,
        select=select,
        reconcile=reconcile,
        free=True,
    )

"""The engine whose every judgement is asked of a language model."""

from __future__ import annotations

from tiermem.llm.interface import LanguageModel
from tiermem.reasoning.interface import Engine
from tiermem.reasoning.model.compose import ComposeByModel
from tiermem.reasoning.model.distil import DistilByModel
from tiermem.reasoning.model.integrate import IntegrateByModel
from tiermem.reasoning.model.plan import PlanByModel
from tiermem.reasoning.model.reconcile import ReconcileByModel
from tiermem.reasoning.model.route import RouteByModel
from tiermem.reasoning.model.select import SelectByModel


def by_model(model: LanguageModel) -> Engine:
    """Judges through `model`, and is named after the model that distils: who made the units."""
    return Engine(
        name=f"model:{model.model_for('distil')}",
        distil=DistilByModel(model),
        route=RouteByModel(model),
        integrate=IntegrateByModel(model),
        plan=PlanByModel(model),
        compose=ComposeByModel(model),
        select=SelectByModel(model),
        reconcile=ReconcileByModel(model),
    )

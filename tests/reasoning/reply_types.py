"""The reply type of each judgement that is asked of a model."""

from tiermem.reasoning.model.compose import ComposeReply
from tiermem.reasoning.model.distil import DistilReply
from tiermem.reasoning.model.integrate import IntegrateReply
from tiermem.reasoning.model.plan import PlanReply
from tiermem.reasoning.model.reconcile import ReconcileReply
from tiermem.reasoning.model.route import RouteReply
from tiermem.reasoning.model.select import SelectReply

__all__ = [
    "BY_NAME",
    "REPLIES",
    "ComposeReply",
    "DistilReply",
    "IntegrateReply",
    "PlanReply",
    "ReconcileReply",
    "RouteReply",
    "SelectReply",
]

REPLIES = (DistilReply, RouteReply, IntegrateReply, PlanReply, ComposeReply, SelectReply, ReconcileReply)
BY_NAME = {reply.__name__: reply for reply in REPLIES}

__all__ = [
    "BY_NAME",
    "REPLIES",
    "ComposeReply",
    "DistilReply",
    "IntegrateReply",
    "PlanReply",
    "ReconcileReply",
    "RouteReply",
    "SelectReply",
]

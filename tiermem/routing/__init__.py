"""Routing: which tier answers a question. Nothing is read or written here."""

from tiermem.routing.by_reasoner import ByReasoner
from tiermem.routing.fixed import Always, Never
from tiermem.routing.gate import Gate
from tiermem.routing.interface import Router
from tiermem.routing.named import router

__all__ = ["Always", "ByReasoner", "Gate", "Never", "Router", "router"]

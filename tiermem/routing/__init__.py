"""Routing: which tier answers a question. Nothing is read or written here."""

from tiermem.routing.by_reasoner import ByReasoner
from tiermem.routing.fixed import Always, Never
from tiermem.routing.interface import Router

__all__ = ["Always", "ByReasoner", "Never", "Router"]

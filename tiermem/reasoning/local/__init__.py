"""Reasoning without a model: rules over words, dates and people."""

from tiermem.reasoning.local.engine import Local

__all__ = ["Local"]

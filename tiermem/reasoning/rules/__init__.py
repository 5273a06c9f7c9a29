"""The judgements without a model: rules over words, dates and people, one file each."""

from tiermem.reasoning.rules.engine import by_rules

__all__ = ["by_rules"]

"""Systems: TierMem and what it is compared with, each behind the protocols of `eval.types`."""

from eval.systems.registry import Setup, candidates, names

__all__ = ["Setup", "candidates", "names"]

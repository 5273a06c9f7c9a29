"""Datasets: one file each, all behind the `Dataset` protocol of `eval.types`."""

from eval.datasets.locomo import LoCoMo
from eval.datasets.longmemeval import LongMemEval

__all__ = ["LoCoMo", "LongMemEval"]

"""Datasets: one file each, all behind the `Dataset` protocol of `eval.types`."""

from eval.datasets.chosen import Chosen
from eval.datasets.locomo import LoCoMo
from eval.datasets.longmemeval import LongMemEval

__all__ = ["Chosen", "LoCoMo", "LongMemEval"]

"""Datasets: one file each, all behind the `Dataset` protocol of `eval.types`."""

from eval.datasets.beam import Beam
from eval.datasets.chosen import Choice, Chosen
from eval.datasets.languages import Languages
from eval.datasets.locomo import LoCoMo
from eval.datasets.longmemeval import LongMemEval
from eval.datasets.newcomer import Newcomer
from eval.datasets.piled import Piled
from eval.datasets.realtalk import RealTalk
from eval.datasets.renamed import Renamed
from eval.datasets.statements import Statements
from eval.datasets.written import Written

__all__ = [
    "Beam",
    "Choice",
    "Chosen",
    "Languages",
    "LoCoMo",
    "LongMemEval",
    "Newcomer",
    "Piled",
    "RealTalk",
    "Renamed",
    "Statements",
    "Written",
]

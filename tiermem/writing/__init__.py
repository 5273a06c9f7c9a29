"""The only room that changes memory: observe, distil, project, write back, consolidate, erase."""

from tiermem.salience.propose import NearUnits
from tiermem.writing.consolidate import ELSEWHERE, Consolidator
from tiermem.writing.erase import Erasure, Expiry, Selection
from tiermem.writing.judge import Credit, Judged
from tiermem.writing.projection import Projection
from tiermem.writing.values import (
    Consolidation,
    DistilReport,
    MergedUnits,
    Progress,
    ReinstatedUnit,
    Remembered,
    UnfinishedWork,
    Withdrawn,
    WriteBackReport,
    WriterOptions,
)
from tiermem.writing.writer import Writer

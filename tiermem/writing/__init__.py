"""The only room that changes memory: observe, distil, project, write back, erase."""

from tiermem.writing.erase import Erasure, Selection
from tiermem.writing.judge import Credit, Judged
from tiermem.writing.projection import Projection
from tiermem.writing.values import (
    DistilReport,
    Progress,
    Projected,
    Remembered,
    Restored,
    Unfinished,
    Withdrawn,
    WriteBackReport,
    WriterOptions,
)
from tiermem.writing.writer import Writer

__all__ = [
    "Credit",
    "DistilReport",
    "Erasure",
    "Judged",
    "Progress",
    "Projected",
    "Projection",
    "Remembered",
    "Restored",
    "Selection",
    "Unfinished",
    "Withdrawn",
    "WriteBackReport",
    "Writer",
    "WriterOptions",
]

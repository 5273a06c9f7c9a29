"""The only room that changes memory: observe, distil, project, write back."""

from tiermem.writing.projection import Projection
from tiermem.writing.values import (
    DistilReport,
    Progress,
    Projected,
    Unfinished,
    WriteBackReport,
    WriterOptions,
)
from tiermem.writing.writer import Writer

__all__ = [
    "DistilReport",
    "Progress",
    "Projected",
    "Projection",
    "Unfinished",
    "WriteBackReport",
    "Writer",
    "WriterOptions",
]

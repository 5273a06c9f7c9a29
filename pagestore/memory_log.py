"""The page log in memory: for tests, and for memories that need not outlive the process."""

from __future__ import annotations

from pagestore.files import MemoryFiles
from pagestore.log import DiskLog
from pagestore.options import LogOptions
from pagestore.values import SpaceId

_DEFAULT = SpaceId("default")


class MemoryLog(DiskLog):
    """A `PageLog` that is gone when it is closed: the same log, over files that lie in memory."""

    def __init__(self, space: SpaceId = _DEFAULT, *, options: LogOptions | None = None) -> None:
        super().__init__("memory", space, options=options, files=MemoryFiles())

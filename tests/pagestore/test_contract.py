"""The contracts of `PageLog` and of its `Lines`, kept on disk and in memory."""

from itertools import count
from pathlib import Path

import pytest

from pagestore import DiskLog, MemoryLog, PageLog, SpaceId
from pagestore.lines.files import FileLines
from pagestore.lines.interface import Lines
from pagestore.lines.memory import MemoryLines
from pagestore.testing import LinesContract, PageLogContract, SharedLogContract
from tests.pagestore.memoryfiles import MemoryFiles


class TestMemoryLog(PageLogContract):
    def new_log(self) -> PageLog:
        return MemoryLog()


class TestSharedMemoryLog(SharedLogContract):
    def new_logs(self) -> tuple[PageLog, PageLog]:
        lines = MemoryLines()
        return MemoryLog(lines=lines), MemoryLog(lines=lines.share())


class TestDiskLog(PageLogContract):
    @pytest.fixture(autouse=True)
    def _directory(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.directory: Path = tmp_path_factory.mktemp("logs")
        self.numbers = count()

    def new_log(self) -> PageLog:
        return DiskLog(str(self.directory / str(next(self.numbers))), SpaceId("ann"))


class TestMemoryLines(LinesContract):
    def new_lines(self) -> Lines:
        return MemoryLines()


class TestFileLines(LinesContract):
    def new_lines(self) -> Lines:
        return FileLines(MemoryFiles(), "lines", writable=True, segment_bytes=400)

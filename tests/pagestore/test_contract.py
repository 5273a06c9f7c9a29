"""The contract of `PageLog`, kept on disk and in memory."""

from itertools import count
from pathlib import Path

import pytest

from pagestore import DiskLog, MemoryLog, PageLog, SpaceId
from pagestore.testing import PageLogContract


class TestMemoryLog(PageLogContract):
    def new_log(self) -> PageLog:
        return MemoryLog()


class TestDiskLog(PageLogContract):
    @pytest.fixture(autouse=True)
    def _directory(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.directory: Path = tmp_path_factory.mktemp("logs")
        self.numbers = count()

    def new_log(self) -> PageLog:
        return DiskLog(str(self.directory / str(next(self.numbers))), SpaceId("ann"))

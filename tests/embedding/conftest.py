"""Settings of the embedding tests: copies of weights need not wait for a busy disk."""

from tests.index.conftest import tmp_path

__all__ = ["tmp_path"]

"""Another look at a dataset: its name, its digest and its flaws are those of the whole."""

from __future__ import annotations

from collections.abc import Mapping

from eval.types import Dataset


class DatasetView:
    """What looks at a dataset in another way says by its `cases`."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    @property
    def name(self) -> str:
        """The name of the whole."""
        return self._dataset.name

    @property
    def checksum(self) -> str:
        """The digest of the whole."""
        return self._dataset.checksum

    @property
    def defects(self) -> Mapping[str, int]:
        """The flaws of the whole."""
        return self._dataset.defects

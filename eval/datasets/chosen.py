"""Part of a dataset: some of its conversations, by name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from eval.types import Case, CaseId, Dataset


class Chosen:
    """The cases of `dataset` whose ids are in `wanted`; checksum and flaws are those of the whole."""

    def __init__(self, dataset: Dataset, wanted: Collection[CaseId]) -> None:
        self._dataset = dataset
        self._wanted = frozenset(wanted)

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

    def cases(self) -> Iterator[Case]:
        """The chosen cases, in the order of the whole."""
        return (case for case in self._dataset.cases() if case.id in self._wanted)

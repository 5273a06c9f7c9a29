"""What was erased, and what is announced to be."""

from __future__ import annotations

from collections.abc import Iterable

from tiermem.model import AnswerId


class ErasuresFold:
    """Erasures by the records that announced them; of those that are done, the answers that went."""

    def __init__(self) -> None:
        super().__init__()
        self._erasing: dict[int, None] = {}
        self._erased_answers: set[AnswerId] = set()

    @property
    def erasing(self) -> tuple[int, ...]:
        """The records that announced erasures which are not done, oldest first."""
        return tuple(self._erasing)

    def was_erased(self, answer_id: AnswerId) -> bool:
        """Whether an answer of this id was given, and erased."""
        return answer_id in self._erased_answers

    def announce_erasing(self, seq: int) -> None:
        """Record `seq` announces an erasure."""
        self._erasing[seq] = None

    def finish_erasing(self, seq: int, answers: Iterable[AnswerId]) -> None:
        """The erasure that record `seq` announced is done, and took these answers."""
        self._erasing.pop(seq, None)
        self._erased_answers.update(answers)

"""Turns judged by the small reader that orders lines: how far their best words lead "there is no answer".

No turn is judged by that alone: its score in the search counts as well. Pages are as good as their turns, so
they follow the turns they were found by, and are not judged again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from tiermem.embedding.weights import check_installed
from tiermem.errors import EmbedderUnavailable, InvalidInput, ModelUnavailable
from tiermem.reading.rerank.interface import FoundPage, RerankerRequest
from tiermem.reading.turns import FoundTurn
from tiermem.reasoning.interface import SaidTurn
from tiermem.reasoning.learned.factors import SHIPPED
from tiermem.text.question import Question

if TYPE_CHECKING:
    from tiermem.reasoning.learned.graph import LearnedReader

NAME: Final = "learned"
LEAD: Final = 0.4
"""What a logit of the lead counts beside the score of the search: chosen by `eval.research rerank`."""


class LearnedReranker:
    """Judges turns with the reader in a file, loaded for the first of them.

    Raises `InvalidInput` where there is no such file, or packages are not installed.
    """

    def __init__(self, factors: Path, weights: Path | None = None) -> None:
        self._factors = factors.expanduser()
        self._weights = weights
        self._reader: LearnedReader | None = None
        if not self._factors.is_file():
            raise InvalidInput(
                f"reranker {NAME!r}: no reader at {str(self._factors)!r}; "
                "`python -m eval.research train`, in a checkout, makes one"
            )
        try:
            check_installed()
        except EmbedderUnavailable as error:
            raise InvalidInput(f"reranker {NAME!r}: {error}") from error

    async def score(self, question: Question, found: Sequence[FoundPage]) -> Sequence[float]:
        """See `Reranker.score`: pages keep their order, which is that of the turns they were found by."""
        return [float(-place) for place in range(len(found))]

    async def score_turns(self, question: Question, found: Sequence[FoundTurn]) -> Sequence[float]:
        """See `RanksTurns.score_turns`; `ModelUnavailable` where the reader cannot be loaded or run."""
        try:
            judged = await to_thread.run_sync(self._leads, question.text, [one.said_turn() for one in found])
        except Exception as error:
            raise ModelUnavailable(
                f"the reader in {str(self._factors)!r}: {type(error).__name__}: {error}"
            ) from error
        return [one.score + LEAD * lead for one, lead in zip(found, judged, strict=True)]

    def _leads(self, question: str, turns: Sequence[SaidTurn]) -> list[float]:
        from tiermem.reasoning.learned.pointing import point_at_words
        from tiermem.reasoning.learned.shared import shared_reader

        if self._reader is None:  # two threads at once are given the same one
            self._reader = shared_reader(self._factors, self._weights)
        return [words.lead for words in point_at_words(self._reader, question, turns)]


async def open_learned(request: RerankerRequest) -> LearnedReranker:
    """`learned`: with the reader of the settings, or the one that comes with the package."""
    shipped = request.reader in ("auto", "none")
    return LearnedReranker(SHIPPED if shipped else Path(request.reader), request.weights)

"""A learned reader orders lines: it says which words of the turns that were found are likeliest to answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from anyio import to_thread

from tiermem.embedding.weights import weights_here
from tiermem.errors import InvalidInput
from tiermem.reasoning.interface import Engine, PointedTurns, SaidTurn
from tiermem.reasoning.learned.factors import SHIPPED, read_head, texts_of
from tiermem.reasoning.learned.first_line import FirstLineCalibration, read_first_line, score_turns
from tiermem.text.question import Question

if TYPE_CHECKING:
    from tiermem.reasoning.learned.graph import LearnedReader


@dataclass(frozen=True, slots=True, kw_only=True)
class PointByReader:
    """Scores turns by the search and by how likely their words are to answer.

    `risk` is the share of first lines that may not hold what is asked for, where they are called likely. It
    scores none where the calibration in the reader's file is not for this `embedder`, and where the caller
    `named` no reader and the weights of the shipped one are not on this machine.
    """

    opened: _LazyReader
    risk: float
    embedder: str
    named: bool

    async def __call__(
        self, question: Question, turns: Sequence[SaidTurn], found: Sequence[float]
    ) -> PointedTurns | None:
        """See `PointAtTurns`; `InvalidInput` where the file of the reader is none."""
        if not turns or (not self.named and not self.opened.possible):
            return None
        return await to_thread.run_sync(self._point, question.text, turns, found)

    def _point(self, question: str, turns: Sequence[SaidTurn], found: Sequence[float]) -> PointedTurns | None:
        reader = self.opened.get()
        calibration = self.opened.calibration
        if calibration is None or not calibration.holds_for(self.embedder):
            return None
        try:
            scored = score_turns(reader, question, turns, found)
            probability = calibration.probability(scored.signals)
        except FloatingPointError as error:
            raise _refusal(self.opened.factors, error) from error
        return PointedTurns(
            words=scored.words,
            scores=scored.scores,
            probability=probability,
            is_likely=probability >= calibration.threshold(self.risk),
        )


class _LazyReader:
    """A reader that is loaded when it is first asked, once."""

    def __init__(self, factors: Path, weights: Path | None) -> None:
        self.factors = factors
        self._weights = weights
        self._lock = Lock()
        self._reader: LearnedReader | None = None
        self.calibration: FirstLineCalibration | None = None

    @property
    def possible(self) -> bool:
        """Whether it is loaded, or could be with what this machine has."""
        return self._reader is not None or weights_here(self._weights) is not None

    def get(self) -> LearnedReader:
        """The reader; `InvalidInput` where the file is none, `EmbedderUnavailable` without weights."""
        from tiermem.reasoning.learned.shared import shared_reader

        with self._lock:
            if self._reader is None:
                try:
                    reader = shared_reader(self.factors, self._weights)
                    self.calibration = read_first_line(reader.header)
                    self._reader = reader
                except (OSError, KeyError, ValueError) as error:
                    raise _refusal(self.factors, error) from error
            return self._reader


def _refusal(file: Path, error: Exception) -> InvalidInput:
    """The error for a file that is no reader; it says what to do."""
    return InvalidInput(
        f"{str(file)!r} cannot be opened as a reader ({error}): name the file that "
        "`python -m eval.research train` writes, or choose reader='none'"
    )


def _reader_file(factors: str | Path) -> Path:
    file = Path(factors).expanduser()
    if not file.is_file():
        raise InvalidInput(
            f"no reader at {str(file)!r}: `python -m eval.research train`, in a checkout, makes one; "
            "without it, choose reader='none'"
        )
    return file


def with_reader(
    engine: Engine,
    reader: str,
    *,
    risk: float,
    embedder: str,
    weights: str | Path | None = None,
) -> Engine:
    """The engine with the reader that was chosen to order lines: `none`; `auto`, the one that comes with the
    package, where it is there and its calibration holds for this `embedder`; or the file of one
    (`InvalidInput` where it is not).
    """
    if reader == "none":
        return engine
    named = reader != "auto"
    file = _reader_file(reader) if named else SHIPPED
    if not file.is_file():
        return engine
    try:
        calibration = read_first_line(texts_of(read_head(file)))
    except (OSError, ValueError) as error:
        raise _refusal(file, error) from error
    if calibration is None or not calibration.holds_for(embedder):
        return engine
    opened = _LazyReader(file, None if weights is None else Path(weights).expanduser())
    return replace(engine, point=PointByReader(opened=opened, risk=risk, embedder=embedder, named=named))

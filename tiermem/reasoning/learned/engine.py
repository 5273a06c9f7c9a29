"""The local engine with a learned reader as composer: it answers in words of the turns that were found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from tiermem.embedding.weights import find_weights
from tiermem.errors import InvalidInput
from tiermem.model import Evidence
from tiermem.reasoning.interface import Draft, Engine
from tiermem.reasoning.learned.answering import asks_for_day, point
from tiermem.reasoning.learned.passage import SpokenTurn
from tiermem.reasoning.rules import by_rules
from tiermem.reasoning.rules.compose import extracted

if TYPE_CHECKING:
    from tiermem.reasoning.learned.graph import LearnedReader

_NAME: Final = "local with a reader"
_SPOKEN: Final = re.compile(r"(?P<speaker>[^\n:]{1,80}): (?P<words>.*)", re.DOTALL)
_ABSTAINED: Final = Draft(text="", cited=(), abstained=True, complete=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposeByReader:
    """Points at words of the best turns; silent where their lead over "no answer" is at most `threshold`.

    Where a date is asked for, rules go first: they work it out better.
    """

    opened: _Opened
    threshold: float

    async def __call__(self, question: str, evidence: Sequence[Evidence], *, asked_at: datetime) -> Draft:
        """The words of one turn, or the day that they mean, citing it; or an abstention."""
        if asks_for_day(question) and not (draft := extracted(question, evidence)).abstained:
            return draft
        spoken = [(at, turn) for at, item in enumerate(evidence) if (turn := spoken_turn(item)) is not None]
        reader = await to_thread.run_sync(self.opened.get)
        found = await to_thread.run_sync(point, reader, question, [turn for _, turn in spoken])
        if found is None or found.margin <= self.threshold or not found.text.strip():
            return _ABSTAINED
        return Draft(text=found.text.strip(), cited=(spoken[found.turn][0],), abstained=False)


class _Opened:
    """A reader that is loaded when it is first asked, once."""

    def __init__(self, factors: Path, weights: Path | None) -> None:
        self._factors = factors
        self._weights = weights
        self._lock = Lock()
        self._reader: LearnedReader | None = None

    def get(self) -> LearnedReader:
        """The reader; `InvalidInput` where the file is none, `EmbedderUnavailable` without weights."""
        from tiermem.reasoning.learned.graph import LearnedReader

        with self._lock:
            if self._reader is None:
                try:
                    self._reader = LearnedReader(find_weights(self._weights), self._factors.read_bytes())
                except (OSError, KeyError, ValueError) as error:
                    raise InvalidInput(
                        f"{str(self._factors)!r} cannot be opened as a reader ({error}): name the file that "
                        "`python -m eval train` writes"
                    ) from error
            return self._reader


def by_reader(factors: str | Path, *, weights: str | Path | None = None, threshold: float = 0.0) -> Engine:
    """Judges by rules, and words answers by a reader: `factors` is the file that its training wrote.

    `weights` is the directory of MiniLM's weights, where they are not to be looked for. From `threshold` on
    (a lead in logits) an answer is given; what is below is left unanswered. Raises `InvalidInput` where there
    is no such file.
    """
    file = Path(factors).expanduser()
    if not file.is_file():
        raise InvalidInput(
            f"no reader at {str(file)!r}: `python -m eval train` makes one; without it, choose engine='local'"
        )
    opened = _Opened(file, None if weights is None else Path(weights).expanduser())
    return replace(by_rules(), name=_NAME, compose=ComposeByReader(opened=opened, threshold=threshold))


def spoken_turn(item: Evidence) -> SpokenTurn | None:
    """Evidence as a turn: a turn itself, or the words a unit rests on; `None` for what is neither."""
    text = item.quote or item.text
    found = _SPOKEN.fullmatch(text) if item.source != "page" else None
    if found is None:
        return None
    words = found["words"]
    if item.quote and words.startswith('"') and words.endswith('"'):
        words = words[1:-1]
    return SpokenTurn(speaker=found["speaker"], text=words, said_at=item.said_at)

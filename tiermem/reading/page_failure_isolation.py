"""Going on without the pages on which reading raises an unexpected error.

Where a question raises such an error, the pages it had read are taken in again, halves at a time, and the
ones with which it raises are set aside; then it is asked without them. So it is answered from all that can be
read, whichever step broke and on whatever words, and says what it goes without.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pagestore import PageId
from tiermem.errors import TierMemError, Unexpected, unexpected
from tiermem.model import Degradation
from tiermem.reading.view import View

_T = TypeVar("_T")

_ROUNDS = 3
"""How often a question is asked again over everything else, after pages were set aside."""


@dataclass(frozen=True, slots=True)
class _Failure:
    error: Exception


class PageFailureIsolation:
    """One question over one view. Made for one question, run once."""

    def __init__(self, view: View) -> None:
        self._whole = view
        self.view = view
        self.aside: dict[PageId, str] = {}
        """The pages that this question had to set aside, and why."""

    @property
    def degradations(self) -> tuple[Degradation, ...]:
        """What the question goes without."""
        return tuple(
            Degradation(
                stage="search", reason=f"{type(why).__name__}: {why}", fallback=f"without page {page_id}"
            )
            for page_id, why in self.view.left_out.items()
        )

    async def run(self, work: Callable[[View], Awaitable[_T]]) -> _T:
        """What `work` comes to over all pages on which it does not raise an unexpected error.

        Every try is paid for where a model is asked. Raises `Unexpected` when no page is to blame, and where
        nothing is left to read, since what fails on every page is no fault of theirs.
        """
        failure: _Failure | None = None
        readable: tuple[PageId, ...] = ()
        for _ in range(_ROUNDS):
            result = await _run_or_capture(work, self.view)
            if not isinstance(result, _Failure):
                self._check_read(failure)
                self.aside |= self.view.odd
                return result
            failure, known = failure or result, len(self.aside)
            none = await _run_or_capture(work, self._whole.without(self.aside, only=frozenset()))
            if not isinstance(none, _Failure):
                readable = await self._readable(work, self.view.pages_touched, (), result)
            if len(self.aside) == known:
                raise _as_unexpected(result)
            self.view = self._whole.without(self.aside)
        self.view = self._whole.without(self.aside, only=frozenset(readable))
        result = await _run_or_capture(work, self.view)
        if isinstance(result, _Failure):
            raise _as_unexpected(result)
        self._check_read(failure)
        return result

    def _check_read(self, failure: _Failure | None) -> None:
        """Raise what failed before, where no page was read after it."""
        if failure is not None and not self.view.has_read:
            raise _as_unexpected(failure)

    async def _readable(
        self,
        work: Callable[[View], Awaitable[_T]],
        pages: Sequence[PageId],
        kept: tuple[PageId, ...],
        raised: _Failure,
    ) -> tuple[PageId, ...]:
        """`kept`, and as many of these pages as `work` goes through with; the others are set aside.

        `raised` is what it raised with all of them.
        """
        if len(pages) <= 1:
            self.aside |= {page: unexpected(raised.error, f"reading page {page}") for page in pages}
            return kept
        middle = len(pages) // 2
        for half in (pages[:middle], pages[middle:]):
            seen = self._whole.without(self.aside, only=frozenset((*kept, *half)))
            result = await _run_or_capture(work, seen)
            if isinstance(result, _Failure):
                kept = await self._readable(work, half, kept, result)
            else:
                kept = (*kept, *half)
        return kept


def _as_unexpected(failure: _Failure) -> Unexpected:
    raised = Unexpected(unexpected(failure.error, "asking"))
    raised.__cause__ = failure.error
    return raised


async def _run_or_capture(work: Callable[[View], Awaitable[_T]], view: View) -> _T | _Failure:
    """What `work` comes to, or the unexpected error that it raises. Raises what is expected."""
    try:
        return await work(view)
    except TierMemError:
        raise
    except Exception as error:  # noqa: BLE001  # the caller tells it, or raises `Unexpected`
        return _Failure(error)

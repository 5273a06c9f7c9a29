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
from pagestore.errors import PageStoreError
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
        first: _Failure | None = None
        readable: tuple[PageId, ...] = ()
        for _ in range(_ROUNDS):
            result = await _run_or_capture(work, self.view)
            if not isinstance(result, _Failure):
                if first is not None and not self.view.has_read:
                    raise Unexpected(unexpected(first.error, "asking")) from first.error
                self.aside |= self.view.odd
                return result
            first, known = first or result, len(self.aside)
            none = await _run_or_capture(work, self._whole.without(self.aside, only=frozenset()))
            if not isinstance(none, _Failure):
                readable = await self._readable(work, self.view.touched, (), result)
            if len(self.aside) == known:
                raise Unexpected(unexpected(result.error, "asking")) from result.error
            self.view = self._whole.without(self.aside)
        self.view = self._whole.without(self.aside, only=frozenset(readable))
        last = await _run_or_capture(work, self.view)
        if isinstance(last, _Failure):
            raise Unexpected(unexpected(last.error, "asking")) from last.error
        if first is not None and not self.view.has_read:
            raise Unexpected(unexpected(first.error, "asking")) from first.error
        return last

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


async def _run_or_capture(work: Callable[[View], Awaitable[_T]], view: View) -> _T | _Failure:
    """What `work` comes to, or the unexpected error that it raises. Raises what is expected."""
    try:
        return await work(view)
    except (TierMemError, PageStoreError):
        raise
    except Exception as error:  # noqa: BLE001  # the caller tells it, or raises `Unexpected`
        return _Failure(error)

"""Pages that were read and checked, kept to be given again while nothing of them changed.

The rules:
- A page is kept only as it was when it was checked against its id.
- The newest are kept, up to a number of bytes; what was used least lately goes first.
- Nothing is kept once a line is erased, and nothing of a page on which damage was found.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from pagestore.values import Page, PageId

_LINE = 1_000
"""Bytes that a line of a page takes in addition to its words, about."""
_TEXT = 64
"""Bytes that a text takes in addition to its characters, about."""
_CHARACTER = 2
"""Bytes that a character takes: one to four."""


@dataclass(frozen=True, slots=True)
class _CachedPage:
    page: Page
    state: Hashable
    size: int


class KeptPages:
    """Pages by id. The caller sees to it that one thread is here at a time."""

    def __init__(self, most_bytes: int) -> None:
        """`most_bytes` is what all that is kept may take, as `size_of` tells it; 0 keeps nothing."""
        self._most_bytes = most_bytes
        self._bytes = 0
        self._pages: OrderedDict[PageId, _CachedPage] = OrderedDict()

    def __len__(self) -> int:
        return len(self._pages)

    def get(self, page_id: PageId, state: Hashable) -> Page | None:
        """The page as it was kept in this state; one of another state is forgotten."""
        kept = self._pages.get(page_id)
        if kept is None:
            return None
        if kept.state != state:
            self.forget(page_id)
            return None
        self._pages.move_to_end(page_id)
        return kept.page

    def put_page(self, page: Page, state: Hashable) -> None:
        """Keep a page, which is in this state, and as many others as there is room for."""
        self.forget(page.id)
        size = size_of(page)
        if size > self._most_bytes:
            return
        self._pages[page.id] = _CachedPage(page, state, size)
        self._bytes += size
        while self._bytes > self._most_bytes:
            _, oldest = self._pages.popitem(last=False)
            self._bytes -= oldest.size

    def forget(self, page_id: PageId) -> None:
        """Keep this page no more."""
        kept = self._pages.pop(page_id, None)
        if kept is not None:
            self._bytes -= kept.size

    def forget_all(self) -> None:
        """Keep nothing."""
        self._pages.clear()
        self._bytes = 0


def size_of(page: Page) -> int:
    """About how many bytes of memory a page takes."""
    said = (text for line in page.lines if line.turn is not None for text in line.turn.texts())
    texts = sum(_TEXT + _CHARACTER * len(text) for text in (page.text, *said))
    return _LINE * (1 + len(page.lines)) + texts

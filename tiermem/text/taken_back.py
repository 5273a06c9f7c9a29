"""Pages without the words that were taken back, and what is left of a turn between them.

A gap keeps the room of its words, so that the spans of the others stay true. No quote reaches over one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pagestore import Page, PageLine, Span
from tiermem.model import TakenBack

GAP = "\u2421"
"""Where words were taken back: this, and spaces for the room they took."""
LEFT_OUT = "…"
"""What is shown in place of a gap in a text that is read for an answer."""

Gap = tuple[int, int, tuple[str, ...]]
"""Where words were taken back on a page, and why."""

_GAP = re.compile(f"{GAP}\\s*")


def without(page: Page, taken: Iterable[TakenBack]) -> Page:
    """The page without these words; a turn of which no word is left is withheld like one that was erased."""
    return without_ranges(page, [(start, end) for start, end, _ in join_gaps(taken)])


def without_ranges(page: Page, ranges: Sequence[tuple[int, int]]) -> Page:
    """The page without the words of these ranges, which are in order and do not overlap; as `without`."""
    if not ranges:
        return page
    text, at = "", 0
    for start, end in ranges:
        text += page.text[at:start] + GAP.ljust(end - start)
        at = end
    left = replace(page, text=text + page.text[at:])
    return replace(left, lines=tuple(_without_gaps(left, line, ranges) for line in page.lines))


def _without_gaps(page: Page, line: PageLine, gaps: Sequence[tuple[int, int]]) -> PageLine:
    first = bisect_right(gaps, line.body, key=lambda gap: gap[1])
    if line.turn is None or first == len(gaps) or gaps[first][0] >= line.end:
        return line
    text = remaining(page, line.body, line.end).replace("\n\t", "\n")
    return replace(line, turn=replace(line.turn, text=text) if _says_something(text) else None)


def kept_spans(page: Page, start: int, end: int) -> tuple[Span, ...]:
    """The stretches of this range of the page that hold words which were not taken back; all of it where no
    stretch holds any.
    """
    whole = (Span(page_id=page.id, start=start, end=end),)
    if GAP not in page.text[start:end]:
        return whole
    stretches = tuple(
        Span(page_id=page.id, start=first, end=last)
        for first, last in _between(page.text, start, end)
        if _says_something(page.text[first:last])
    )
    return stretches or whole


def _says_something(text: str) -> bool:
    return any(map(str.isalnum, text))


def _between(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for gap in _GAP.finditer(text, start, end):
        yield at, at + len(text[at : gap.start()].rstrip())
        at = gap.end()
    yield at, end


def remaining(page: Page, start: int, end: int) -> str:
    """The words of this range, as `kept_spans` has them, with an ellipsis between two stretches."""
    return f" {LEFT_OUT} ".join(page.text[span.start : span.end] for span in kept_spans(page, start, end))


def readable(text: str) -> str:
    """Text of a page as it is read for an answer: a bracketed ellipsis for each gap."""
    return _GAP.sub(f"[{LEFT_OUT}] ", text) if GAP in text else text


def mark_taken_back(page: Page, start: int, end: int, taken: Iterable[TakenBack]) -> str:
    """The words of this range, with a mark that tells the reason in place of each that was taken back."""
    text, at = "", start
    for first, last, reasons in join_gaps(taken):
        if start < last and first < end:
            text += page.text[at : max(at, first)] + f"[taken back: {'; '.join(reasons)}]"
            at = min(last, end)
    return text + page.text[at:end]


def join_gaps(taken: Iterable[TakenBack]) -> list[Gap]:
    """Where words were taken back on one page, in order, each place once, with all the reasons for it."""
    places: list[Gap] = []
    for one in sorted(taken, key=lambda one: (one.span.start, one.span.end)):
        start, end = one.span.start, one.span.end
        reasons: tuple[str, ...] = (one.reason,)
        if places and start < places[-1][1]:
            before = places.pop()
            start, end = before[0], max(before[1], end)
            reasons = tuple(dict.fromkeys((*before[2], one.reason)))
        places.append((start, end, reasons))
    return places

"""Pages with some turns withheld.

A turn that is withheld keeps its room on the page, so that the spans of the others stay true.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace
from itertools import compress

from pagestore import Page, PageLine, Turn
from tiermem.text.own_context import without_own_contexts
from tiermem.text.placeholders import is_without_words

_MARK = "[withheld] _:"


def withheld(page: Page, keep: Callable[[PageLine], bool]) -> Page:
    """The page with every turn blanked that is not to be kept."""
    hidden = [line.turn is not None and not keep(line) for line in page.lines]
    if not any(hidden):
        return page
    parts: list[str] = []
    at = 0
    for line in compress(page.lines, hidden):
        length = line.end - line.start
        parts += (page.text[at : line.start], _MARK[:length].ljust(length))
        at = line.end
    kept = (replace(line, turn=None) if hide else line for line, hide in zip(page.lines, hidden, strict=True))
    return replace(page, text="".join((*parts, page.text[at:])), lines=tuple(kept))


def at_least(page: Page, floor: int, rank: Callable[[Turn], int]) -> Page:
    """The page with every turn of a lower rank withheld."""
    return withheld(page, lambda line: line.turn is not None and rank(line.turn) >= floor)


def without_unsearched(page: Page, unsearched: Container[str | None]) -> Page:
    """The page with every turn withheld that no search is to find: by its role, placeholders, and notices.

    Of other turns the blocks that memory made for prompts are left out.
    """
    return withheld(
        without_own_contexts(page),
        lambda line: (
            line.turn is not None and line.turn.role not in unsearched and not is_without_words(line.turn)
        ),
    )


def closed(page: Page) -> Page:
    """The page without its words: only the places of its turns and their speakers are left."""
    blank = withheld(page, lambda _: False)
    turns = (None if line.turn is None else Turn(speaker=line.turn.speaker, text="") for line in page.lines)
    lines = (replace(line, turn=turn) for line, turn in zip(page.lines, turns, strict=True))
    return replace(blank, lines=tuple(lines))

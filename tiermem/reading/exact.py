"""What a search asks for letter by letter, and where it may be found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiermem.index.bm25 import dimension
from tiermem.index.features import Block
from tiermem.text import search_stems
from tiermem.text.exact import LONGEST_EXACT, ExactText
from tiermem.text.question import Question
from tiermem.text.words import is_compared_by_characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """What a query asks for letter by letter: phrases that are required, and what puts a text first."""

    required: tuple[ExactText, ...] = ()
    preferred: tuple[ExactText, ...] = ()

    @property
    def texts(self) -> tuple[ExactText, ...]:
        """All of it."""
        return (*self.required, *self.preferred)

    def is_allowed(self, text: str) -> bool:
        """Whether a text contains every required phrase."""
        return all(one.is_in(text) for one in self.required)

    def is_any_in(self, text: str) -> bool:
        """Whether a text contains some of it."""
        return any(one.is_in(text) for one in self.texts)

    def count_in(self, text: str) -> int:
        """How much of what is preferred a text contains."""
        return sum(one.is_in(text) for one in self.preferred)


def exact_texts(question: Question, *, as_typed: bool) -> Exact:
    """Return the identifiers of a question; with `as_typed` its phrases in quotation marks and its whole text
    as well. What answers a question need not repeat its phrases; any other text asks for them.
    """
    phrases = question.phrases if as_typed else ()
    whole = (ExactText(question.text),) if as_typed and not phrases and search_stems(question.text) else ()
    if question.text.rstrip().endswith("?"):
        return Exact(preferred=(*question.identifiers, *phrases, *whole))
    return Exact(required=phrases, preferred=(*question.identifiers, *whole))


def may_contain(block: Block, text: ExactText) -> NDArray[np.bool_]:
    """Which rows hold all stems of a text, so that their words may contain it.

    Of a long text, whose ends may be parts of words, the stems at its ends do not count. Neither do single
    characters of scripts without spaces, which rows hold in pairs.
    """
    stems = search_stems(text.text)
    inner = stems[1:-1] if len(text.text) > LONGEST_EXACT else stems
    terms = {dimension(stem) for stem in inner if len(stem) > 1 or not is_compared_by_characters(stem)}
    row_of_term = np.repeat(np.arange(len(block.rows)), block.rows["terms"])
    held = np.bincount(row_of_term[np.isin(block.terms, list(terms))], minlength=len(block.rows))
    has_all: NDArray[np.bool_] = held == len(terms)
    return has_all

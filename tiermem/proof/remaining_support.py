"""What supports a claim when some turns are withheld or erased."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pagestore import Page, Span, Turn
from tiermem.model import Claim, LinkedFact
from tiermem.proof.link import link
from tiermem.text.dates import resolve_dates, without_dates
from tiermem.text.quotes import touched_turns
from tiermem.text.withheld import at_least
from tiermem.text.words import stems

_REPORTING = frozenset(stems("ask said tell told"))
"""Stems of verbs that introduce a quotation and say nothing of its content."""


def is_still_supported(claim: Claim, pages: Sequence[Page]) -> bool:
    """Check whether these pages, some turns of which may be withheld or erased, support the claim."""
    linked = link(claim, pages)
    return isinstance(linked, LinkedFact) and linked.is_supported


def in_words_of(text: str, pages: Iterable[Page], *, computed: Iterable[str] = ()) -> bool:
    """Whether every content word of a text is on these pages; dates and what is computed may be new."""
    stems_there = set(stems("\n".join((*(page.text for page in pages), *computed))))
    wording = stems(without_dates(text, resolve_dates(text, None)))
    return stems_there.issuperset(stem for stem in wording if stem not in _REPORTING and not stem.isdigit())


def proof_rank(
    claim: Claim, spans: Sequence[Span], pages: Sequence[Page], rank: Callable[[Turn], int]
) -> int:
    """The highest rank at which the claim is proved by turns of at least that rank alone.

    A claim that needs several turns, of one page or of more, has the rank of the lowest; a name or a
    question that only a less trusted turn gives lowers it to that turn's rank too.
    """
    turns = [line.turn for page in pages for line in page.lines if line.turn is not None]
    ranks = sorted({rank(turn) for turn in turns}, reverse=True)
    own = min((rank(turn) for turn in touched_turns(spans, pages)), default=0)
    for level in (at for at in ranks if at <= own):
        if level == ranks[-1] or is_still_supported(claim, [at_least(page, level, rank) for page in pages]):
            return level
    return 0


def stems_of_turns(spans: Iterable[Span], pages: Sequence[Page]) -> frozenset[str]:
    """Stems of the content words of the turns that these spans touch, with their speakers' names."""
    touched = touched_turns(spans, pages)
    return frozenset(stem for turn in touched for stem in stems(f"{turn.speaker}\n{turn.text}"))

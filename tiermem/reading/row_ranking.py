"""The score of candidate rows: the sum that `ranking` describes, over rows of numbers. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiermem.embedding.words import WordPieces
from tiermem.index.bm25 import dimension
from tiermem.index.features import ASKS, IS_USER, TELLS_TIME, Block, label
from tiermem.index.rows import Candidates
from tiermem.reading.question import TurnQuery
from tiermem.reading.ranking import RankingOptions
from tiermem.text import search_stems
from tiermem.text.words import is_compared_by_characters

Scores = NDArray[Any]

CoverRows = Callable[[Sequence[str], Block], Scores]
"""How near each row comes to saying each word, 0 to 1: a line a word, a column a row."""


def rank_rows(
    question: TurnQuery, found: Candidates, cover: CoverRows, options: RankingOptions
) -> list[tuple[int, float]]:
    """The places of the candidates and their scores, best first; equal ones in the order they were said."""
    scores = score_rows(question, found, cover, options)
    order = np.lexsort((found.block.rows["seq"][: len(scores)], -scores))
    return list(zip(order.tolist(), scores[order].tolist(), strict=True))


def score_rows(question: TurnQuery, found: Candidates, cover: CoverRows, options: RankingOptions) -> Scores:
    """The score of each candidate."""
    own, coverage = _cover_candidates(question, found, cover)
    around = found.around / (sum(found.rarity.values()) or 1.0)
    seen = options.exchange * found.exchange + options.meaning * found.meaning + options.around * around
    # Of a row without vectors coverage comes near to what they would say (measured).
    unseen = options.meaning * own + (options.exchange + options.around) * coverage
    similarity = np.where(np.isnan(found.meaning), unseen, seen)
    scores: Scores = similarity + options.coverage * coverage + _worth_of_rows(question, found, options)
    return scores


def cover_by_stems(words: Sequence[str], block: Block) -> Scores:
    """1 where a row has a word of the same stem."""
    near = np.zeros((len(words), len(block.rows)))
    row_of_term = np.repeat(np.arange(len(block.rows)), block.rows["terms"])
    for line, word in zip(near, words, strict=True):
        terms = [dimension(stem) for stem in search_stems(word)]
        line[row_of_term[np.isin(block.terms, np.array(terms, np.uint32))]] = 1.0
    return near


def cover_by_pieces(lexicon: WordPieces) -> CoverRows:
    """Compare words by their pieces, and those that have none, such as emoji, by their stems."""

    def cover(words: Sequence[str], block: Block) -> Scores:
        near: Scores = lexicon.similarity_of_pieces(
            words, block.pieces, block.rows["pieces"].astype(np.int64)
        )
        by_characters = [at for at, word in enumerate(words) if is_compared_by_characters(word)]
        near[by_characters] = cover_by_stems([words[at] for at in by_characters], block)
        return near

    return cover


def _cover_candidates(question: TurnQuery, found: Candidates, cover: CoverRows) -> tuple[Scores, Scores]:
    """The share of the question's words, by rarity, that each contains, alone and with its neighbours."""
    near = cover(question.words, found.block)
    near = np.concatenate([near, np.zeros((len(near), 1))], axis=1)  # for no neighbour
    own = near[:, : len(found.numbers)]
    together = np.maximum(own, np.maximum(near[:, found.before], near[:, found.after]))
    worth = np.array(question.worth) / (sum(question.worth) or 1.0)
    return worth @ own, worth @ together


def _worth_of_rows(question: TurnQuery, found: Candidates, options: RankingOptions) -> Scores:
    """What each is worth, whatever the question's words."""
    rows = found.block.rows[: len(found.numbers)]
    flags = rows["flags"]
    content = rows["content"].astype(np.float64)  # the logarithm of 8-bit integers has 16 bits
    worth: Scores = options.content * np.log1p(np.minimum(content, options.enough))
    worth += options.named * _is_meant(question, found)
    worth += options.asks * ((flags & ASKS) > 0)
    if question.time:
        worth += options.time * ((flags & TELLS_TIME) > 0)
    is_dated = np.zeros(len(rows), bool)
    for first, last in question.periods:
        is_dated |= (rows["day"] >= first.toordinal()) & (rows["day"] <= last.toordinal())
    worth += options.dated * (is_dated & (rows["day"] > 0))
    return worth


def _is_meant(question: TurnQuery, found: Candidates) -> Scores:
    """Whether each is said by whom the question is about."""
    rows, count = found.block.rows, len(found.numbers)
    if question.asker:
        is_user: Scores = (rows["flags"][:count] & IS_USER) > 0
        return is_user
    is_meant = np.zeros(len(rows), bool)
    if question.speaker is not None:
        row_of_label = np.repeat(np.arange(len(rows)), rows["labels"])
        is_meant[row_of_label[found.block.labels == label("named", question.speaker)]] = True
    return is_meant[:count]

"""How turns are ranked for a question, and pages and units by their turns: all of it is in this file.

The index brings some hundred candidates (`Index.turns`). Each gets one score, a weighted sum of

- how near it is in meaning: its best sentence, and the turn together with the one before it on its page,
  which counts less where both have one speaker;
- how many of the question's words are said there or right beside, synonyms counting in part, rare words
  counting more (coverage), and how strongly the conversation around holds them (around);
- whether the one person whom the question names is speaking; where it names no one, the user, who asks;
- whether a question for a time meets a turn that states one;
- whether it was said at a time when events of the days that the question names ("last Saturday", counted from
  when it is asked) are reported;
- how much the turn says at all, and whether it only asks.

No signal is normalised over what is stored. What else there is changes how rare words are, and above
`RankingOptions.crowd` turns how much the conversation around counts. A page is
as good as its turns together: the logarithm of the sum of their exponentials, so that two good turns
count for more than one, and a crowd of poor ones for little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tiermem.embedding.interface import Lexicon
from tiermem.embedding.words import WordPieces
from tiermem.index.bm25 import dimension
from tiermem.index.candidates import Candidates
from tiermem.index.features import ASKS, IS_USER, TELLS_TIME, Block, name_label
from tiermem.index.values import Period
from tiermem.text import STOP_WORDS, search_stems
from tiermem.text.question import Question
from tiermem.text.words import is_compared_by_characters

_Key = TypeVar("_Key")

Scores = NDArray[Any]

CoverRows = Callable[[Sequence[str], Block], Scores]
"""How near each row comes to saying each word, 0 to 1: a line a word, a column a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingOptions:
    """The weights of the sum, chosen on half of LoCoMo and LongMemEval_S and confirmed on the other half."""

    candidates: int = 30
    """Turns taken from each of the index's three rankings."""
    exchange: float = 6.0
    """The cosine of the turn and the one before it on its page, taken together."""
    continued: float = 0.25
    """The share of that cosine, the rest being the turn's own, where both turns have one speaker: what
    somebody adds is seldom a reply to what they said before.
    """
    meaning: float = 4.0
    """The cosine of its best sentence."""
    coverage: float = 4.0
    """The share of the question's words, by rarity, that it and the turns beside it say."""
    around: float = 4.0
    """The BM25 score of the conversation around it, as a share of the rarity of the question's words."""
    crowd: int = 1000
    """Turns above which `around` counts less, by the square root of their number: the more conversations
    there are, the more hold the words of a question without being about it (decision 90).
    """
    named: float = 2.5
    """Said by whom the question names, or by the user where it names no one."""
    time: float = 2.5
    """Tells a time where the question asks for one."""
    dated: float = 2.5
    """Said on a day that the question names."""
    content: float = 1.25
    """The logarithm of its content words, up to `enough`."""
    asks: float = -1.0
    """It ends with a question mark."""
    enough: int = 12
    """Content words after which more of them make a turn no better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnQuery:
    """What a question says about the turn that holds its answer."""

    words: tuple[str, ...]
    """Its content words, without names of speakers."""
    worth: tuple[float, ...]
    """How rare each of the words is."""
    speaker: str | None
    """The one speaker it names."""
    asker: bool = False
    """Whether it is for what the user said: it names no speaker, and asks for nothing that the other side
    said before. People ask an assistant's memory about themselves, also without an "I".
    """
    time: bool
    """Whether it asks for a time."""
    periods: tuple[Period, ...] = ()
    """When something of the days it names was said; empty where it names none."""


def turn_query(question: Question, named: Iterable[str], rarity: Mapping[str, float]) -> TurnQuery:
    """What a question asks for, where `named` and `rarity` are what the index knows of its words."""
    names = frozenset(named)
    content = [word for word in question.words if word not in STOP_WORDS and word not in names]
    rarest = max(rarity.values(), default=1.0)
    looked_for = content or list(question.words)
    worth = (
        next((rarity[stem] for stem in search_stems(word) if stem in rarity), rarest) for word in looked_for
    )
    return TurnQuery(
        words=tuple(looked_for),
        worth=tuple(worth),
        speaker=next(iter(names)) if len(names) == 1 and not question.is_first_person else None,
        asker=not names and not question.addresses,
        time=question.asks_time,
        periods=question.periods,
    )


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
    around = around * math.sqrt(options.crowd / max(found.total, options.crowd))
    exchange = _share_of_reply(found, options) * (found.exchange - found.meaning) + found.meaning
    seen = options.exchange * exchange + options.meaning * found.meaning + options.around * around
    # Of a row without vectors coverage comes near to what they would say (measured).
    unseen = options.meaning * own + (options.exchange + options.around) * coverage
    similarity = np.where(np.isnan(found.meaning), unseen, seen)
    scores: Scores = similarity + options.coverage * coverage + _worth_of_rows(question, found, options)
    return scores


def _share_of_reply(found: Candidates, options: RankingOptions) -> Scores:
    """How much of each candidate's exchange counts, 0 to 1."""
    rows, count, before = found.block.rows, len(found), found.before
    row_of_label = np.repeat(np.arange(len(rows)), rows["labels"])
    speakers = np.bincount(row_of_label, found.block.labels, len(rows)) + (rows["flags"] & IS_USER)
    is_known = speakers[:count] > 0  # else it was said in a role that is not the user's, whichever
    is_continued = (before >= 0) & is_known & (speakers[before] == speakers[:count])
    # A statement that was stored by itself is a page, and no reply to the one stored before it.
    is_first = (before >= 0) & (rows["page"][before] != rows["page"][:count])
    share: Scores = np.where(is_first, 0.0, np.where(is_continued, options.continued, 1.0))
    return share


def cover_by_stems(words: Sequence[str], block: Block) -> Scores:
    """1 where a row has a word of the same stem."""
    near = np.zeros((len(words), len(block.rows)))
    row_of_term = np.repeat(np.arange(len(block.rows)), block.rows["terms"])
    for line, word in zip(near, words, strict=True):
        terms = [dimension(stem) for stem in search_stems(word)]
        line[row_of_term[np.isin(block.terms, np.array(terms, np.uint32))]] = 1.0
    return near


def cover_rows(lexicon: Lexicon) -> CoverRows:
    """Compare words by their pieces where the lexicon has pieces, else by their stems."""
    return cover_by_pieces(lexicon) if isinstance(lexicon, WordPieces) else cover_by_stems


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
    own = near[:, : len(found)]
    together = np.maximum(own, np.maximum(near[:, found.before], near[:, found.after]))
    worth = np.array(question.worth) / (sum(question.worth) or 1.0)
    return worth @ own, worth @ together


def _worth_of_rows(question: TurnQuery, found: Candidates, options: RankingOptions) -> Scores:
    """What each is worth, whatever the question's words."""
    rows = found.block.rows[: len(found)]
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
    rows, count = found.block.rows, len(found)
    if question.asker:
        is_user: Scores = (rows["flags"][:count] & IS_USER) > 0
        return is_user
    is_meant = np.zeros(len(rows), bool)
    if question.speaker is not None:
        row_of_label = np.repeat(np.arange(len(rows)), rows["labels"])
        is_meant[row_of_label[found.block.labels == name_label(question.speaker)]] = True
    return is_meant[:count]


def cover_texts(question: TurnQuery, texts: Sequence[str], lexicon: Lexicon) -> list[float]:
    """Return the share of the question's words, by rarity, that each of the texts says. Blocking."""
    total = sum(question.worth)
    columns = (
        zip(*lexicon.similarity(question.words, texts), strict=True) if question.words else [()] * len(texts)
    )
    return [
        sum(worth * near for worth, near in zip(question.worth, column, strict=True)) / total
        if total
        else 0.0
        for column in columns
    ]


def rank_groups(scores: Iterable[tuple[_Key, float]]) -> list[tuple[_Key, float]]:
    """Groups (pages, sessions) by the scores of their members together, best first."""
    groups: dict[_Key, list[float]] = {}
    for key, score in scores:
        groups.setdefault(key, []).append(score)
    summed = [(key, _log_sum_exp(members)) for key, members in groups.items()]
    return sorted(summed, key=lambda pair: -pair[1])


def _log_sum_exp(values: Sequence[float]) -> float:
    highest = max(values)
    return highest + math.log(math.fsum(math.exp(value - highest) for value in values))

"""How turns are ranked for a question, and pages and units by their turns: all of it is in this file.

The index brings some hundred candidates (`Index.turns`). Each gets one score, a weighted sum of

- how near it is in meaning: its best sentence, and the turn together with the one before it;
- how many of the question's words are said there or right beside, synonyms counting in part, rare words
  counting more (coverage), and how strongly the conversation around holds them (around);
- whether the one person whom the question names is speaking; where it names no one, the user, who asks;
- whether a question for a time meets a turn that states one;
- whether it was said at a time when events of the days that the question names ("last Saturday", counted from
  when it is asked) are reported;
- how much the turn says at all, and whether it only asks.

No signal is normalised over what is stored, so a score does not depend on what else there is. A page is
as good as its turns together: the logarithm of the sum of their exponentials, so that two good turns
count for more than one, and a crowd of poor ones for little.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pagestore import PageLine, Turn
from tiermem.embedding.interface import Lexicon
from tiermem.index.features import tells_time
from tiermem.index.interface import TurnHit
from tiermem.reading.question import TurnQuery, is_said_in
from tiermem.text import stems, words

_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingOptions:
    """The weights of the sum, chosen on half of LoCoMo and LongMemEval_S and confirmed on the other half."""

    candidates: int = 30
    """Turns taken from each of the index's three rankings."""
    exchange: float = 6.0
    """The cosine of the turn and the one before it, taken together."""
    meaning: float = 4.0
    """The cosine of its best sentence."""
    coverage: float = 4.0
    """The share of the question's words, by rarity, that it and the turns beside it say."""
    around: float = 4.0
    """The BM25 score of the conversation around it, as a share of the rarity of the question's words."""
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
class Candidate:
    """A turn of a page, and how near the index found it: `None` where it does not hold the turn yet.

    `own` is the place of its own text among those that are scored, `beside` are those of its neighbours too.
    """

    hit: TurnHit | None
    line: PageLine
    own: int
    beside: tuple[int, ...]


def rescore(
    question: TurnQuery,
    candidates: Sequence[Candidate],
    texts: Sequence[str],
    lexicon: Lexicon,
    options: RankingOptions,
) -> list[float]:
    """The score of each candidate. Blocking: compares words by the thousand."""
    covered = lexicon.similarity(question.words, texts)
    scores: list[float] = []
    for candidate in candidates:
        coverage = _coverage(question, covered, candidate.beside)
        own = _coverage(question, covered, (candidate.own,))
        scores.append(
            _similarity(candidate.hit, own, coverage, options)
            + options.coverage * coverage
            + _worth_of_turn(question, candidate.line, options)
        )
    return scores


def cover_texts(question: TurnQuery, texts: Sequence[str], lexicon: Lexicon) -> list[float]:
    """Return the share of the question's words, by rarity, that each of the texts says. Blocking."""
    covered = lexicon.similarity(question.words, texts)
    return [_coverage(question, covered, (place,)) for place in range(len(texts))]


def _similarity(hit: TurnHit | None, own: float, coverage: float, options: RankingOptions) -> float:
    """What the index says; of a turn it has not seen, its coverage, which comes near to it (measured)."""
    if hit is None:
        return options.meaning * own + (options.exchange + options.around) * coverage
    return options.exchange * hit.exchange + options.meaning * hit.meaning + options.around * hit.around


def _coverage(question: TurnQuery, covered: Sequence[Sequence[float]], beside: Sequence[int]) -> float:
    """The share of the question's words, by rarity, that these texts together say."""
    total = sum(question.worth)
    best = (max((row[at] for at in beside), default=0.0) for row in covered)
    return (
        sum(worth * near for worth, near in zip(question.worth, best, strict=True)) / total if total else 0.0
    )


def _worth_of_turn(question: TurnQuery, line: PageLine, options: RankingOptions) -> float:
    """What the turn itself is worth, whatever the question's words."""
    if line.turn is None:
        return 0.0
    text = line.turn.text
    score = options.content * math.log1p(min(len(stems(text)), options.enough))
    if _is_meant(question, line.turn):
        score += options.named
    if question.time and tells_time(text):
        score += options.time
    if is_said_in(line.turn.said_at, question.periods):
        score += options.dated
    if text.rstrip().endswith("?"):
        score += options.asks
    return score


def _is_meant(question: TurnQuery, turn: Turn) -> bool:
    if question.asker:
        return turn.role == "user"
    return question.speaker is not None and question.speaker in words(turn.speaker)


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

"""A short answer in the words of the evidence, or none: what is cited is what was quoted from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from tiermem.model import Evidence
from tiermem.reasoning.interface import ABSTAINED, Draft
from tiermem.reasoning.rules.assertion import require_assertion
from tiermem.reasoning.rules.extract import answer_from
from tiermem.reasoning.rules.facts import answer_fact
from tiermem.reasoning.rules.questions import ParsedQuestion, parse_question
from tiermem.reasoning.rules.sentences import Matcher, ScoredSentence, evidence_sentences
from tiermem.text import stems
from tiermem.text.dates import timestamp
from tiermem.trust import DEFAULT_TRUST, TrustLevels

ENOUGH = 0.38
"""The share of a question's weighted terms that a statement must cover before it is taken for an answer."""
ENOUGH_WITH_SIMILARITY = 0.6
"""What coverage and cosine together must reach where the index measured a cosine: it bridges synonyms."""
_UNRELATED = 0.3
"""Cosine below which two texts of the same dialogue have nothing to do with each other."""
_LISTED = 4
"""Statements that a list is made of at most."""
_TRIED = 200
"""Statements that are looked into for an answer, from the best on."""
_AS_GOOD = 0.75
"""How close to the best statement another one must score to add to a list."""
CHANGE: Final = re.compile(
    r"\b(?:moved to|instead|changed|postponed|brought forward|rescheduled|correction|no longer|switched)\b",
    re.IGNORECASE,
)
"""Words by which something said before is replaced."""


async def compose(
    question: str, evidence: Sequence[Evidence], *, asked_at: datetime, trust: TrustLevels = DEFAULT_TRUST
) -> Draft:
    """The value of a fact that was stated, else a short extract of the best statement, or an abstention."""
    known = answer_fact(question, evidence, asked_at, trust)
    if known is not None:
        return known
    return require_assertion(question, extract_answer(question, evidence, trust), evidence)


def extract_answer(question: str, evidence: Sequence[Evidence], trust: TrustLevels = DEFAULT_TRUST) -> Draft:
    """Answer from the statement that covers the question best; lists join those that come near it."""
    parsed = parse_question(question)
    found = evidence_sentences(evidence)
    matcher = Matcher(parsed, found)
    ranked = _rank(matcher.best(found), evidence)
    if not ranked:
        return ABSTAINED
    wanted = _LISTED if parsed.kind == "list" else 1
    answers: list[str] = []
    cited: list[int] = []
    best = ranked[0][1]
    least = _rank_of(best, evidence, trust)
    may_replace = (one for one in matcher.best(found) if _rank_of(one, evidence, trust) >= least)
    newest = _newest(parsed, best, may_replace)
    for one in [*newest, *_near_best(parsed, ranked)][:_TRIED]:
        answer = answer_from(parsed, one)
        if answer and not _already_answered(answer, answers):
            answers.append(answer)
            cited.append(one.sentence.source)
        if len(answers) == wanted:
            break
    if not answers:
        return ABSTAINED
    return Draft(text=", ".join(answers), cited=tuple(dict.fromkeys(cited)), abstained=False)


def _rank_of(one: ScoredSentence, evidence: Sequence[Evidence], trust: TrustLevels) -> int:
    """The rank of the trust of a statement."""
    return trust.rank(evidence[one.sentence.source].trust)


def _rank(
    scored: Sequence[ScoredSentence], evidence: Sequence[Evidence]
) -> list[tuple[float, ScoredSentence]]:
    """Statements about the right person that may answer, each with how far it is above what is needed."""
    valued = [
        (_margin(one, evidence[one.sentence.source].similarity), one) for one in scored if one.right_person
    ]
    return sorted((pair for pair in valued if pair[0] >= 0), key=lambda pair: -pair[0])


def _margin(one: ScoredSentence, similarity: float | None) -> float:
    if similarity is None:
        return one.score - ENOUGH
    return one.score + max(0.0, similarity - _UNRELATED) - ENOUGH_WITH_SIMILARITY


def _newest(
    question: ParsedQuestion, best: ScoredSentence, scored: Iterable[ScoredSentence]
) -> list[ScoredSentence]:
    """What replaces the best statement, latest first: said later of the same, as a change or as it is now."""
    found = [
        one
        for one in scored
        if one.right_person
        and _moment(one) > _moment(best)
        and question.head in one.matched | {""}
        and (CHANGE.search(one.sentence.text) or (not question.past and one.matched >= best.matched))
    ]
    return sorted(found, key=_moment, reverse=True) if question.kind not in ("list", "yes-no") else []


def _moment(one: ScoredSentence) -> float:
    return timestamp(one.sentence.said_at)


def _near_best(
    question: ParsedQuestion, ranked: Sequence[tuple[float, ScoredSentence]]
) -> list[ScoredSentence]:
    """The statements about as good as the best, then those that at least hold what the question is about."""
    best = ranked[0][1].score
    near = [one for _, one in ranked if one.score >= _AS_GOOD * best]
    weaker = [one for _, one in ranked if one.score < _AS_GOOD * best and question.head in one.matched]
    return near if question.kind == "list" else near + weaker


def _already_answered(answer: str, answers: Sequence[str]) -> bool:
    new = set(stems(answer))
    return any(new <= set(stems(text)) for text in answers)

"""Which facts are worth keeping, without a model."""

from __future__ import annotations

from collections.abc import Sequence

from pagestore import Page
from tiermem.model import LinkedFact
from tiermem.reasoning.rules.alike import is_entailed
from tiermem.reasoning.rules.questions import parse_question
from tiermem.reasoning.rules.sentences import Matcher, sentences_read
from tiermem.text import literals, stems

_RELEVANT = 0.45
"""The score from which a fact is about the question."""
_NEW_WORDS = 3
"""Content words beside the question's that make a fact specific."""


async def select(question: str, facts: Sequence[LinkedFact], pages: Sequence[Page]) -> tuple[int, ...]:
    """Return indices of confirmed facts that are about the question, hold a detail and repeat no other."""
    parsed = parse_question(question)
    found = [sentence for at, fact in enumerate(facts) for sentence in sentences_read(fact.claim, at, None)]
    relevant = {one.sentence.source for one in Matcher(parsed, found).best(found, least=_RELEVANT)}
    kept: list[int] = []
    for at, fact in enumerate(facts):
        if not fact.is_supported or at not in relevant or not _specific(fact, parsed.terms):
            continue
        if not any(is_entailed(fact.claim, facts[other].claim) for other in kept):
            kept.append(at)
    return tuple(kept)


def _specific(fact: LinkedFact, known: Sequence[str]) -> bool:
    return len(literals(fact.claim)) > 1 or len(set(stems(fact.claim)) - set(known)) >= _NEW_WORDS

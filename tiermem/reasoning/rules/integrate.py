"""Reading pages for a question without a model: the sentences that match it, in their speakers' words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from tiermem.model import Claim, Evidence
from tiermem.reasoning.interface import Integrated, PageView
from tiermem.reasoning.rules.distil import sentences_of, statements
from tiermem.reasoning.rules.questions import ParsedQuestion, missing_terms, parse_question
from tiermem.reasoning.rules.sentences import Matcher

_LEAST = 0.35
"""The score from which a statement of a page is taken for evidence."""
_FACTS = 6
"""Statements that one look at pages brings at most."""


async def integrate(
    question: str, pages: Sequence[PageView], known: Sequence[Evidence], *, asked_at: datetime
) -> Integrated:
    """The statements of the pages that cover the question best, in their speakers' words, best first.

    Only what is chosen is made into claims: scoring a sentence costs little, wording one a lot.
    """
    parsed = parse_question(question)
    found = [
        (view.page, said)
        for view in pages
        for said in sentences_of(view.page)
        if not said.sentence.text.endswith("?")
    ]
    numbered = [replace(said.sentence, source=at) for at, (_, said) in enumerate(found)]
    chosen = dict.fromkeys(
        one.sentence.source for one in Matcher(parsed, numbered).best(numbered, least=_LEAST)
    )
    known_texts = {piece.text for piece in known}
    new: dict[str, Claim] = {}
    for claim in statements(found[at] for at in chosen):
        if claim.text not in known_texts:
            new.setdefault(claim.text, claim)
        if len(new) == _FACTS:
            break
    return Integrated(claims=tuple(new.values()), coverage=_coverage(parsed, [*known_texts, *new]))


def _coverage(question: ParsedQuestion, texts: Sequence[str]) -> str:
    missing = missing_terms(question, texts)
    covered = [term for term in question.terms if term not in missing]
    return f"covered: {', '.join(covered) or 'nothing'}; missing: {', '.join(missing) or 'nothing'}"

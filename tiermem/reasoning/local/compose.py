"""A short answer in the words of the evidence, or none: what is cited is what was quoted from."""

from __future__ import annotations

from collections.abc import Sequence

from tiermem.model import Evidence
from tiermem.reasoning.interface import Draft
from tiermem.reasoning.local.extract import answer_from
from tiermem.reasoning.passages import Matcher, Scored, passages
from tiermem.reasoning.questions import read_question
from tiermem.text import stems

ENOUGH = 0.35
"""The share of a question's weighted terms that a statement must cover before it is taken for an answer."""
_LISTED = 4
_AS_GOOD = 0.75
"""How close to the best statement another one must score to add to a list."""
_ABSTAINED = Draft(text="", cited=(), abstained=True)


def compose(question: str, evidence: Sequence[Evidence]) -> Draft:
    """Answer from the statement that covers the question best; lists join those that come near it."""
    asked = read_question(question)
    found = passages(evidence)
    ranked = [one for one in Matcher(asked, found).best(found, least=ENOUGH) if one.right_person]
    if not ranked:
        return _ABSTAINED
    wanted = _LISTED if asked.kind == "list" else 1
    told: list[str] = []
    cited: list[int] = []
    for one in _near(ranked):
        answer = answer_from(asked, one)
        if answer and not _said(answer, told):
            told.append(answer)
            cited.append(one.passage.source)
        if len(told) == wanted:
            break
    if not told:
        return _ABSTAINED
    return Draft(text=", ".join(told), cited=tuple(dict.fromkeys(cited)), abstained=False)


def _near(ranked: Sequence[Scored]) -> list[Scored]:
    return [one for one in ranked if one.score >= _AS_GOOD * ranked[0].score]


def _said(answer: str, told: Sequence[str]) -> bool:
    new = set(stems(answer))
    return any(new <= set(stems(text)) for text in told)

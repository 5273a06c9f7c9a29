"""What to look up next without a model: the words of the question that nothing known holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from tiermem.model import Evidence, Search
from tiermem.reasoning.interface import Planned
from tiermem.reasoning.rules.questions import ParsedQuestion, missing_terms, parse_question
from tiermem.reasoning.rules.sentences import Matcher, sentences_read
from tiermem.text import STOP_WORDS, stem, stems
from tiermem.text.words import WORD

_ASKING = re.compile(
    r"^\W*(?:when|where|who|what|which|why|how(?: many| much| long| often| old)?)\b\s*"
    r"(?:(?:did|does|do|is|was|are|were|has|have|had|will|would|can|could)\b\s*)?",
    re.IGNORECASE,
)
_DONE = 0.75
"""The score of a statement after which nothing more is looked for."""
_SEARCHES = 2
"""Searches of one round."""


async def plan(
    question: str,
    known: Sequence[Evidence],
    missing: str,
    done: Sequence[Search],
    *,
    asked_at: datetime,
) -> Planned:
    """DONE when one text covers the question; else searches for what is missing, none of them twice."""
    parsed, texts = parse_question(question), [piece.text for piece in known]
    found = [sentence for at, text in enumerate(texts) for sentence in sentences_read(text, at, None)]
    best = next(iter(Matcher(parsed, found).best(found)), None)
    enough = best is not None and best.score >= _DONE
    if enough and (parsed.kind not in ("list", "how many") or done):
        return Planned(done=True, reason="a fact covers the question")
    made = {(search.kind, _key(search.query)) for search in done}
    new: list[Search] = []
    for search in _candidates(parsed, texts):
        key = (search.kind, _key(search.query))
        if search.query and key not in made and len(new) < _SEARCHES:
            made.add(key)
            new.append(search)
    lacking = ", ".join(missing_terms(parsed, texts)) or "a statement that holds all terms together"
    return Planned(done=not new, reason=f"missing: {lacking}", searches=tuple(new))


def _key(query: str) -> str:
    return " ".join(sorted(stems(query)))


def _candidates(question: ParsedQuestion, known: Sequence[str]) -> Iterator[Search]:
    """Look-ups from the most to the least promising."""
    missing = set(missing_terms(question, known))
    plain = _content_words(question.text)
    wanted = [word for word in plain if stem(word.lower()) in missing]
    people = [word for word in plain if stem(word.lower()) in question.names]
    yield Search(kind="KEYWORD", query=" ".join(plain))
    yield Search(kind="SEMANTIC", query=_as_statement(question.text))
    if wanted:
        yield Search(kind="KEYWORD", query=" ".join(dict.fromkeys((*people, *wanted))))
    others = [word for word in plain if word not in people]
    yield Search(kind="KEYWORD", query=" ".join(others))
    yield Search(kind="SEMANTIC", query=" ".join(others))
    for word in wanted:
        yield Search(kind="KEYWORD", query=word)
    for text in known[:2]:
        yield Search(kind="SEMANTIC", query=text.partition(": ")[2] or text)


def _content_words(text: str) -> list[str]:
    found = (match.group() for match in WORD.finditer(text))
    return list(dict.fromkeys(word for word in found if word.lower() not in STOP_WORDS))


def _as_statement(question: str) -> str:
    """The question without the words that only ask."""
    plain = _ASKING.sub("", question)
    return plain.strip(" ?!.") or question

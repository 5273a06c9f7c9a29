"""Reading pages for a question without a model: the sentences that match it, and what to look up next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tiermem.model import Claim, LinkedFact, Search
from tiermem.reasoning.interface import Integrated, PageView, Plan
from tiermem.reasoning.local.distil import sentences_of, statement
from tiermem.reasoning.passages import Matcher, passages_of
from tiermem.reasoning.questions import Question, read_question
from tiermem.text import STOP_WORDS, stem, stems, words
from tiermem.text.words import WORD

_ASKING = re.compile(
    r"^\W*(?:when|where|who|what|which|why|how(?: many| much| long| often| old)?)\b\s*"
    r"(?:(?:did|does|do|is|was|are|were|has|have|had|will|would|can|could)\b\s*)?",
    re.IGNORECASE,
)
_LEAST = 0.35
_FACTS = 6
_DONE = 0.75
_SEARCHES = 2


def integrate(question: str, pages: Sequence[PageView], known: Sequence[LinkedFact]) -> Integrated:
    """The statements of the pages that cover the question best, in their speakers' words, best first.

    Only what is chosen is made into claims: scoring a sentence costs little, wording one a lot.
    """
    asked = read_question(question)
    found = [
        (view.page, said)
        for view in pages
        for said in sentences_of(view.page)
        if not said.passage.text.endswith("?")
    ]
    numbered = [replace(said.passage, source=at) for at, (_, said) in enumerate(found)]
    chosen = dict.fromkeys(
        one.passage.source for one in Matcher(asked, numbered).best(numbered, least=_LEAST)
    )
    told = {fact.claim for fact in known}
    new: dict[str, Claim] = {}
    for page, said in (found[at] for at in chosen):
        claim = statement(page, said)
        if claim.text not in told:
            new.setdefault(claim.text, claim)
        if len(new) == _FACTS:
            break
    return Integrated(claims=tuple(new.values()), coverage=_coverage(asked, [*told, *new]))


def _coverage(question: Question, texts: Sequence[str]) -> str:
    missing = missing_terms(question, texts)
    covered = [term for term in question.terms if term not in missing]
    return f"covered: {', '.join(covered) or 'nothing'}; missing: {', '.join(missing) or 'nothing'}"


def missing_terms(question: Question, texts: Sequence[str]) -> list[str]:
    """Terms of the question that none of the texts holds."""
    held = {stem(word) for text in texts for word in words(text)}
    return [term for term in question.terms if term not in held]


def plan(question: str, facts: Sequence[LinkedFact], done: Sequence[Search]) -> Plan:
    """DONE when one fact covers the question; else searches for what is missing, none of them twice."""
    asked = read_question(question)
    claims = [fact.claim for fact in facts if fact.grade == "verbatim"]
    found = [passage for at, claim in enumerate(claims) for passage in passages_of(claim, at, None)]
    best = next(iter(Matcher(asked, found).best(found)), None)
    enough = best is not None and best.score >= _DONE
    if enough and (asked.kind not in ("list", "how many") or done):
        return Plan(done=True, reason="a fact covers the question")
    made = {(search.kind, _key(search.query)) for search in done}
    new: list[Search] = []
    for search in _candidates(asked, claims):
        key = (search.kind, _key(search.query))
        if search.query and key not in made and len(new) < _SEARCHES:
            made.add(key)
            new.append(search)
    missing = ", ".join(missing_terms(asked, claims)) or "a statement that holds all terms together"
    return Plan(done=not new, reason=f"missing: {missing}", searches=tuple(new))


def _key(query: str) -> str:
    return " ".join(sorted(stems(query)))


def _candidates(question: Question, claims: Sequence[str]) -> Iterator[Search]:
    """Look-ups from the most to the least promising."""
    missing = set(missing_terms(question, claims))
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
    for claim in claims[:2]:
        yield Search(kind="SEMANTIC", query=claim.partition(": ")[2] or claim)


def _content_words(text: str) -> list[str]:
    found = (match.group() for match in WORD.finditer(text))
    return list(dict.fromkeys(word for word in found if word.lower() not in STOP_WORDS))


def _as_statement(question: str) -> str:
    """The question without the words that only ask."""
    plain = _ASKING.sub("", question)
    return plain.strip(" ?!.") or question

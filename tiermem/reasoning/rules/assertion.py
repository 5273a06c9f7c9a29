"""Whether the sentences that an answer rests on assert it, of the person who is asked about.

A question, a condition, a wish, "maybe" and a denial are no facts; what an assistant says, or what is said
of "my colleague", is no answer about the user. The rules are about words and miss what they do not name:
irony, and moods that another sentence sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Final

from tiermem.model import Evidence
from tiermem.reasoning.interface import ABSTAINED, Draft
from tiermem.reasoning.rules.questions import ParsedQuestion, parse_question
from tiermem.text import STOP_WORDS, is_negated, resolve_dates, sentences, stem, words
from tiermem.text.readings import Speech, speech
from tiermem.text.words import EDGES, WORD, word_list

_CLAUSE_END = re.compile(r"[,;:()—–]|\s-\s|\b(?:but|although|though|whereas)\b", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:if|unless|suppose|supposing|in case)\b", re.IGNORECASE)
_POSSIBILITY = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|might|could|would|(?:I|we)['’]d (?:love|like|rather)|"
    r"(?:I|we|you|he|she|they|it|this|that|there)\s(?-i:may)|"
    r"wish(?:es|ed)?|"
    r"not sure|no idea|wonder(?:ing|ed)?|guess|imagin(?:e|ing)|dream(?:s|ing|ed)? (?:of|about)|"
    r"hop(?:e|es|ing|ed) to|thinking (?:of|about)|consider(?:ing|s)?|joking)\b",
    re.IGNORECASE,
)
_ASKS_MOOD = re.compile(
    r"\b(?:if|would|could|might|may|should|want\w*|wish\w*|hop(?:e|es|ing)|plan\w*|think\w*|thought\w*|"
    r"consider\w*|like\w*|love\w*|dream\w*|goals?|interest\w*|suggest\w*|recommend\w*|advi[cs]e\w*|opinions?|"
    r"possib\w+|likely|ideas?|why|feel\w*|believe\w*|imagin\w+|joke\w*|reasons?)\b",
    re.IGNORECASE,
)
"""Questions that are about a mood themselves."""
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|myself)\b")
_THE_USER = re.compile(r"\bthe user(?:['’]s)?\b", re.IGNORECASE)
_ADDRESSES = re.compile(r"\b(?:you|your|assistant)\b", re.IGNORECASE)
_ASSISTANTS: Final = frozenset({"assistant", "the assistant", "ai", "chatbot", "bot"})
_TIME = r"(?:\d{1,2}(?:[:.]\d\d)?\s?(?:(?:[ap]m\b|[ap]\.m\.)|o['’]clock)|\d{1,2}:\d\d|noon|midnight)"
_CLOCK = re.compile(
    rf"\b{_TIME}(?:\s?(?:to|until|and|-|–)\s?{_TIME})?|\bfrom \d{{1,2}} (?:to|until) \d{{1,2}}\b",
    re.IGNORECASE,
)
_PAST = re.compile(r"\b(?:did|was|were|had|has|have)\b", re.IGNORECASE)
_TOKEN = re.compile(r"\S+")
_SYMBOLS = frozenset("@#\\_/+=&~")
"""What is in addresses, paths, handles and versions."""
_RELATIONS: Final = frozenset(
    word_list("""
        mom mum mother dad father parent parents grandma grandmother grandpa grandfather sister brother
        sibling siblings son daughter kid kids child children husband wife spouse partner girlfriend boyfriend
        fiance fiancee friend friends colleague colleagues coworker coworkers roommate roommates flatmate
        neighbour neighbours neighbor neighbors cousin cousins aunt uncle niece nephew boss manager teacher
        coach mentor therapist doctor landlord client clients team buddy
    """)
)
_SUBJECT = re.compile(
    r"\A\W*(?:(?:and|but|so|well|oh|yes|no|also|then)\W+)*(?:my|our)\s+(?:\w+\s+){0,2}?(\w+)\b"
)


def require_assertion(question: str, draft: Draft, evidence: Sequence[Evidence]) -> Draft:
    """Return the draft, or an abstention if no sentence of its evidence asserts it."""
    if draft.abstained or not draft.cited:
        return draft
    parsed = parse_question(question)
    spoken = [speech(evidence[at].quote or evidence[at].text) for at in draft.cited]
    if any(one is None for one in spoken):  # no direct speech: a unit in words of its own, or a page
        return draft
    turns = [one for one in spoken if one is not None]
    if not any(_asserts(parsed, draft.text, turn) for turn in turns):
        return ABSTAINED
    if parsed.kind == "when":
        return _require_moment(parsed, draft, turns[0], evidence[draft.cited[0]].said_at)
    whole = next((complete_token(draft.text, turn.said) for turn in turns if draft.text in turn.said), "")
    return replace(draft, text=whole) if whole else draft


def _require_moment(question: ParsedQuestion, draft: Draft, turn: Speech, said_at: datetime | None) -> Draft:
    """Replace the day of saying by the time of day that a sentence gives, or leave it out if it is no answer.

    "When did Ann move?" may be answered by the day on which she said so; "When is the market?" may not.
    """
    if said_at is None or draft.text != f"{said_at.day} {said_at:%B %Y}":
        return draft
    if resolve_dates(turn.said, said_at):
        return draft
    clock = _CLOCK.search(turn.said)
    if clock is not None:
        return replace(draft, text=clock.group())
    return draft if _PAST.search(question.text) else ABSTAINED


def complete_token(answer: str, said: str) -> str:
    """Extend an answer that ends inside a token of a text: an address, a path, a version or a handle."""
    start = said.find(answer)
    if start < 0:
        return answer
    end = start + len(answer)
    for token in _TOKEN.finditer(said):
        text = token.group().rstrip(EDGES)
        first, last = token.start() + len(text) - len(text.lstrip(EDGES)), token.start() + len(text)
        if _is_code(text):
            end = last if first < end < last else end
            start = first if first < start < last else start
    return said[start:end]


def _asserts(question: ParsedQuestion, answer: str, turn: Speech) -> bool:
    if _is_about_user(question) and turn.speaker.strip().lower() in _ASSISTANTS:
        return False
    pieces = [piece.text for piece in sentences(turn.said)]
    wanted = set(question.terms) if question.kind == "yes-no" else _stems(answer)
    best = max((len(wanted & _stems(piece)) for piece in pieces), default=0)
    if not best:  # an answer that no sentence holds, such as the name of the speaker or a day
        wanted = set(question.terms)
        best = max((len(wanted & _stems(piece)) for piece in pieces), default=0)
    holding = [piece for piece in pieces if len(wanted & _stems(piece)) == best]
    if not best:
        return True
    is_of_speaker = _is_about_user(question) or bool(set(question.names) & _stems(turn.speaker))
    asserting = (piece for piece in holding if _is_asserted(question, wanted, piece))
    return any(not is_of_speaker or _is_of_speaker(question, wanted, piece) for piece in asserting)


def _is_code(token: str) -> bool:
    """Whether a token is an address, a path, a handle, a version or a code, and not words with a hyphen."""
    if not _SYMBOLS.isdisjoint(token) or "." in token:
        return True
    return any(map(str.isdigit, token)) and ("-" in token or ":" in token)


def _is_about_user(question: ParsedQuestion) -> bool:
    text = question.text
    if _ADDRESSES.search(text):
        return False
    return bool(_FIRST_PERSON.search(text) or _THE_USER.search(text))


def _is_asserted(question: ParsedQuestion, wanted: set[str], sentence: str) -> bool:
    clauses = list(_clauses(sentence, wanted))
    if question.kind != "yes-no" and not is_negated(question.text) and all(map(is_negated, clauses)):
        return False
    if not _ASKS_MOOD.search(question.text):
        if sentence.rstrip().endswith("?") or _CONDITION.search(sentence):
            return False
        if all(map(_POSSIBILITY.search, clauses)):
            return False
    return True


def _is_of_speaker(question: ParsedQuestion, wanted: set[str], sentence: str) -> bool:
    """Whether a clause that holds the answer is about the speaker, and not about "my sister"."""
    return question.kind in ("who", "whose") or not all(
        _is_of_another(question, clause) for clause in _clauses(sentence, wanted)
    )


def _clauses(sentence: str, wanted: set[str]) -> Iterable[str]:
    """The clauses that hold most of the wanted words."""
    edges = [0, *(match.start() for match in _CLAUSE_END.finditer(sentence)), len(sentence)]
    parts = [sentence[start:end] for start, end in pairwise(edges)]
    best = max(len(wanted & _stems(part)) for part in parts)
    return [part for part in parts if len(wanted & _stems(part)) == best]


def _is_of_another(question: ParsedQuestion, clause: str) -> bool:
    """Whether a clause is about a relation of the speaker that the question does not name."""
    found = _SUBJECT.match(clause.lower())
    if found is None or found[1] not in _RELATIONS:
        return False
    asked = {stem(word) for word in words(question.text)}
    return not asked & _RELATION_STEMS and not set(question.names) & _stems(clause)


def _stems(text: str) -> set[str]:
    return {stem(match.group().lower()) for match in WORD.finditer(text)} - _STOPS


_RELATION_STEMS = frozenset(map(stem, _RELATIONS))
_STOPS = frozenset(map(stem, STOP_WORDS))

"""The words of a statement that answer a question: a date, a number, a name, a place, or a clause."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tiermem.reasoning.passages import Passage, Scored
from tiermem.reasoning.questions import Kind, Question
from tiermem.text import STOP_WORDS, DateMention, negated, resolve_dates, stem, words
from tiermem.text.literals import names
from tiermem.text.words import WORD, word_list

_CLAUSE = re.compile(
    r"(?<=[,;!?.])\s+|\s+[-–—]\s+|\s+\(|\)\s*|\s+\b(?:but|because|so that|although|though|which|while)\b\s+",
    re.IGNORECASE,
)
_WEAK = word_list("""
    and so well yeah yes yep no nope oh wow hey thanks definitely also then is are was were to of that
    about for by it it's its i'm i've i we we've we're been be being just really some a an the my our as
    with like you they he she this these am had have has did do does got get there's here's that's them
    me us at on in
""")
_WEAK_START = re.compile(
    r"^(?:\W*\b(?:" + "|".join(sorted(map(re.escape, _WEAK), key=len, reverse=True)) + r")\b(?!['’]))+\W*",
    re.IGNORECASE,
)
_WEAK_END = re.compile(
    r"(?:\W+(?:and|or|to|of|the|a|an|my|our|their|his|her|for|with|in|on|at|is|was|i|we|it|that|so|as)\b)+\W*\Z",
    re.IGNORECASE,
)
_ABOUT = r"(?:about |around |over |almost |nearly |at least )?"
_COUNT = r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of|several|a few"
_NUMBER = re.compile(
    rf"\b{_ABOUT}(?:\$?\d[\d,.]*|{_COUNT}|once or twice|once|twice|both|every)\b"
    r"(?:\s+(?:times|years?|months?|weeks?|days?|hours?)\b|\s+(?!of)\w+s\b)?(?:\s+an?\s+(?:day|week|month|year)\b)?",
    re.IGNORECASE,
)
_DURATION = re.compile(
    rf"\b(?:for )?{_ABOUT}(?:\d+|an?|one|{_COUNT})\s+(?:years?|months?|weeks?|days?|hours?|minutes?)\b"
    r"|\bsince (?:I was \w+|\w+)",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:in|at|to|from|near|around|visit(?:ed|ing)?|through|across)\s+"
    r"((?:the |a |an |my |our |this )?(?:[\w'’]+ ){0,2}?[A-Z][\w'’]+(?:,? [A-Z][\w'’]+)*)"
)
_SOMEWHERE = re.compile(
    r"\b(?:at|in|to|from|near|by|on)\s+((?:the|a|an|my|our|some|this)\s+(?:[\w'’-]+\s?){1,6})", re.IGNORECASE
)
_KIN = re.compile(
    r"\b(?:my|our|her|his|their)\s+(?:\w+\s)?(?:mom|mother|dad|father|grandma|grandmother|grandpa|grandfather|sister|brother|son|daughter|"
    r"kids?|children|husband|wife|partner|girlfriend|boyfriend|friends?|family|fam|colleagues?|coworkers?|neighbou?rs?|cousins?|aunt|"
    r"uncle|team|mentor|teacher|boss|agent|buddy|buddies|dogs?|cats?)\b|\ba (?:friend|colleague|buddy)\b",
    re.IGNORECASE,
)


_LIGHT = frozenset(
    map(
        stem,
        word_list("""
            went go going got make made thing things lot really great awesome amazing good nice cool
            super pretty came come fun wow day time way today also since now always ago photo know think
            feel
        """),
    )
)


_SHORT = 16
"""Words up to which a statement is an answer as it stands."""


def answer_from(question: Question, best: Scored) -> str | None:
    """The shortest part of the statement that answers; `None` when it holds nothing of the kind asked for."""
    found = _BY_KIND.get(question.kind, _clause)(question, best)
    return found.strip(" \t.,;:!?\"'") or None if found else None


def _when(_question: Question, best: Scored) -> str | None:
    passage = best.passage
    mentions = _nearest_first(best, resolve_dates(passage.text, passage.said_at))
    if mentions:
        return _date_words(mentions[0], passage)
    beside = resolve_dates(passage.around, passage.said_at)
    if len(beside) == 1:
        return _date_words(beside[0], passage)
    if passage.said_at is None:
        return None
    return f"{passage.said_at.day} {passage.said_at:%B %Y}"


def _nearest_first(best: Scored, mentions: tuple[DateMention, ...]) -> list[DateMention]:
    """Absolute before relative at the same place, and nearer to the words asked about before farther."""
    places = [
        match.start()
        for match in WORD.finditer(best.passage.text)
        if stem(match.group().lower()) in best.matched
    ]
    return sorted(mentions, key=lambda m: min((abs(m.start - place) for place in places), default=0))


def _date_words(mention: DateMention, passage: Passage) -> str:
    """The date in words; a week or weekend by the day it was spoken of, as people do."""
    said = passage.said_at
    if said is not None and mention.precision in ("week", "weekend") and mention.kind == "relative":
        gap = (said.date() - mention.last).days
        if 0 < gap <= 7:
            return f"the {mention.precision} before {said.day} {said:%B %Y}"
    if said is not None and mention.precision == "season":
        return f"{mention.text.split()[-1]} {mention.first.year}"
    return mention.display


def _how_many(question: Question, best: Scored) -> str | None:
    found = [
        match for match in _NUMBER.finditer(best.passage.text) if match.group().lower() not in ("a", "an")
    ]
    counted = [match for match in found if any(stem(word) in question.terms for word in words(match.group()))]
    chosen = next(iter(counted or found), None)
    return (
        re.sub(r"\s+\w+\Z", "", chosen.group()) if chosen and counted else chosen.group() if chosen else None
    )


def _how_long(question: Question, best: Scored) -> str | None:
    for text in (best.passage.text, best.passage.around):
        found = _DURATION.search(text)
        if found:
            return re.sub(r"^for ", "", found.group(), flags=re.IGNORECASE)
    return _when(question, best) if resolve_dates(best.passage.text, best.passage.said_at) else None


def _who(question: Question, best: Scored) -> str | None:
    asked = set(question.names)
    for name in names(best.passage.text):
        if not asked & {stem(word) for word in words(name)}:
            return name
    kin = _KIN.search(best.passage.text)
    if kin:
        return re.sub(
            r"^(?:my|our)",
            f"{best.passage.speaker}'s" if best.passage.speaker else "their",
            kin.group(),
            flags=re.IGNORECASE,
        )
    speaker = {stem(word) for word in words(best.passage.speaker)}
    return best.passage.speaker if best.passage.speaker and not asked & speaker else None


def _where(question: Question, best: Scored) -> str | None:
    asked = set(question.terms)
    for text in (best.passage.text, best.passage.around):
        for pattern in (_PLACE, _SOMEWHERE):
            for match in pattern.finditer(text):
                if not {stem(word) for word in words(match[1]) if word not in STOP_WORDS} <= asked:
                    return match[1]
    known = {*question.terms, *question.names}
    for name in names(best.passage.text):
        if not known & {stem(word) for word in words(name)}:
            return name
    return _clause(question, best)


def _yes_no(_question: Question, best: Scored) -> str | None:
    text = best.passage.text
    if re.match(
        r"\W*(?:yes|yeah|yep|yup|definitely|absolutely|of course)\b", best.passage.around, re.IGNORECASE
    ):
        return "Yes"
    return "No" if negated(text) or re.match(r"\W*no(?:pe)?\b", best.passage.around, re.IGNORECASE) else "Yes"


def _clause(question: Question, best: Scored) -> str | None:
    """The statement itself; of a long one the clause asked about, from the words that were asked about on."""
    statement = best.passage.text
    parts = [statement]
    if len(words(statement)) > _SHORT:
        clauses = [clause for clause in _CLAUSE.split(statement) if clause and words(clause)]
        clause = max(clauses, key=lambda clause: _news(clause, question, best), default="")
        places = [m for m in WORD.finditer(clause) if stem(m.group().lower()) in best.matched]
        after = clause[places[-1].end() :] if places else ""
        parts = [after, clause, statement]
    for part in parts:
        trimmed = _WEAK_END.sub("", _WEAK_START.sub("", part.strip()))
        if _new_words(trimmed, question) >= (2 if part is not statement else 1):
            return trimmed
    return None


def _news(clause: str, question: Question, best: Scored) -> float:
    shared = sum(stem(word) in best.matched for word in words(clause))
    new = min(_new_words(clause, question), 4)
    return 5 * shared + new if new else 0


def _new_words(text: str, question: Question) -> int:
    """Content words that the question did not hold."""
    known = {*question.terms, *question.names, *_LIGHT}
    return sum(word not in STOP_WORDS and stem(word) not in known for word in words(text))


_BY_KIND: Mapping[Kind, Callable[[Question, Scored], str | None]] = {
    "when": _when,
    "how many": _how_many,
    "how long": _how_long,
    "who": _who,
    "where": _where,
    "yes-no": _yes_no,
}

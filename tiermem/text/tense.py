"""Whether a weekday or month of a text lies ahead or back, by the tense of its clause.

"My exam is on Saturday" looks ahead, "we met on Saturday" back. Where the clause does not decide, there is
no answer: a day that is left out does less harm than a wrong one. Words are in `tiermem.text.cues`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tiermem.text.cues import ENGLISH
from tiermem.text.words import lower, word_list

Tense = Literal["past", "future"]

_REACH = 160
"""Characters on either side of a date in which its sentence is looked for."""


def _any(phrases: Iterable[str]) -> str:
    """An expression for any of the phrases, longest first."""
    ordered = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return "(?:" + "|".join(re.escape(phrase).replace(r"\*", r"\w*") for phrase in ordered) + ")"


_SUBJECT = _any(ENGLISH.subjects)
_ADVERB = _any(ENGLISH.adverbs)
_FILL = rf"(?:\s(?:{_SUBJECT}|{_ADVERB})(?![\w']))*"
"""Subjects and adverbs inside a verb group."""
_BE = (
    r"(?:\b(?:am|is|are|isn't|isnt|aren't|arent|im|youre|theyre|hes|shes|thats|whats)\b|'m\b|'re\b|"
    r"\b(?:he|she|it|who|what|that|there|here|where|when|how|everyone|everybody|someone)'s\b|"
    r"'s(?=\s\w+ing\b))"
)
_WAS = r"\b(?:was|were|wasn't|weren't|wasnt|werent)\b"
_HAVE = r"(?:\b(?:have|has|haven't|hasn't|havent|hasnt|ive|weve|theyve|youve)\b|'ve\b)"
_ED = rf"\b(?!{_any(ENGLISH.no_past)}\b)\w{{2,}}ed\b"
_PARTICIPLE = rf"(?:{_ED}|\b{_any({*ENGLISH.participles, *ENGLISH.past})}\b)"
_ATTRIBUTE = "".join(
    rf"(?<!\b{word} )" for word in word_list("a an the my our your so very be being get gets getting")
)

_GROUPS = re.compile(
    "|".join(
        f"(?P<{name}>{pattern})"
        for name, pattern in {
            "open_habit": r"\bused to\b",
            "open_was": rf"{_WAS}{_FILL}\s(?:{_any(ENGLISH.intended)})\b",
            "ahead_committed": rf"\b{_any(ENGLISH.committing)}\sto\b",
            "open_controlled": rf"\b{_any(ENGLISH.controlling)}(?:\s[\w']+){{0,3}}?\sto\b",
            "ahead_better": r"(?:'d|\bhad) better\b",
            "open_could": r"\bcould(?:n't|\s(?:hardly|barely|only|not))\b",
            "past_modal": rf"\b(?:would|could|should|might|must|may)(?:{_FILL}\shave|'ve){_FILL}\s[\w']+",
            "past_did": rf"\b(?:did|didn't|didnt){_FILL}\s[\w']+",
            "past_had": rf"(?:'d(?:{_FILL}\shave)?|\bhad|\bhadn't){_FILL}\s{_PARTICIPLE}",
            "ahead_would": rf"'d\b{_FILL}(?:\s[\w']+)?",
            "past_thanks": (
                rf"\bthank(?:s|\syou)(?:\s[\w']+){{0,3}}?\sfor(?:\s{_any(ENGLISH.thanked)}\b|\s*\Z)"
            ),
            "ahead_got": rf"{_HAVE}{_FILL}\sgot\b|\b\w+'s\sgot\b",
            "open_perfect": rf"(?:{_HAVE}|\b\w+'s){_FILL}\s{_PARTICIPLE}",
            "open_state": rf"(?:{_BE}|\b(?:do|does|don't|dont|doesn't)\b){_FILL}\s{_any(ENGLISH.states)}\b",
            "open_done": rf"{_BE}{_FILL}\s{_any(ENGLISH.completed)}\b",
            "ahead_phrase": rf"\b{_any(ENGLISH.future)}\b",
            "ahead_modal": rf"(?:\b|(?<=\w)(?='ll)){_any(ENGLISH.modals)}(?![\w']){_FILL}(?:\s[\w']+)?",
            "ahead_be": rf"{_BE}{_FILL}(?:\s{_ED})?",
            "ahead_have": _HAVE,
            "past_got": r"\bgot (?:back|home|in|here|there|up|out|off|married|engaged|stuck|sick|\w+ed)\b",
            "open_got": r"\bgot\b",
            "past_verb": rf"\b{_any(ENGLISH.past)}(?![\w'])",
            "past_same": rf"\b{_SUBJECT}\s(?:{_ADVERB}\s)?{_any(ENGLISH.past_or_present)}\b",
            "past_ed": _ATTRIBUTE + _ED,
            "scheduled": rf"\b{_any(ENGLISH.scheduled)}\b",
            "ahead_opening": rf"\A\s*{_any(ENGLISH.openings)}(?![\w'])",
        }.items()
    )
)
"""Verb groups of a clause: the first part of a name is whether it looks ahead or back or leaves that open."""
_WEEKDAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tues?|weds|thu(?:rs?)?|fri)"
"""A weekday of a list; short names that are other words too ("sat") are none."""
_LISTED_BEFORE = re.compile(
    rf"\b{_WEEKDAY}(?:\s{_any(ENGLISH.parts_of_day)}\b)?(?P<link>\s?[-–/,]\s?|\s(?:to|until|till|through|and|or)\s)"
    r"(?:on\s)?\Z"
)
_LISTED_AFTER = re.compile(rf"(?:\s?[-–/,]\s?|\s(?:to|until|till|through|and|or)\s)(?:on\s)?{_WEEKDAY}\b")
_PREPOSITION = re.compile(
    r"\b(?P<word>on|by|until|till|til|for|from|to|about|of|than|like|before|after|at|around|through)"
    r"\s(?:(?:late|early|this)\s)?\Z"
)
_SINCE = re.compile(
    r"\bsince\s(?:(?:the|this|early|late|mid|about|around|start|beginning|middle|end|of)\s)*\Z"
)
_SENTENCE_END = re.compile(r"[.!?](?=[\s\"'”)]|\Z)|\n|;")
_CLAUSE_END = re.compile(rf"[:()–—]|\s-+\s|\b{_any(ENGLISH.clause_ends)}(?![\w'])")
_PAUSE = re.compile(r",(?=\s|\Z)|\b(?:and|or)\b")
_NO_ONE_DAY_BEFORE = re.compile(
    rf"(?<![\w'])(?:{_any({*ENGLISH.indefinite, *ENGLISH.names})}|"
    rf"(?:(?:on|of|like|for|in|was|is)\s|'s\s){_any(ENGLISH.indefinite)}\s[\w'-]+|one\s[\w'-]+\s[\w'-]+|"
    rf"an?\s(?:\w+y|{_any(ENGLISH.common)}))\s\Z"
)
_NO_ONE_DAY_AFTER = re.compile(
    rf"'s?(?!\w)|\s(?:{_any(ENGLISH.parts_of_day)}s\b|the\s\d|"
    r"(?:in\s|of\s)?(?:last|next|this|the|a|that)\s(?:week|month|year|fortnight)\b|week\b|fortnight\b|"
    r"(?:before|after)\s(?:last|next)\b)"
)
_HABIT = re.compile(rf"\b{_any(ENGLISH.habits)}\b")
_EVENT_AHEAD = re.compile(rf"\b{_any(ENGLISH.events_ahead)}\b")
_REPORT = re.compile(rf"\b{_any(ENGLISH.reporting)}\b")
_ARRANGEMENT = re.compile(rf"\b{_any(ENGLISH.arranging)}\b")
_FOR_LATER = re.compile(rf"\b{_any(ENGLISH.for_later)}\b")
_ASKING = re.compile(rf"\A\s*{_any(ENGLISH.asking)}\b")
_REGRET = re.compile(rf"\b{_any(ENGLISH.regrets)}\b")
_HAS_SUBJECT = re.compile(rf"\b{_SUBJECT}(?!\w)")
_STATE = re.compile(rf"{_WAS}|\bhad\b")
_INTENTION = re.compile(r"\b(?:to|about|of|on)\s\w+ing\b")
_BESIDE = re.compile(rf"\s?(?:{_any(ENGLISH.parts_of_day)}\s)?(?:{_SUBJECT})?\s?")
"""What may precede "is" where a weekday is its subject ("Friday night is free"), or before its subject."""
_CONDITION = re.compile(r"\b(?:if|unless|wish)\b")
_SPACES = re.compile(r"[^\S\n]+")
_WORD = re.compile(r"[\w']+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clause:
    """A clause around a weekday: what precedes it, its preposition, and what follows."""

    before: str
    preposition: str
    lead: str
    after: str

    @property
    def is_bare(self) -> bool:
        """Whether nothing but its preposition precedes the weekday."""
        return not self.lead.strip()


def date_tense(text: str, start: int, end: int) -> Tense | None:
    """Whether the date at `start` to `end` lies ahead or back; `None` if its clause leaves that open."""
    before, after, is_question = _sentence(text, start, end)
    if _NO_ONE_DAY_AFTER.match(after) or _NO_ONE_DAY_BEFORE.search(before):
        return None
    if _SINCE.search(before):
        return "past"
    clause = _clause(before, after)
    if _HABIT.search(clause.before):
        return None
    return _tense(clause, is_question=is_question)


def _sentence(text: str, start: int, end: int) -> tuple[str, str, bool]:
    """What precedes and what follows a weekday in its sentence, in lower case, and whether that asks."""
    before = _SENTENCE_END.split(_plain(text[max(0, start - _REACH) : start]))[-1]
    after = _plain(text[end : end + _REACH])
    stop = _SENTENCE_END.search(after)
    return before.lstrip(), after[: stop.start()] if stop else after, stop is not None and stop[0] == "?"


def _plain(text: str) -> str:
    return _SPACES.sub(" ", lower(text).replace("’", "'"))


def _clause(before: str, after: str) -> _Clause:
    """The clause of a weekday; of days in a row ("Friday and Saturday") what is around all of them."""
    is_range = _LISTED_AFTER.match(after) is not None
    while listed := _LISTED_BEFORE.search(before):
        before, is_range = before[: listed.start()], True
    while listed := _LISTED_AFTER.match(after):
        after = after[listed.end() :]
    found = _PREPOSITION.search(before)
    preposition = found["word"] if found else ""
    edge = found.start() if found else len(before)
    ends = [match.end() for match in _CLAUSE_END.finditer(before, 0, edge)]
    cut = ends[-1] if ends else 0
    return _Clause(
        before=before[cut:],
        preposition="" if is_range and preposition == "from" else preposition,
        lead=before[cut:edge],
        after=_CLAUSE_END.split(after)[0],
    )


def _tense(clause: _Clause, *, is_question: bool) -> Tense | None:
    """The tense of the verb before the weekday, else after it, else of what the clause continues."""
    pauses = [match.end() for match in _PAUSE.finditer(clause.lead)]
    at = pauses[-1] if pauses else 0
    near = replace(clause, before=clause.before[at:], lead=clause.lead[at:])
    groups = list(_GROUPS.finditer(near.before))
    if groups:
        return _tense_of_last(groups, near)
    following = next(iter(_GROUPS.finditer(_until_pause(clause.after, skip_first=near.is_bare))), None)
    if following is not None:
        return _tense_of_next(following, near)
    if _HAS_SUBJECT.search(near.lead):
        return None
    earlier = list(_GROUPS.finditer(clause.before[:at]))
    if earlier:
        is_joined = (near.is_bare and near.preposition == "on") or not clause.lead[:at].rstrip().endswith(",")
        return _tense_of_last(earlier, clause) if is_joined else None
    if _EVENT_AHEAD.search(near.before):
        return "future"
    is_proposal = is_question and len(_WORD.findall(clause.lead)) > 1 and not _ASKING.search(clause.lead)
    return "future" if is_proposal else None


def _until_pause(after: str, *, skip_first: bool) -> str:
    """What follows up to a pause; "On Friday, we went" goes on behind the first one."""
    first, *others = _PAUSE.split(after)
    return others[0] if skip_first and others and len(_WORD.findall(first)) < 2 else first


def _tense_of_last(groups: Sequence[re.Match[str]], clause: _Clause) -> Tense | None:
    """What the verb group nearest before the weekday says, with the preposition between."""
    group, word = groups[-1], clause.preposition
    kind = str(group.lastgroup).partition("_")[0]
    if kind == "open":
        is_perfect = group.lastgroup == "open_perfect" and word in ("for", "to")
        return "future" if is_perfect and _sets_a_time(group[0]) else None
    if kind == "past":
        return _tense_of_past(group, clause)
    if group.end() > len(clause.lead):  # "looking forward to", "how about"
        return "future"
    if word in ("about", "of", "than", "like", "from") or (word == "for" and _REGRET.search(clause.lead)):
        return None
    if group.lastgroup == "ahead_be" and word == "after":
        return None
    if kind == "scheduled" and len(groups) > 1 and not group[0].endswith("s"):
        return None if str(groups[-2].lastgroup).startswith(("past", "open")) else "future"
    return "future"


def _tense_of_past(group: re.Match[str], clause: _Clause) -> Tense | None:
    """What a past form says: "booked a table for Friday" and "said it was on Friday" may look ahead."""
    word = clause.preposition
    if group.end() > len(clause.lead):  # "thanks for"
        return "past"
    if _ARRANGEMENT.search(group[0]):
        return "future" if word in ("for", "to") else None
    if _FOR_LATER.search(group[0]) and word in ("for", "to"):
        return "future"
    if _CONDITION.search(clause.lead, 0, group.start()):
        return None
    is_reported = _REPORT.search(clause.lead, 0, group.start()) and _STATE.match(group[0])
    is_named = not word and group.end() >= len(clause.lead.rstrip()) and _REPORT.search(group[0])
    is_open = word in ("for", "to", "by", "about", "of", "than", "like")
    is_intended = _INTENTION.search(clause.lead, group.end())
    return None if is_reported or is_named or is_open or is_intended else "past"


def _tense_of_next(group: re.Match[str], clause: _Clause) -> Tense | None:
    """What the verb group after the weekday says ("Monday was a disaster")."""
    kind = str(group.lastgroup).partition("_")[0]
    if clause.preposition in ("about", "of", "than", "like"):
        return None
    if clause.preposition == "from" and not clause.is_bare:
        return "past" if kind == "past" or group.lastgroup == "open_perfect" else None
    if group.lastgroup == "ahead_be" and clause.is_bare and not clause.preposition:
        return "future" if _BESIDE.fullmatch(group.string, 0, group.start()) else None
    return "future" if kind == "ahead" else "past" if kind == "past" else None


def _sets_a_time(words: str) -> bool:
    return bool(_ARRANGEMENT.search(words) or _FOR_LATER.search(words))

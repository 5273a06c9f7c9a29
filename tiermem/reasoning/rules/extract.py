"""The words of a statement that answer a question: a date, a number, a name, a place, or a clause."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from itertools import islice, pairwise

from tiermem.reasoning.rules.questions import Kind, ParsedQuestion
from tiermem.reasoning.rules.sentences import ScoredSentence
from tiermem.text import STOP_WORDS, DateMention, is_negated, resolve_dates, stem, words
from tiermem.text.literals import names
from tiermem.text.readings import plain_word
from tiermem.text.words import WORD, word_list

_CLAUSE = re.compile(
    r"(?<=[,;!?.])\s++|\)\s*+|"
    r"(?<!\s)\s++(?:[-–—]\s++|\(|(?:but|because|so that|although|though|which|while)\b\s++)",
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
_WEAK_END = frozenset(
    word_list("and or to of the a an my our their his her for with in on at is was i we it that so as")
)
_PHRASE_HANGS = frozenset(word_list("and or the a an my our"))
_TOKEN = re.compile(r"\w+")
_NEAR = 400
"""Characters after a word in which the phrase that it opens ends."""
_DAYS_A_WEEK = 7
_PLACES = 20
"""Places of a statement where such a phrase is looked for."""
_ABOUT = r"(?:about |around |over |almost |nearly |at least )?"
_COUNT = r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of|several|a few"
_NUMBER = re.compile(
    rf"\b{_ABOUT}(?:\$?\d[\d,.]*|{_COUNT}|once or twice|once|twice|both|every)\b"
    r"(?:\s+(?:times|years?|months?|weeks?|days?|hours?)\b|\s+(?!of)\w+s\b)?(?:\s+an?\s+(?:day|week|month|year)\b)?",
    re.IGNORECASE,
)
_NEXT_COUNT = re.compile(r"\b(?:and|or)\b|[,;\d]")
_COUNTED = re.compile(r"(?<!\s)\s++(?!an?\b|the\b)\w+\Z")
"""The noun that a number counts."""
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
_AMOUNT = re.compile(
    r"[$€£]\s?\d[\d,.]*\d|[$€£]\s?\d|(?<!\d[.,])\b\d++(?:[.,]\d++)*+(?:\s?k\b)?\s?(?:%|euros?\b|dollars?\b|pounds?\b|bucks\b|percent\b|€|£|\$)",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"\b(?:\d{1,2}(?::\d\d)?\s?(?:[ap]\.?m\b\.?|o['’]clock)|\d{1,2}:\d\d\b|noon|midnight"
    r"|(?:half past|quarter (?:past|to)) \w+"
    rf"|(?:at|by|around|for) (?:one|{_COUNT})\b)(?: in the (?:morning|afternoon|evening))?",
    re.IGNORECASE,
)
# A comma ends a phrase, unless it is one of a list ("Rome, Oslo and Ghent").
_PHRASE_END = re.compile(
    rf"(?:(?:an?|one|(?<!\d)\d++|{_COUNT}) )?(?:days?|weeks?|months?|years?) ago\b"
    r"|(?<!\b(?:Mr|Ms|Dr|St))(?<!\bMrs)[.]|[;:!?()\n—–\"]|\s-\s|,(?!\s+(?:[\w'’-]+\s+){0,2}[\w'’-]+(?:,|\s+(?:and|or)\s))"
    r"|\b(?:but|because|so|when|while|who|which|that|if|until|since|after|before|though|although|as|in|on|at|"
    r"for|with|from|to|by|during|last|next|this|yesterday|today|tomorrow|instead|now|too|we|i|he|she|they|"
    r"you|it)\b(?!['’]?\w)",
    re.IGNORECASE,
)
_SEGMENT_END = re.compile(r"[,;:()]\s++|(?<!\s)\s++(?:and|but|while|so|because)\s++", re.IGNORECASE)
_REASON = re.compile(
    r"\b(?:because|since|so that|in order to|that['’]s why|due to|thanks to)\b\s+(.+)", re.IGNORECASE
)
_NOT_YET = re.compile(
    r"\b(?:wants? to|hop(?:e|es|ing) to|(?:would|['’]d) (?:love|like) to|wish|one day|some ?day|might)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:called|named|names? (?:is|was|are)|name['’]s)\s+"
    r"((?:[A-Z][\w'’]*\s?)+(?:(?:,| and)\s(?:[A-Z][\w'’]*\s?)+)*)"
)
_COPULA = re.compile(r"^['’]?s?\W*\b(?:is|are|was|were|been|be)\b", re.IGNORECASE)
_WORKED_OUT = re.compile(r" \([^()]*\b\d{4}\)")
_FIRST = re.compile(r"\b(?:I|we|me|us|I['’]\w+|we['’]\w+)\b", re.IGNORECASE)
_KIN = re.compile(
    r"\b(?:my|our|her|his|their)\s+(?:\w+\s)?(?:mom|mother|dad|father|grandma|grandmother|grandpa|grandfather|sister|brother|son|daughter|"
    r"kids?|children|husband|wife|partner|girlfriend|boyfriend|friends?|family|fam|colleagues?|coworkers?|neighbou?rs?|cousins?|aunt|"
    r"uncle|team|mentor|teacher|boss|agent|buddy|buddies|dogs?|cats?)\b|\ba (?:friend|colleague|buddy)\b",
    re.IGNORECASE,
)


_WHEN_ABOUT = re.compile(r"^(?:at|by|around|for) ", re.IGNORECASE)
_MINE = re.compile(r"^(?:my|our)", re.IGNORECASE)
_BY = re.compile(r"\b(?:by|called|named)\s+(.+)")
_ASKS_NAME = re.compile(r"\b(?:names?|called|named)\b")
_SAYS_YES = re.compile(r"\A\W*(?:yes|yeah|yep|yup|definitely|absolutely|of course)\b", re.IGNORECASE)
_SAYS_NO = re.compile(r"\A\W*(?:no(?:pe)?|not)\b", re.IGNORECASE)
_TITLES = ("Mrs.", "Mrs", "Mr.", "Mr", "Ms.", "Ms", "Dr.", "Dr", "Prof.", "Prof")
_OWNED = re.compile(r"\b((?:[A-Z]\w*\s){0,4}[A-Z]\w*['’]s?|my|our)\s+(?:\w+\s+){0,2}?(\w+)")
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


_A_SHARED_WORD, _NEW_AT_MOST = 5, 4
"""What a clause's word of the question counts beside a new one, and how many new ones count."""
_LIKELY = 0.6
"""Coverage from which a statement may be a yes or a no."""
_REASON_WORDS = 3
"""New words a statement must hold to be a reason without saying "because"."""
_SHORT = 16
"""Words up to which a statement is an answer as a whole."""


def answer_from(question: ParsedQuestion, best: ScoredSentence) -> str | None:
    """The shortest part of the statement that answers; `None` when it holds nothing of the kind asked for."""
    best = _narrow(question, best)
    if question.kind not in ("when", "how long"):
        best = replace(best, sentence=replace(best.sentence, text=_WORKED_OUT.sub("", best.sentence.text)))
    found = _BY_KIND.get(question.kind, _thing)(question, best)
    return found.strip(" \t.,;:!?\"'") or None if found else None


def _narrow(question: ParsedQuestion, best: ScoredSentence) -> ScoredSentence:
    """Of "my parents live in Ghent, but I live in Bruges" the part that is about who was asked about."""
    text, speaker = best.sentence.text, {stem(word) for word in words(best.sentence.speaker)}
    edges = [0, *(match.end() for match in _SEGMENT_END.finditer(text)), len(text)]
    parts = [text[start:end] for start, end in pairwise(edges)]
    parts = [part for part in parts if best.matched and best.matched <= {stem(word) for word in words(part)}]
    own = [part for part in parts if _FIRST.search(part)]
    if len(parts) < 2 or len(own) != 1 or not speaker & set(question.people) or "'s" in question.text:
        return best
    return replace(best, sentence=replace(best.sentence, text=own[0]))


def _when(question: ParsedQuestion, best: ScoredSentence) -> str | None:
    sentence = best.sentence
    if "what time" in question.text.lower():
        clock = _CLOCK.search(sentence.text) or _CLOCK.search(sentence.around)
        return _WHEN_ABOUT.sub("", clock.group()) if clock else None
    mentions = resolve_dates(sentence.text, sentence.said_at)
    if mentions:
        return date_words(_nearest_date(best, mentions), sentence.said_at)
    beside = _dates_around(sentence.around, sentence.said_at)
    if len(beside) == 1:
        return date_words(beside[0], sentence.said_at)
    if sentence.said_at is None or _NOT_YET.search(sentence.text):
        return None
    return f"{sentence.said_at.day} {sentence.said_at:%B %Y}"


@lru_cache(maxsize=16)
def _dates_around(text: str, said_at: datetime | None) -> tuple[DateMention, ...]:
    """Kept for the turns read last: every sentence of a turn has that turn around it."""
    return resolve_dates(text, said_at)


def _nearest_date(best: ScoredSentence, mentions: tuple[DateMention, ...]) -> DateMention:
    """The date nearest to the words asked about, of equals the first."""
    places = [
        match.start()
        for match in WORD.finditer(best.sentence.text)
        if stem(match.group().lower()) in best.matched
    ]

    def distance(mention: DateMention) -> int:
        at = bisect_left(places, mention.start)
        return min((abs(mention.start - place) for place in places[max(0, at - 1) : at + 1]), default=0)

    return min(mentions, key=distance)


def date_words(mention: DateMention, said: datetime | None) -> str:
    """The date in words; a week or weekend by the day it was spoken of, as people do."""
    if said is not None and mention.precision in ("week", "weekend") and mention.kind == "relative":
        gap = (said.date() - mention.last).days
        if 0 < gap <= _DAYS_A_WEEK:
            return f"the {mention.precision} before {said.day} {said:%B %Y}"
    if said is not None and mention.precision == "season":
        return f"{mention.text.split()[-1]} {mention.first.year}"
    return mention.display


def _how_many(question: ParsedQuestion, best: ScoredSentence) -> str | None:
    """The number before the thing that is counted; where that is not said, the nearest to what is asked."""
    text = best.sentence.text
    for match in _NUMBER.finditer(text):
        rest = _NEXT_COUNT.split(text[match.end() : match.end() + _NEAR], maxsplit=1)[0]
        counted = words(rest)[:3] + words(match.group())[1:]
        if question.head and question.head in {stem(word) for word in counted}:
            return _COUNTED.sub("", match.group())
    return (
        None if question.head and question.head in best.sentence.near else _nearest(_NUMBER, question, best)
    )


def _how_much(question: ParsedQuestion, best: ScoredSentence) -> str | None:
    """The amount in the part of the statement that tells of what is paid for."""
    about_it = not question.head or question.head in best.sentence.near | best.sentence.turn
    return _nearest(_AMOUNT, question, best) if about_it else None


def _nearest(pattern: re.Pattern[str], question: ParsedQuestion, best: ScoredSentence) -> str | None:
    """The match in the part of the statement that holds most words of the question, and its head if any."""
    text = best.sentence.text
    edges = [0, *(match.end() for match in _SEGMENT_END.finditer(text)), len(text)]
    matches = [
        (len(best.matched & near), -start, found)
        for start, end in pairwise(edges)
        if (found := pattern.search(text, start, end))
        for near in [{stem(word) for word in words(text[start:end])}]
        if question.head not in best.sentence.near or question.head in near
    ]
    return max(matches, key=lambda one: one[:2])[2].group() if matches else None


def _how_long(question: ParsedQuestion, best: ScoredSentence) -> str | None:
    for text in (best.sentence.text, best.sentence.around):
        found = _DURATION.search(text)
        if found:
            return _WHEN_ABOUT.sub("", found.group())
    return _when(question, best) if resolve_dates(best.sentence.text, best.sentence.said_at) else None


def _find_person(question: ParsedQuestion, best: ScoredSentence) -> str | None:
    sentence = best.sentence
    if question.preposition:
        return _person_in(_after(question, best), question, best)
    by = _BY.search(sentence.text)
    doer = _person_in(by and by[1], question, best) or _person_in(sentence.text, question, best)
    if doer is not None:
        return doer
    speaker = {stem(word) for word in words(sentence.speaker)}
    own = _FIRST.search(sentence.text)
    return sentence.speaker if own and sentence.speaker and not set(question.names) & speaker else None


def _person_in(text: str | None, question: ParsedQuestion, best: ScoredSentence) -> str | None:
    """The first person of `text` that the question does not name: by name, or as kin of the speaker."""
    for name in names(text or ""):
        if not set(question.names) & {stem(word) for word in words(name)}:
            titled = (f"{title} {name}" for title in _TITLES)
            return next((each for each in titled if each in (text or "")), name)
    kin = _KIN.search(text or "")
    whose = f"{best.sentence.speaker}'s" if best.sentence.speaker else "their"
    return _MINE.sub(lambda _: whose, kin.group()) if kin else None


def _find_owner(question: ParsedQuestion, best: ScoredSentence) -> str | None:
    for match in _OWNED.finditer(best.sentence.text):
        if stem(match[2].lower()) == question.head:
            return match[1] if match[1].lower() not in ("my", "our") else f"{best.sentence.speaker}'s"
    return None


def _where(question: ParsedQuestion, best: ScoredSentence) -> str | None:
    if question.preposition in ("to", "from"):
        phrase = _after(question, best)
        if phrase:
            return phrase
    asked = set(question.terms)
    for text in (best.sentence.text, best.sentence.around):
        for pattern in (_PLACE, _SOMEWHERE):
            for match in pattern.finditer(text):
                place = _PHRASE_END.split(match[1], maxsplit=1)[0]
                if not {stem(word) for word in words(place) if word not in STOP_WORDS} <= asked:
                    return place
    known = {*question.terms, *question.names}
    for name in names(best.sentence.text):
        if not known & {stem(word) for word in words(name)}:
            return name
    return None


def _after(question: ParsedQuestion, best: ScoredSentence) -> str | None:
    """What follows the preposition of the question, after the word that precedes it there."""
    text = best.sentence.text
    start = 0
    if question.before_it in best.sentence.near:
        start = next(m.end() for m in WORD.finditer(text) if stem(plain_word(m)) == question.before_it)
    elif question.before_it in question.terms:
        return None
    found = re.finditer(rf"\b{question.preposition}\s++", text[start:], re.IGNORECASE)
    for match in islice(found, _PLACES):
        phrase = _phrase(text[start + match.end() : start + match.end() + _NEAR])
        if _new_words(phrase, question):
            return phrase
    return None


def _phrase(text: str) -> str:
    """The words `text` opens with, as far as one phrase goes."""
    end = next((match.start() for match in _PHRASE_END.finditer(text) if match.start()), len(text))
    kept = _without_last(text[:end], _PHRASE_HANGS)
    last = deque(_TOKEN.finditer(kept), maxlen=1)
    return kept[: last[0].end()] if last else ""


def _without_last(text: str, small: Collection[str]) -> str:
    """`text` without the small words at its end and what precedes each; unchanged if it ends on none."""
    found = list(_TOKEN.finditer(text))
    end = len(text)
    while found and found[-1].start() and found[-1].group().lower() in small:
        found.pop()
        end = found[-1].end() if found else 0
    return text[:end]


def _why(question: ParsedQuestion, best: ScoredSentence) -> str | None:
    reason = _REASON.search(best.sentence.text)
    if reason:
        return reason[1]
    return _clause(question, best) if _new_words(best.sentence.text, question) >= _REASON_WORDS else None


def _thing(question: ParsedQuestion, best: ScoredSentence) -> str | None:
    """What follows the preposition or the verb of the question; else the clause that tells it."""
    if _ASKS_NAME.search(question.text):
        named = _NAMED.search(best.sentence.text)
        return named[1] if named else None
    if question.preposition:
        phrase = _after(question, best)
        if phrase or question.before_it in best.matched:
            return phrase
    return _object(question, best) or _clause(question, best)


def _object(question: ParsedQuestion, best: ScoredSentence) -> str | None:
    """What follows the words asked about, where the statement holds all of them."""
    if not {*question.terms} <= best.matched | {question.head, *question.names}:
        return None
    text = best.sentence.text
    places = (m.end() for m in reversed(list(WORD.finditer(text))) if stem(plain_word(m)) in best.matched)
    for end in islice(places, _PLACES):
        phrase = _phrase(_COPULA.sub("", text[end : end + _NEAR]).strip())
        if _new_words(phrase, question):
            return phrase
    return None


def _yes_no(_question: ParsedQuestion, best: ScoredSentence) -> str | None:
    sentence = best.sentence
    if best.coverage < _LIKELY:
        return None
    if sentence.asked or best.matched:
        if _SAYS_YES.match(sentence.around):
            return "Yes"
        if _SAYS_NO.match(sentence.around):
            return "No"
    return "No" if is_negated(sentence.text) else "Yes"


def _clause(question: ParsedQuestion, best: ScoredSentence) -> str | None:
    """The statement itself; of a long one the clause asked about, from the words that were asked about on."""
    statement = best.sentence.text
    parts = [statement]
    if len(words(statement)) > _SHORT:
        clauses = [clause for clause in _CLAUSE.split(statement) if clause and words(clause)]
        clause = max(clauses, key=lambda clause: _news(clause, question, best), default="")
        places = [m for m in WORD.finditer(clause) if stem(m.group().lower()) in best.matched]
        after = clause[places[-1].end() :] if places else ""
        parts = [after, clause, statement]
    for part in parts:
        trimmed = _without_last(_WEAK_START.sub("", part.strip()), _WEAK_END)
        if _new_words(trimmed, question) >= (2 if part is not statement else 1):
            return trimmed
    return None


def _news(clause: str, question: ParsedQuestion, best: ScoredSentence) -> float:
    shared = sum(stem(word) in best.matched for word in words(clause))
    new = min(_new_words(clause, question), _NEW_AT_MOST)
    return _A_SHARED_WORD * shared + new if new else 0


def _new_words(text: str, question: ParsedQuestion) -> int:
    """Content words that the question did not hold."""
    known = {*question.terms, *question.names, *_LIGHT}
    return sum(word not in STOP_WORDS and stem(word) not in known for word in words(text))


_BY_KIND: Mapping[Kind, Callable[[ParsedQuestion, ScoredSentence], str | None]] = {
    "when": _when,
    "how many": _how_many,
    "how much": _how_much,
    "how long": _how_long,
    "who": _find_person,
    "where": _where,
    "yes-no": _yes_no,
    "whose": _find_owner,
    "why": _why,
}

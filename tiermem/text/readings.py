"""Whose doing each content word of a text is.

A reading is shallow: the last person named or meant ("I", "your") before a word owns it. That is enough to
notice that two texts with the same words are about different people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from tiermem.text.words import STOP_WORDS, WORD, sentences, stem, without_possessive, word_list, words

_CLAUSE_END = re.compile(
    r"[,.;:!?()\n—–]|\s-\s|\b(?:but|so|because|though|although|while|when|if|unless|and|since|until|as)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|without|cannot|neither|nor|nope|\w+n['’]t|"
    r"dont|didnt|cant|wont|isnt|wasnt|doesnt|havent|hasnt)\b",
    re.IGNORECASE,
)
# These look like denials and are none: "I can't wait to go" is about going.
_IDIOM = re.compile(
    r"\b(?:can['’]?t|cannot|couldn['’]?t|can not)\s++"
    r"(?:wait|believe|imagine|picture|get enough|help|thank|be happier|agree more|get over|stop|recommend)\b"
    r"|\b(?:not|isn['’]t|wasn['’]t|aren['’]t) (?:only|simply|merely|just (?:an?|the|about))\b"
    r"|\bno (?:doubt|problem|worries|wonder|way|matter)\b"
    r"|\bnever (?:gets|get|got) old\b|\bwhy (?:not|don['’]?t)\b|\bnot to mention\b|\b(?:nothing|no) better\b"
    r"|\bwon['’]?t (?:regret|forget)\b|\b(?:don['’]?t|never) (?:forget|worry|hesitate|miss)\b",
    re.IGNORECASE,
)
_TAG = re.compile(r"\b\w+n['’]t (?:I|you|he|she|it|we|they)(?: think)?\s*+(?=[?.!]|\Z)", re.IGNORECASE)
_FIRST = frozenset(
    word_list("""
        i i'm i've i'd i'll my me mine myself we we're we've we'd we'll our ours us im ive
    """)
)
_SECOND = frozenset(word_list("you you're you've you'd you'll your yours yourself u ur"))
_AUXILIARY = frozenset(
    word_list("""
        is was has had have would will can could should does did are were might may must
    """)
)
_POSSESSED = 2
"""Content words that belong to whom "Ann's" names, before the sentence goes on about whom it was about."""
_OPENS_CLAUSE = frozenset(
    word_list("""
        that because and while when who if as but says said thinks thought believes hopes
    """)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Who speaks the words, whom they may address, and everybody's name by its first word, lower case."""

    speaker: str
    others: tuple[str, ...]

    @property
    def addressee(self) -> str:
        """Whom "you" means; a name that no speaker has if there are several."""
        return self.others[0] if len(self.others) == 1 else "?"

    @property
    def by_name(self) -> Mapping[str, str]:
        """Everybody on the page by the first word of their name."""
        return {words(name)[0]: name for name in (*self.others, self.speaker) if words(name)}


@dataclass(frozen=True, slots=True)
class Reading:
    """One content word in its clause; `owner` is "" where the text does not say whose it is."""

    stem: str
    owner: str


_SPEECH = re.compile(
    r"""(?P<speaker>[^\n:"]{1,80}?)(?:, asked "(?P<asked>[^"\n]*)")?: (?P<said>.+)""", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Speech:
    """A text of the form `Ann: words` or `Ann, asked "question": words`."""

    speaker: str
    asked: str
    said: str
    start: int
    """Where `said` begins in the text."""


def speech(text: str) -> Speech | None:
    """`text` as somebody's own words, `None` when it does not have that form."""
    found = _SPEECH.fullmatch(text)
    return (
        Speech(found["speaker"], found["asked"] or "", found["said"], found.start("said")) if found else None
    )


def is_negated(text: str) -> bool:
    """Whether `text` denies something; "can't wait" and the like do not."""
    return bool(_NEGATION.search(_without_idioms(text)))


def idioms(text: str) -> list[str]:
    """What looks like a denial in `text` and is none."""
    return [match.group() for match in _IDIOM.finditer(text)]


def read_claim(claim: str, people: People) -> list[Reading]:
    """A claim names people; one named as the object of a verb ("asked Gina …") owns nothing.

    What precedes the first name belongs to it ("performing was a dream for Dave"); what two
    people do together ("Ann and Ben agreed") is of neither.
    """
    readings: list[Reading] = []
    by_name = people.by_name
    owner = next((by_name[word] for word in map(without_possessive, words(claim)) if word in by_name), "")
    before, left = owner, 0
    first = True
    for start, end, _ in _scopes(claim):
        found = list(WORD.finditer(claim, start, end))
        for at, match in enumerate(found):
            word = plain_word(match)
            person = by_name.get(word.removesuffix("'s"))
            if person is None:
                if _is_content(word):
                    readings.append(Reading(stem(word), owner))
                    left -= 1
                    owner = before if left == 0 else owner
            elif _is_joint(found, at, by_name):
                owner = ""
            elif word.endswith("'s") and not first:
                before, owner, left = before if left > 0 else owner, person, _POSSESSED
            elif first or _is_subject(found, at):
                owner, left = person, 0
            first = first and person is None
    return readings


def _is_joint(found: list[re.Match[str]], at: int, by_name: Mapping[str, str]) -> bool:
    """Whether "Ann and Ben" is there, at either of the two names."""
    near = {place: plain_word(found[place]) for place in range(max(0, at - 2), min(at + 3, len(found)))}
    return any(
        near.get(at + step) == "and" and near.get(at + 2 * step, "").removesuffix("'s") in by_name
        for step in (-1, 1)
    )


def read_turn(text: str, people: People) -> list[Reading]:
    """A turn speaks of "I" and "you"; a sentence without a name is taken as its speaker's."""
    readings: list[Reading] = []
    by_name = people.by_name
    for piece in sentences(text):
        owner = people.speaker
        for start, end, denied in _scopes(piece.text):
            if not denied:
                owner = people.speaker
            for match in WORD.finditer(piece.text, start, end):
                word = plain_word(match)
                if word in _FIRST:
                    owner = people.speaker
                elif word in _SECOND:
                    owner = people.addressee
                elif word.removesuffix("'s") in by_name:
                    owner = by_name[word.removesuffix("'s")]
                elif _is_content(word):
                    readings.append(Reading(stem(word), owner))
    return readings


def plain_word(match: re.Match[str]) -> str:
    """A word that was found, in lower case and with straight apostrophes."""
    return match.group().replace("’", "'").lower()


def _is_content(word: str) -> bool:
    return word not in STOP_WORDS and not _NEGATION.fullmatch(word)


def _is_subject(found: list[re.Match[str]], at: int) -> bool:
    after = plain_word(found[at + 1]) if at + 1 < len(found) else ""
    return at == 0 or after in _AUXILIARY or after == "to" or plain_word(found[at - 1]) in _OPENS_CLAUSE


def _without_idioms(text: str) -> str:
    for harmless in (_IDIOM, _TAG):
        text = harmless.sub(lambda match: "_" * len(match.group()), text)
    return text


def _scopes(text: str) -> Iterator[tuple[int, int, bool]]:
    """Cut `text` into clauses and, inside each, before and after its first negation."""
    real = _without_idioms(text)
    edges = [0, *(match.end() for match in _CLAUSE_END.finditer(real)), len(text)]
    for start, end in pairwise(edges):
        cue = _NEGATION.search(real, start, end)
        yield start, cue.start() if cue else end, False
        if cue:
            yield cue.start(), end, True


def is_only_question(said: str) -> bool:
    """Whether every sentence asks: then nothing is asserted."""
    return all(piece.text.endswith("?") for piece in sentences(said))

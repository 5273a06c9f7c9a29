"""The facts of a page without a model: its salient sentences, in their speakers' own words.

A claim reads `Caroline: I went to a support group yesterday (7 May 2023).` Its quote is the same words
as they are on the page, so it links by construction. A reply that only makes sense after a
question carries that question: `Caroline, asked "Where did you move from?": Sweden, four years ago.`
The quote stays within the one turn; the guard looks the question up on the page itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pagestore import Page, PageId, Turn
from tiermem.model import Claim
from tiermem.reasoning.rules.sentences import EvidenceSentence, evidence_sentence
from tiermem.text import DateMention, literals, resolve_dates, sentences, stem, stems, words
from tiermem.text.taken_back import GAP, LEFT_OUT
from tiermem.text.words import STOP_WORDS, word_list

_LONGEST = 320
"""Characters of a unit; a run of salient sentences is cut there."""
_LONGEST_QUESTION = 160
"""Characters up to which the question before an answer is included with it."""

_SMALL_TALK = frozenset(
    map(
        stem,
        word_list("""
            hey hi hello bye thanks thank wow yeah yes yep nope no ok okay sure great awesome amazing
            cool nice good glad happy sounds sound hope hear heard see soon talk chat catch take care
            luck congrats congratulations definitely totally absolutely really agree right know think
            thing things lot much way best better appreciate proud keep going come inspiring inspired
            wonderful fantastic incredible love look looking forward exactly course always welcome mean
            means true super pretty haha lol oh ah aw yay man dude bro buddy friend pal fun interesting
            impressive day time long week lately today new up doing happen tell let check
        """),
    )
)
_WEIGHTS = {
    "content": (0.1, 8),
    "numbers": (0.3, 2),
    "dates": (1.2, 2),
    "names": (0.3, 3),
    "own": (0.25, 1),
    "asked": (0.8, 1),
}
"""What each of these adds to a sentence's salience, and how many of a kind count: a logistic regression of
"is annotated as evidence", rounded."""
_FULL = 3
"""The weight that is salience 1."""
_AROUND, _SCENE = 2, 3
"""Turns to either side whose words make a scene, and words of one."""
SALIENT = 0.21
"""From this salience on a sentence becomes a unit.

On LoCoMo it keeps 45 % of the words and 90 % of the turns that are annotated as evidence; 0.2 keeps
52 % and 92 %, 0.23 keeps 40 % and 87 % (docs/results/local-engine.md).
"""
_SHORT = 150
"""Tokens of a page up to which `_TELLING` suffices: there is little to save, and a lone fact to lose."""
_TELLING = 0.1
"""From this salience on a sentence is included: on a short page, or with a chosen sentence of its turn."""
MOST_CLAIMS = 60
"""Claims made for one question; the same words said often make many that are one."""
_OWN = re.compile(r"\b(?:I|I['’]\w+|my|me|we|we['’]\w+|our|us|mine)\b")


@dataclass(frozen=True, slots=True)
class PageSentence:
    """One sentence of a page: its line, which sentence of that turn it is and where, itself as a sentence."""

    line: int
    number: int
    start: int
    end: int
    sentence: EvidenceSentence


async def distil(pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
    """The facts of each page, one page after the other."""
    return tuple(claim for page in pages for claim in facts_of(page, hints))


def facts_of(page: Page, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
    """One claim for each run of salient sentences, in page order. Sentences that hold a hint always count."""
    bar = SALIENT if page.tokens > _SHORT else _TELLING
    wanted = [hint.partition(": ")[2].lower() or hint.lower() for hint in hints]
    people = _people(page)
    kept = [
        placed
        for placed in sentences_of(page)
        if _salience(placed, people) >= bar or any(hint in placed.sentence.text.lower() for hint in wanted)
    ]
    scenes = {at: _scene(page, at, people) for at in {placed.line for placed in kept}}
    return tuple(_claim(page, run, people, scenes[run[0].line]) for run in _runs(kept))


def statements(chosen: Iterable[tuple[Page, PageSentence]]) -> Iterator[Claim]:
    """For each sentence the claim that holds it, with what its turn tells beside it, at most `MOST_CLAIMS`;
    what is in one already is in no other.
    """
    worded: set[PageSentence] = set()
    telling: dict[tuple[PageId, int], list[PageSentence]] = {}
    left = MOST_CLAIMS
    for page, placed in chosen:
        if placed in worded:
            continue
        if not left:
            return
        left -= 1
        people, turn = _people(page), (page.id, placed.line)
        if turn not in telling:
            near = (one for one in sentences_of(page) if one.line == placed.line)
            telling[turn] = [one for one in near if _salience(one, people) >= _TELLING]
        tells = placed in telling[turn]
        beside = telling[turn] if tells else sorted((*telling[turn], placed), key=lambda one: one.number)
        run = next(run for run in _runs(beside) if placed in run)
        if tells:  # else the others may form a claim without it too
            worded.update(run)
        yield _claim(page, run, people, _scene(page, placed.line, people))


@lru_cache(maxsize=128)
def sentences_of(page: Page) -> tuple[PageSentence, ...]:
    """Every sentence of a page that can be a claim; the pages read last are kept in memory, taken apart."""
    return tuple(placed for at, line in enumerate(page.lines) for placed in _sentences(page, at, line.turn))


def _sentences(page: Page, at: int, turn: Turn | None) -> Iterator[PageSentence]:
    body = _body(page, at)
    if turn is None or not _is_text(body + turn.speaker):
        return
    before = _question_before(page, at)
    for number, piece in enumerate(sentences(body)):
        said = evidence_sentence(
            piece.text, speaker=turn.speaker, asked=before, around=body, said_at=turn.said_at
        )
        yield PageSentence(at, number, piece.start, piece.end, said)
        before = ""


def _body(page: Page, at: int) -> str:
    return page.text[page.lines[at].body : page.lines[at].end]


def _people(page: Page) -> frozenset[str]:
    turns = (line.turn for line in page.lines)
    return frozenset(stem(word) for turn in turns if turn is not None for word in words(turn.speaker))


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _question_before(page: Page, at: int) -> str:
    """The last question of the turn before, when somebody else asked it."""
    turn, asker = page.lines[at].turn, page.lines[at - 1].turn if at else None
    if turn is None or asker is None or asker.speaker == turn.speaker:
        return ""
    asked = [piece.text for piece in sentences(_body(page, at - 1)) if piece.text.endswith("?")]
    question = asked[-1] if asked else ""
    plain = '"' not in question and _is_text(question) and bool(set(stems(question)) - _SMALL_TALK)
    return question if plain and len(question) <= _LONGEST_QUESTION else ""


def _runs(kept: Sequence[PageSentence]) -> Iterator[tuple[PageSentence, ...]]:
    """Neighbouring sentences of one turn together, cut where they grow too long."""
    run: list[PageSentence] = []
    for placed in kept:
        if run and not _continues(run, placed):
            yield tuple(run)
            run = []
        run.append(placed)
    if run:
        yield tuple(run)


def _continues(run: Sequence[PageSentence], placed: PageSentence) -> bool:
    beside = placed.line == run[-1].line and placed.number == run[-1].number + 1
    return beside and placed.end - run[0].start <= _LONGEST


@lru_cache(maxsize=1024)
def _salience(placed: PageSentence, people: frozenset[str]) -> float:
    """0 for small talk and questions, up to 1 for sentences full of dates, names and numbers."""
    said = placed.sentence
    content = set(stems(said.text)) - _SMALL_TALK - people
    if said.text.endswith("?") or not content or len(words(said.text)) < 3:
        return 0.0
    found = literals(said.text, said.said_at)
    # Whom a sentence addresses is no detail of it.
    named = [name for name in found.names if not set(map(stem, words(name))) <= people]
    counted = {
        "content": len(content),
        "numbers": len(found.numbers),
        "dates": len(found.dates),
        "names": len(named),
        "own": bool(_OWN.search(said.text)),
        "asked": bool(said.asked),
    }
    weight = sum(each * min(counted[what], most) for what, (each, most) in _WEIGHTS.items())
    return min(1.0, weight / _FULL)


def _claim(page: Page, run: Sequence[PageSentence], people: frozenset[str], scene: str | None) -> Claim:
    first, at = run[0].sentence, run[0].line
    quote = _body(page, at)[run[0].start : run[-1].end]
    mentions = resolve_dates(quote, first.said_at)
    said = " ".join(_with_dates(quote, mentions).split()).replace(GAP, LEFT_OUT)
    asked = f', asked "{first.asked}"' if first.asked else ""
    return Claim(
        text=f"{first.speaker}{asked}: {said}",
        quotes=(quote,),
        scene=scene,
        event_at=_event(mentions),
        importance=round(max(_salience(placed, people) for placed in run), 2),
    )


def _with_dates(text: str, mentions: Sequence[DateMention]) -> str:
    """`text` with the date of every relative expression after it, in brackets."""
    for mention in reversed(mentions):
        if mention.kind == "relative":
            end = mention.start + len(mention.text.rstrip("."))
            text = f"{text[:end]} ({mention.display}){text[end:]}"
    return text


def _event(mentions: Sequence[DateMention]) -> str | None:
    """The day, month or year that the first date lies in."""
    for mention in mentions:
        first, last = mention.first.isoformat(), mention.last.isoformat()
        for length in (10, 7, 4):
            if first[:length] == last[:length]:
                return first[:length]
    return None


@lru_cache(maxsize=64)
def _matters(body: str) -> tuple[str, ...]:
    """The longer words of a turn that are no stop words, each once, as they come."""
    longer = (word for word in words(body) if len(word) > 3 and word.isalpha() and word not in STOP_WORDS)
    return tuple(dict.fromkeys(longer))


def _scene(page: Page, at: int, people: frozenset[str]) -> str | None:
    """What the turns around are about: the words they repeat."""
    counts: Counter[str] = Counter()
    for near in range(max(0, at - _AROUND), min(at + _AROUND + 1, len(page.lines))):
        counts.update(_matters(_body(page, near)))
    plain = [word for word, count in counts.most_common() if count > 1 and _is_text(word)]
    return (
        " ".join(sorted([word for word in plain if stem(word) not in _SMALL_TALK | people][:_SCENE])) or None
    )

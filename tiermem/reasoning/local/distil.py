"""The facts of a page without a model: its salient sentences, in their speakers' own words.

A claim reads `Caroline: I went to a support group yesterday (7 May 2023).` Its quote is the same words
as they stand on the page, so it links by construction. A reply that only makes sense after a
question carries that question: `Caroline, asked "Where did you move from?": Sweden, four years ago.`
The quote stays within the one turn; the guard looks the question up on the page itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pagestore import Page, Turn
from tiermem.model import Claim
from tiermem.text import DateMention, Piece, literals, resolve_dates, sentences, stem, stems, words
from tiermem.text.words import word_list

_LONGEST = 320
"""Characters of a unit; a run of salient sentences is cut there."""
_LONGEST_QUESTION = 160

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
_OWN = re.compile(r"\b(?:I|I['’]\w+|my|me|we|we['’]\w+|our|us|mine)\b")
_ANAPHORIC = re.compile(
    r"^(?:yes|yeah|yep|yup|no|nope|nah|it|its|it's|they|that|this|those|these|he|she|both|sure|about|just|for|from|in|at)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Run:
    """Neighbouring salient sentences of one turn."""

    start: int
    end: int
    salience: float


def distil(page: Page, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
    """One claim for each run of salient sentences, in page order. Sentences that hold a hint always count."""
    return tuple(claim for claim, _ in statements(page, hints))


def statements(page: Page, hints: Sequence[str] = ()) -> list[tuple[Claim, Turn]]:
    """The claims of a page, each with the turn it quotes."""
    turns = [line.turn for line in page.lines]
    bodies = [page.text[line.body : line.end] for line in page.lines]
    people = frozenset(stem(word) for turn in turns if turn is not None for word in words(turn.speaker))
    wanted = [hint.partition(": ")[2].lower() or hint.lower() for hint in hints]
    found: list[tuple[Claim, Turn]] = []
    for at, (turn, body) in enumerate(zip(turns, bodies, strict=True)):
        if turn is None or not _is_text(body + turn.speaker):
            continue
        before = _question_before(turns, bodies, at)
        scene = _scene(bodies, at, people)
        for run in _runs(body, turn, wanted, people, answers=bool(before)):
            found.append((_claim(turn, body, run, before, scene), turn))
            before = ""
    return found


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _question_before(turns: Sequence[Turn | None], bodies: Sequence[str], at: int) -> str:
    """The last question of the turn before, when somebody else asked it."""
    turn, asker = turns[at], turns[at - 1] if at else None
    if turn is None or asker is None or asker.speaker == turn.speaker:
        return ""
    asked = [piece.text for piece in sentences(bodies[at - 1]) if piece.text.endswith("?")]
    question = asked[-1] if asked else ""
    plain = '"' not in question and _is_text(question) and bool(set(stems(question)) - _SMALL_TALK)
    return question if plain and len(question) <= _LONGEST_QUESTION else ""


def _runs(
    body: str, turn: Turn, wanted: Sequence[str], people: frozenset[str], *, answers: bool
) -> Iterator[_Run]:
    run: _Run | None = None
    for number, piece in enumerate(sentences(body)):
        salience = _salience(piece, turn, people, answers=answers and number == 0)
        if any(hint in piece.text.lower() for hint in wanted):
            salience = max(salience, 0.5)
        if salience <= 0:
            if run:
                yield run
            run = None
        elif run and piece.end - run.start <= _LONGEST:
            run = _Run(run.start, piece.end, max(run.salience, salience))
        else:
            if run:
                yield run
            run = _Run(piece.start, piece.end, salience)
    if run:
        yield run


def _salience(piece: Piece, turn: Turn, people: frozenset[str], *, answers: bool) -> float:
    """0 for small talk and questions, up to 1 for sentences full of names, numbers and dates."""
    if piece.text.endswith("?") or len(words(piece.text)) < 3:
        return 0.0
    content = set(stems(piece.text)) - _SMALL_TALK - people
    found = literals(piece.text, turn.said_at)
    # Whom a sentence addresses is no detail of it.
    named = [name for name in found.names if not set(map(stem, words(name))) <= people]
    precise = len(found.numbers) + 2 * len(found.dates) + len(named)
    own = bool(_OWN.search(piece.text))
    needed = 1 if precise or answers else 2 if own else 3
    if len(content) < needed:
        return 0.0
    return min(1.0, 0.25 + 0.05 * min(len(content), 6) + 0.1 * min(precise, 3) + 0.1 * own)


def _claim(turn: Turn, body: str, run: _Run, before: str, scene: str | None) -> Claim:
    quote = body[run.start : run.end]
    mentions = resolve_dates(quote, turn.said_at)
    said = " ".join(_with_dates(quote, mentions).split())
    asked = f', asked "{before}"' if before else ""
    return Claim(
        text=f"{turn.speaker}{asked}: {said}",
        quote=quote,
        scene=scene,
        event_at=_event(mentions),
        importance=round(run.salience, 2),
    )


def _with_dates(text: str, mentions: Sequence[DateMention]) -> str:
    """`text` with the date of every relative expression after it, in brackets."""
    for mention in reversed(mentions):
        if mention.kind == "relative":
            text = f"{text[: mention.end]} ({mention.display}){text[mention.end :]}"
    return text


def _event(mentions: Sequence[DateMention]) -> str | None:
    """The day, month or year that the first date lies in."""
    for mention in mentions:
        first, last = mention.first.isoformat(), mention.last.isoformat()
        for length in (10, 7, 4):
            if first[:length] == last[:length]:
                return first[:length]
    return None


def _scene(bodies: Sequence[str], at: int, people: frozenset[str]) -> str | None:
    """What the turns around are about: the words they repeat."""
    counts: Counter[str] = Counter()
    for body in bodies[max(0, at - 2) : at + 3]:
        counts.update({word for word in words(body) if word.isalpha() and len(word) > 3 and stems(word)})
    plain = [word for word, count in counts.most_common() if count > 1 and _is_text(word)]
    return " ".join(sorted([word for word in plain if stem(word) not in _SMALL_TALK | people][:3])) or None

"""Lessons put in the layout that is read in use: a text among others, as turns of people on days.

What is drawn depends on the lesson's name alone; what is put together is of one group or of one part.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from eval.research.training.data.derived import draw
from eval.research.training.data.examples import Example
from tiermem.reasoning.interface import SaidTurn
from tiermem.reasoning.learned.passage import READ, ReadingPassage, passage_of
from tiermem.text import sentences, stems

_NAMES: Final = ("Ann", "Ben", "Clara", "David", "Elena", "Felix", "Grace", "Hugo", "Irene", "Jonas", "user")
_DATED: Final = 0.75
"""The share of passages whose turns have a day, as nearly all have in use."""
_FIRST_DAY: Final = datetime(2021, 1, 1, tzinfo=UTC)
_DAYS: Final = 1200
_SHORTEST: Final = 12
"""Characters that a sentence has at least to stand as a turn."""


def in_turns(lessons: Sequence[Example], asked: Example) -> Example:
    """Texts of several lessons as turns of a conversation, one of which answers what `asked` asks."""
    texts = [one.second for one in lessons]
    return as_turns(texts, lessons.index(asked), asked)


def as_turns(
    texts: Sequence[str], at: int | None, asked: Example, *, speakers: Sequence[str] = ()
) -> Example:
    """The texts as turns, of two people where no speakers are given; `asked`'s places are of the text number
    `at`, of none if `None`.
    """
    chance = draw(asked, "turns")
    who = chance.sample(_NAMES, 2)
    dated = chance.random() < _DATED
    turns = [
        SaidTurn(speaker=speaker, text=one, said_at=_day(chance) if dated else None)
        for one, speaker in zip(texts, speakers or [chance.choice(who) for _ in texts], strict=True)
    ]
    passage = passage_of(asked.first, turns)
    return replace(
        asked,
        id=f"{asked.id}:turns",
        second=passage.text,
        spans=() if at is None else _moved(asked.spans, passage, at),
    )


def _day(chance: random.Random) -> datetime:
    return _FIRST_DAY + timedelta(days=chance.randrange(_DAYS))


def _moved(spans: Iterable[tuple[int, int]], passage: ReadingPassage, at: int) -> tuple[tuple[int, int], ...]:
    """The spans of one turn's text where they stand in the passage; those cut off are left out."""
    line = passage.lines[at]
    moved = [(start + line.start - line.offset, end + line.start - line.offset) for start, end in spans]
    return tuple((start, end) for start, end in moved if line.start <= start and end <= line.end)


def side_by_side(lessons: Sequence[Example], count: int) -> Iterator[Example]:
    """So many lessons on single sentences, each among up to four others: as a text, or as turns."""
    by_text: dict[str, Example] = {one.second: one for one in lessons}
    texts = list(by_text.values())
    order = sorted(lessons, key=lambda one: draw(one, "order").random())
    for asked in order[:count]:
        chance = draw(asked, "company")
        beside = [one for one in chance.sample(texts, min(4, len(texts))) if one.second != asked.second]
        company = [*beside[: chance.randint(1, 4)], asked]
        chance.shuffle(company)
        yield in_turns(company, asked) if chance.random() < 0.5 else _stitched(company, asked)


def _stitched(company: Sequence[Example], asked: Example) -> Example:
    ahead = sum(len(one.second) + 1 for one in company[: company.index(asked)])
    return replace(
        asked,
        id=f"{asked.id}:stitched",
        second=" ".join(one.second for one in company),
        spans=tuple((start + ahead, end + ahead) for start, end in asked.spans),
    )


def among_rivals(lessons: Sequence[Example]) -> Iterator[Example]:
    """Every lesson as a search would show it: the sentence that answers among those of its group that share
    most words with the question, each a turn. A lesson without an answer shows such sentences of its own
    text alone, for what else its group holds might answer.
    """
    by_group = _sentences_of(lessons)
    for asked in lessons:
        own = [piece.text for piece in sentences(asked.second)]
        holder = _holder(asked)
        if asked.spans and holder is None:
            continue
        held = "" if holder is None else holder.second
        known = by_group[asked.group] if holder else {one: by_group[asked.group][one] for one in own
                                                      if len(one) >= _SHORTEST}  # fmt: skip
        rivals = _nearest(asked, known, held)
        chance = draw(asked, "rivals")
        texts = [*rivals[: READ - 1], held] if holder else rivals
        chance.shuffle(texts)
        if texts:
            yield as_turns(texts, texts.index(held) if holder else None, holder or asked)


def of_a_scene(lessons: Iterable[Example]) -> Iterator[Example]:
    """Lessons on scenes, a line an utterance, as a search would show them: the utterance that answers among
    the others that share most words with the question, each with its speaker.
    """
    for asked in lessons:
        begins, at, lines = 0, None, asked.second.splitlines()
        for number, line in enumerate(lines):
            if asked.spans and begins <= asked.spans[0][0] < begins + len(line):
                at, ahead = number, begins + len(line.partition(": ")[0]) + 2
            begins += len(line) + 1
        if at is not None:
            held = lines[at].partition(": ")[2]
            inside = tuple(
                (a - ahead, b - ahead) for a, b in asked.spans if a - ahead >= 0 and b - ahead <= len(held)
            )
            known = {line: frozenset(stems(line)) for line in lines}
            shown = [*_nearest(asked, known, lines[at])[: READ - 1], lines[at]]
            draw(asked, "rivals").shuffle(shown)
            parts = [line.partition(": ") for line in shown]
            yield as_turns(
                [part[2] for part in parts],
                shown.index(lines[at]),
                replace(asked, spans=inside),
                speakers=[part[0] for part in parts],
            )


def _sentences_of(lessons: Sequence[Example]) -> Mapping[str, dict[str, frozenset[str]]]:
    """By group, its sentences and the stems of each."""
    found: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    for text, group in dict.fromkeys((one.second, one.group) for one in lessons):
        for piece in sentences(text):
            if len(piece.text) >= _SHORTEST:
                found[group].setdefault(piece.text, frozenset(stems(piece.text)))
    return found


def _holder(asked: Example) -> Example | None:
    """The lesson over the one sentence that holds its first answer whole."""
    for start, end in asked.spans[:1]:
        for piece in sentences(asked.second):
            if piece.start <= start and end <= piece.end:
                moved = [(a - piece.start, b - piece.start) for a, b in asked.spans]
                inside = tuple((a, b) for a, b in moved if a >= 0 and b <= len(piece.text))
                return replace(asked, second=piece.text, spans=inside)
    return None


def _nearest(asked: Example, known: Mapping[str, frozenset[str]], held: str) -> list[str]:
    """The sentences that share most words with the question and hold no answer to it, best first."""
    wanted = frozenset(stems(asked.first))
    answers = [one.lower() for one in asked.answers]
    rivals = [
        text for text in known if text != held and not any(answer in text.lower() for answer in answers)
    ]
    return sorted(rivals, key=lambda text: (-len(wanted & known[text]), text))[:READ]

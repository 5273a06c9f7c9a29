"""Gold answers with one thing made wrong, and the turns annotated as their evidence.

A number is changed by one, a date by a day, month or year, a name replaced, or one content word replaced by a
content word of another gold answer.
"""

import random
import re
from collections.abc import Iterator, Sequence

from eval.types import Case, LabelledQuestion
from tests.proof.guard_on_real_text import OTHER_NAMES, altered_date, altered_word
from tiermem.text import Source, resolve_dates
from tiermem.text.literals import names
from tiermem.text.words import word_list

WORDS = word_list("zero one two three four five six seven eight nine ten eleven twelve")


def evidence(case: Case, question: LabelledQuestion) -> list[Source]:
    """The turns named as evidence of a question, as what an answer cites."""
    turns = {session.id: session.turns for session in case.sessions}
    return [
        Source(turn.text, turn.said_at, turn.speaker)
        for passage in question.evidence
        for turn in turns[passage.session][passage.start : passage.end]
    ]


def altered_by_one(answer: str) -> Iterator[str]:
    dates = resolve_dates(answer, None)
    for match in re.finditer(r"(?<![\d.,:])\d+(?![\d:]|[.,]\d)", answer):
        if not any(mention.start <= match.start() < mention.end for mention in dates):
            for step in (-1, 1):
                yield answer[: match.start()] + str(int(match.group()) + step) + answer[match.end() :]
    for match in re.finditer(r"\b(?:" + "|".join(WORDS[2:-1]) + r")\b", answer, re.IGNORECASE):
        at = WORDS.index(match.group().lower())
        for other in (WORDS[at - 1], WORDS[at + 1]):
            yield answer[: match.start()] + other + answer[match.end() :]


def altered_name(answer: str) -> Iterator[str]:
    for at, name in enumerate(dict.fromkeys(names(answer))):
        yield re.sub(r"\b" + re.escape(name) + r"\b", OTHER_NAMES[at % len(OTHER_NAMES)], answer)


def alterations(answer: str, pool: Sequence[str], chance: random.Random) -> Iterator[tuple[str, str]]:
    for kind, made in (
        ("number", altered_by_one(answer)), ("date", altered_date(answer)), ("name", altered_name(answer)),
        ("word", altered_word(answer, pool, chance)),
    ):  # fmt: skip
        yield from ((kind, text) for text in dict.fromkeys(made) if text != answer)


def gold_of(question: LabelledQuestion) -> str:
    """Return the gold answer; of "7 days. 8 days (including the last day) is also acceptable." the first."""
    return question.gold[0].split(". ")[0] if "acceptable" in question.gold[0] else question.gold[0]

"""Claims that a model wrote of conversations, and the same claims altered, each with the turn it rests on.

The facts were not checked by a person, and some rest on several turns: what is learned of them is noisy.
An altered claim says another number, month or name, or the opposite.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from eval.corpus import turn_passage
from eval.research.training.data.conversations import spoken
from eval.research.training.data.examples import GRADES, Example
from eval.types import Case, Passage
from tiermem.model import Claim
from tiermem.reasoning.learned.passage import passage_of
from tiermem.text.dates import MONTHS

_NUMBER: Final = re.compile(r"\b\d{1,4}\b")
_MONTH: Final = re.compile(rf"\b(?:{'|'.join(month.capitalize() for month in MONTHS)})\b")
_VERB: Final = re.compile(r"\b(is|was|are|were|has|had|can|will|would)\b(?! not)")
_NEGATED: Final = re.compile(r"\b(?:not|never)\s+")


def alterations(claim: str, speakers: Sequence[str]) -> list[str]:
    """The claim with another number, month or speaker, and with the opposite said, where it can be."""
    made = [
        _NUMBER.sub(lambda found: str(int(found[0]) + 1 + len(found[0])), claim, count=1),
        _MONTH.sub(lambda found: _after(found[0]), claim, count=1),
        _exchanged(claim, speakers),
        _NEGATED.sub("", claim, count=1) if _NEGATED.search(claim) else _VERB.sub(r"\1 not", claim, count=1),
    ]
    return list(dict.fromkeys(one for one in made if one != claim))


def _after(month: str) -> str:
    return MONTHS[(MONTHS.index(month.lower()) + 5) % len(MONTHS)].capitalize()


def _exchanged(claim: str, speakers: Sequence[str]) -> str:
    if len(speakers) != 2:
        return claim
    one, other = map(re.escape, speakers)
    swap = {speakers[0]: speakers[1], speakers[1]: speakers[0]}
    return re.sub(rf"\b(?:{one}|{other})\b", lambda found: swap[found[0]], claim)


def supporting(case: Case, facts: Mapping[str, Sequence[Claim]], group: str) -> Iterator[Example]:
    """Every fact over its turn, altered over its turn, and as it is over another turn of the conversation."""
    speakers = sorted({turn.speaker for session in case.sessions for turn in session.turns})
    places = [turn_passage(stored) for stored in facts]
    for stored, claims in facts.items():
        home = turn_passage(stored)
        for number, claim in enumerate(claims):
            name = f"locomo-facts:{case.id}:{stored}:{number}"
            chance = random.Random(name)  # noqa: S311 - the same draw for the same claim
            altered = alterations(claim.text, speakers)
            told = [(claim.text, home, "stated"), (claim.text, chance.choice(places), "unclear")]
            if altered:
                told.append((chance.choice(altered), home, "contradicted"))
            for text, place, grade in told:
                if grade == "unclear" and place == home:
                    continue
                yield _graded(case, text, place, name=f"{name}:{grade}", grade=grade, group=group)


def _graded(case: Case, claim: str, place: Passage, *, name: str, grade: str, group: str) -> Example:
    turn = spoken(case.turn(place))
    return Example(
        id=name,
        source="locomo-facts",
        group=group,
        task="support",
        first=claim,
        second=passage_of(claim, [turn]).text,
        label=GRADES.index(grade),
    )

"""An engine that distils facts a large language model wrote down earlier, turn by turn.

So Tier 1 is what a real model makes of a conversation, without a model and the same every time.
Everything but distilling is judged by another engine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eval.corpus import turn_id
from eval.types import Case, Passage
from pagestore import Page
from tiermem.errors import InvalidInput
from tiermem.model import Claim
from tiermem.reasoning import Engine


@dataclass(frozen=True, slots=True)
class DistilRecorded:
    """Serves pages the facts that rest on their turns. `facts` are by the id a turn is stored under."""

    facts: Mapping[str, Sequence[Claim]]

    async def __call__(self, pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
        """The recorded facts of the pages' turns, in the order of the pages."""
        lines = (line for page in pages for line in page.lines)
        turns = [line.turn.turn_id for line in lines if line.turn and line.turn.turn_id]
        return tuple(fact for turn in dict.fromkeys(turns) for fact in self.facts.get(turn, ()))


def recorded(facts: Mapping[str, Sequence[Claim]], others: Engine) -> Engine:
    """`others`, but for distilling; its name says who made the units, and who answers."""
    return replace(others, name=f"recorded facts + {others.name}", distil=DistilRecorded(facts))


def read_facts(file: Path, case: Case, places: Mapping[str, Passage]) -> dict[str, list[Claim]]:
    """The facts of one conversation by the turn that holds their words; `InvalidInput` names a bad line.

    `places` says where the dataset's own turn ids stand. A fact rests on several turns: it belongs to
    the one that holds its quote, else to the first that exists.
    """
    facts: dict[str, list[Claim]] = {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InvalidInput(f"cannot read recorded facts: {error}") from error
    for number, line in enumerate(lines, start=1):
        try:
            written = json.loads(line)
            turns = [places[name] for name in written["dia_ids"] if name in places]
            claim = Claim(text=written["fact"], quotes=(written["quote"],))
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"line {number} of {str(file)!r} is no recorded fact: {error!r}") from error
        if not turns:
            continue
        home = next((turn for turn in turns if _holds(case.turn(turn).text, claim)), turns[0])
        facts.setdefault(turn_id(home.session, home.start), []).append(claim)
    return facts


def renamed_claim(claim: Claim, to: Callable[[str], str]) -> Claim:
    """The fact under other names, its quotes with it."""
    return replace(claim, text=to(claim.text), quotes=tuple(map(to, claim.quotes)))


def _holds(text: str, claim: Claim) -> bool:
    return all(quote in text for quote in claim.quotes)

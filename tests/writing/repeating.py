"""Judges for writing that repeat all they are shown in every text they may write, in words of their own."""

import re
from collections.abc import Sequence
from dataclasses import replace

from pagestore import Page, Turn
from tests.ledger.building import answer
from tests.writing.parts import Rules, finding_on
from tiermem.ledger import Ledger
from tiermem.model import (
    Answer,
    Claim,
    Degradation,
    Evidence,
    Finding,
    LinkedFact,
    Round,
    Search,
    SummaryUnit,
)
from tiermem.reasoning.interface import Operation

_CANARY = re.compile(r"canary[a-z]|[a-z]yranac")
PLACES = ("mill", "tower", "barn")


def canary(number: int) -> str:
    """A word that stands in one turn alone."""
    return f"canary{chr(ord('a') + number)}"


def spoken(number: int, place: str) -> str:
    """What is said in a turn."""
    return f"Ann carried {number + 10} heavy stones in the morning to the {place} of {canary(number)}."


def echo(*texts: str) -> str:
    """The telling words of some texts, back to front: a paraphrase that no search for words finds."""
    found = dict.fromkeys(word for text in texts for word in _CANARY.findall(text))
    return " ".join(word if "yranac" in word else word[::-1] for word in found)


class Repeating(Rules):
    """Tells every sentence, with what else it was shown; merges, supersedes and rejects by chance."""

    async def distil(self, pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
        shown = echo(*(page.text for page in pages), *hints)
        turns = [line.turn.text for page in pages for line in page.lines if line.turn is not None]
        told = [Claim(text=text, quotes=(text,), scene=f"Talk of {shown}") for text in turns]
        worded = [Claim(text=f"{text[:-1]}, {shown}.", quotes=(text,), scene=shown) for text in turns]
        astray = [Claim(text=f"Stones of {shown}", quotes=(f"they carried {shown}",))]
        return (*told, *worded, *astray)

    async def reconcile(self, fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
        decided = await super().reconcile(fact, neighbours)
        shown = echo(fact.claim, *(unit.text for unit in neighbours))
        text = f"{decided.text[:-1]} {shown}." if decided.text is not None else None
        return replace(decided, reason=f"weighed {shown}", text=text)


async def asked(ledger: Ledger, answer_id: str, found: Turn, shown: Sequence[Turn]) -> tuple[Answer, Finding]:
    """An answer that was shown some turns and read the page of one, repeats them all, and its finding."""
    units = [unit for unit in ledger.tier1.units() if any(turn.text[:-1] in unit.text for turn in shown)]
    facts = [(await finding_on(ledger, turn.text)).fact for turn in (*shown, found)]
    evidence = [
        *(Evidence(text=f.claim, spans=f.spans, score=1.0, source="turn") for f in facts),
        *(Evidence(text=u.text, spans=u.spans, score=1.0, source="unit", unit_id=u.id) for u in units),
    ]
    repeated = echo(*(item.text for item in evidence))
    base = answer(answer_id)
    search = Search(kind="KEYWORD", query=repeated)
    looked = Round(
        number=0, searches=(search,), pages=(), facts=1, rejected=0, coverage=repeated, stop=repeated
    )
    trace = replace(
        base.trace,
        candidates=tuple(evidence),
        decision=replace(base.trace.decision, reason=repeated),
        rounds=(looked,),
        degradations=(Degradation(stage="plan", reason=repeated, fallback="none"),),
    )
    claim = f"{found.text[:-1]} {repeated}."
    finding = await finding_on(ledger, claim, answer_id=answer_id, quote=found.text)
    return replace(base, text=repeated, missing=repeated, trace=trace), finding

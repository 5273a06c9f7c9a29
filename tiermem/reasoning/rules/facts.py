"""The value of a fact that has one at a time: that of the latest statement, or the earlier one asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from tiermem.model import Evidence
from tiermem.reasoning.interface import ABSTAINED, Draft
from tiermem.text.histories import SaidTurn, find_fact
from tiermem.text.readings import speech


def answer_fact(question: str, evidence: Sequence[Evidence], asked_at: datetime) -> Draft | None:
    """Return the value that was stated, or an abstention if the last one holds no more.

    `None` if the question asks for no such fact, or nothing of the evidence states it.
    """
    spoken = [
        (at, one)
        for at, one in ((at, speech(item.quote or item.text)) for at, item in enumerate(evidence))
        if one is not None and evidence[at].source != "page"
    ]
    turns = [
        SaidTurn(speaker=one.speaker, text=one.said.strip('"'), said_at=evidence[at].said_at)
        for at, one in spoken
    ]
    known = find_fact(question, turns, asked_at)
    if known is None:
        return None
    if known.answer is None:
        return replace(ABSTAINED, complete=True)
    return Draft(text=known.answer.statement.value, cited=(spoken[known.answer.turn][0],), abstained=False)

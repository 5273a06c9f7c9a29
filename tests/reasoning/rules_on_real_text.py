"""How well the local engine words answers on real dialogue.

    python -m tests.reasoning.rules_on_real_text [path to locomo] [--show N]

"gold": the evidence is the annotated turns alone. "found": the units that BM25 ranks first
for the question. Token F1 is the official one (lower case, no articles or punctuation, stemmed);
category 5 cannot be answered, so there the share of abstentions is what counts.
"""

import argparse
import asyncio
import re
import string
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rank_bm25 import BM25Okapi

from pagestore import Page
from tests.engines import compose_of
from tests.text.dialogue import Conversation, conversations
from tiermem.model import Evidence, LinkedFact
from tiermem.proof import link
from tiermem.reasoning import Draft, Engine, PageView, by_rules
from tiermem.reasoning.rules.route import route
from tiermem.text import stem, stems

ASKED_AT = datetime(2024, 1, 1, tzinfo=UTC)
FOUND = 10
RECALLED = PAGES = 5


def token_f1(answer: str, gold: str) -> float:
    told, wanted = Counter(_tokens(answer)), Counter(_tokens(gold))
    same = sum((told & wanted).values())
    return 2 * same / (sum(told.values()) + sum(wanted.values())) if same else 0.0


def _tokens(text: str) -> list[str]:
    plain = "".join(" " if char in string.punctuation else char for char in text.lower().replace(",", ""))
    return [stem(word) for word in re.sub(r"\b(?:a|an|the|and)\b", " ", plain).split()]


@dataclass
class Units:
    """The units of one conversation, and a keyword index over them."""

    evidence: list[Evidence]
    turn_ids: list[str]
    index: Any

    def found(self, question: str, limit: int) -> list[int]:
        scores = self.index.get_scores(stems(question))
        return sorted(range(len(scores)), key=lambda at: -scores[at])[:limit]


async def units_of(talk: Conversation, engine: Engine) -> Units:
    made = Units([], [], None)
    for page in talk.pages:
        for claim in await engine.distil([page]):
            fact = link(claim, [page])
            if isinstance(fact, LinkedFact) and fact.is_supported:
                turn = page.line_at(fact.spans[0].start).turn
                assert turn is not None
                made.turn_ids.append(turn.turn_id or "")
                made.evidence.append(
                    Evidence(
                        text=fact.claim,
                        spans=fact.spans,
                        score=1.0,
                        source="unit",
                        said_at=turn.said_at,
                        event_at=fact.event_at,
                    )
                )
    made.index = BM25Okapi([stems(item.text) or ["-"] for item in made.evidence])
    return made


async def research(
    talk: Conversation, engine: Engine, question: str, pages: Sequence[Page]
) -> list[Evidence]:
    """Facts that the engine reads off whole pages, as evidence."""
    integrated = await engine.integrate(
        question, [PageView(page=page) for page in pages], [], asked_at=ASKED_AT
    )
    evidence = []
    for claim in integrated.claims:
        fact = link(claim, pages)
        if isinstance(fact, LinkedFact) and fact.is_supported:
            page = next(page for page in pages if page.id == fact.spans[0].page_id)
            turn = page.line_at(fact.spans[0].start).turn
            evidence.append(
                Evidence(
                    text=fact.claim,
                    spans=fact.spans,
                    score=1.0,
                    source="unit",
                    said_at=turn.said_at if turn else None,
                )
            )
    return evidence


class Scores:
    """Sums per setting and category."""

    def __init__(self) -> None:
        self.f1: dict[tuple[str, int], list[float]] = defaultdict(list)
        self.abstained: dict[tuple[str, int], list[float]] = defaultdict(list)
        self.route: Counter[tuple[str, bool]] = Counter()
        self.cases: list[str] = []

    def add(self, setting: str, qa: dict[str, Any], draft: Draft) -> None:
        category, gold = qa["category"], str(qa.get("answer", ""))
        self.abstained[setting, category].append(draft.abstained)
        f1 = 0.0 if draft.abstained else token_f1(draft.text, gold)
        if category != 5:
            self.f1[setting, category].append(f1)
        said = draft.text or "(abstains)"
        self.cases.append(f"{setting} cat{category} f1={f1:.2f} {qa['question']} | gold: {gold} | {said}")

    def table(self) -> str:
        rows = []
        for setting in dict.fromkeys(setting for setting, _ in self.abstained):
            cells = []
            for category in range(1, 6):
                f1, held = self.f1[setting, category], self.abstained[setting, category]
                cells.append(f"cat{category} n={len(held)} f1={_mean(f1):.3f} abstains={_mean(held):.3f}")
            every = [value for c in range(1, 5) for value in self.f1[setting, c]]
            rows.append(f"{setting:9} all f1={_mean(every):.3f}  " + "  ".join(cells))
        rows.append(f"route (right unit recalled?): {dict(self.route)}")
        return "\n".join(rows)

    def mean_f1(self, setting: str, category: int) -> float:
        return _mean(self.f1[setting, category])

    def share_abstained(self, setting: str, category: int) -> float:
        return _mean(self.abstained[setting, category])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


async def answer(units: Units, ids: Sequence[int], qa: dict[str, Any], engine: Engine) -> Draft:
    return await compose_of(engine)(qa["question"], [units.evidence[at] for at in ids], asked_at=ASKED_AT)


def annotated(talk: Conversation, qa: dict[str, Any]) -> list[Evidence]:
    """The lines of the turns that were annotated as evidence."""
    turns = [talk.turns[turn_id] for turn_id in qa["evidence"] if turn_id in talk.turns]
    return [
        Evidence(
            text=f"{turn.speaker}: {turn.text}", spans=(), score=1.0, source="turn", said_at=turn.said_at
        )
        for turn in turns
    ]


async def answer_from_gold(talk: Conversation, engine: Engine, scores: Scores) -> None:
    for qa in talk.qa:
        draft = await compose_of(engine)(qa["question"], annotated(talk, qa), asked_at=ASKED_AT)
        scores.add("gold", qa, draft)


async def measure(talk: Conversation, engine: Engine, scores: Scores) -> None:
    await answer_from_gold(talk, engine, scores)
    units = await units_of(talk, engine)
    for qa in talk.qa:
        found = units.found(qa["question"], FOUND)
        scores.add("found", qa, await answer(units, found, qa, engine))
        ids = dict.fromkeys(talk.page_of_turn[units.turn_ids[at]].id for at in found)
        pages = [next(page for page in talk.pages if page.id == page_id) for page_id in ids][:PAGES]
        facts = await research(talk, engine, qa["question"], pages)
        evidence = [*facts, *(units.evidence[at] for at in found[:RECALLED])]
        scores.add("pages", qa, await compose_of(engine)(qa["question"], evidence, asked_at=ASKED_AT))
        recalled = found[:RECALLED]
        decided = await route(qa["question"], [units.evidence[at] for at in recalled], asked_at=ASKED_AT)
        held = {units.turn_ids[at] for at in recalled} >= set(qa["evidence"])
        scores.route[decided.action, qa["category"] != 5 and held] += 1


async def run(locomo: Path, show: int, only: str) -> str:
    scores, engine = Scores(), by_rules()
    for talk in conversations(locomo):
        if only in talk.name:
            await measure(talk, engine, scores)
    step = max(1, len(scores.cases) // max(1, show))
    return "\n".join([scores.table(), *(scores.cases[::step] if show else ())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(__file__).resolve().parents[3] / "shared" / "data" / "locomo"
    parser.add_argument("locomo", nargs="?", type=Path, default=default)
    parser.add_argument("--show", type=int, default=0, help="print about so many answers")
    parser.add_argument("--only", default="", help="conversations whose name holds this")
    options = parser.parse_args()
    sys.stdout.write(asyncio.run(run(options.locomo, options.show, options.only)) + "\n")


if __name__ == "__main__":
    main()

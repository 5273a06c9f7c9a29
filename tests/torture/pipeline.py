"""Rows between a turn and a unit: crashes, a model that fails, repeats, budgets."""

from __future__ import annotations

import json
import random
import re
import string
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import tiermem
from pagestore import DiskLog, LogOptions, SessionId, SpaceId
from tests.pagestore.memoryfiles import MemoryFiles
from tests.torture.data import LOCOMO, shared
from tests.torture.harness import Outcome, Row, Share
from tests.torture.indexes import turn
from tests.writing.crashes import trial
from tiermem.dialogue import read_dialogue
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import ModelUnavailable
from tiermem.llm.interface import Call, Reply
from tiermem.llm.meter import check_budget, pay
from tiermem.llm.scripted import FunctionModel
from tiermem.model import Budget, Usage
from tiermem.writing import Writer

_LINE = re.compile(r"^\[[^\]]*\] ([^:\n]+): (.+)$", re.MULTILINE)


def crash_points(share: Share) -> Outcome:
    """Lives of a memory whose processes end between any two steps."""
    outcome = Outcome()
    for life in share.cases:
        crashed, found = trial(Writer, life)
        outcome.count += 1
        outcome.seen["crashes"] += crashed
        outcome.violations.update(found)
    return outcome


def failing_model(share: Share) -> Outcome:
    """Turns are added while every second call fails; later what stayed pending is asked for again."""
    outcome, chance = Outcome(count=share.count), share.chance()

    def model(call: Call) -> Any:
        failing = chance.random() < 0.5
        outcome.seen["calls that failed" if failing else "calls that did not"] += 1
        return ModelUnavailable("try again later") if failing else _told(call)

    with tiermem.open(
        ":memory:",
        engine="model",
        model=FunctionModel(model),
        embedder=HashEmbedder(),
        page_tokens=120,
        distil="inline",
        write_back="inline",
    ) as memory:
        turns = [turn(number, chance) for number in share.cases]
        for number, said in enumerate(turns):
            memory.add(said, session=f"s{number % 3}")
            if number % 50 == 0:
                try:
                    memory.ask(f"How many herons were counted in place {number}?")
                except ModelUnavailable:
                    outcome.seen["asks that said the model is down"] += 1
        memory.flush()
        attempts = 1
        while memory.index_pending().pending and attempts < 60:
            attempts += 1
        memory.apply_findings()
        outcome.demand(memory.stats().pages_pending == 0, "a page was never summarised")
        kept = Counter(
            line.turn.turn_id for info in memory.pages() for line in memory.page(info.id).lines if line.turn
        )
        outcome.demand(kept == Counter(one.turn_id for one in turns), "a turn lost or doubled")
        summaries = Counter(unit.text for unit in memory.units() if unit.kind == "summary")
        outcome.demand(set(summaries.values()) == {1}, "a unit doubled")
        outcome.demand(len(summaries) == len(turns), "a unit lost")
        outcome.demand(memory.verify().ok, "verify finds damage")
    return outcome


def _told(call: Call) -> Any:
    """A model that quotes every line it is shown, and reads nothing into anything."""
    assert call.schema is not None
    lines = _LINE.findall("\n".join(message.content for message in call.messages))
    facts = [{"fact": f"{who}: {words}", "evidence_quote": words} for who, words in lines]
    replies: dict[str, Any] = {
        "DistilReply": {"facts": facts},
        "RouteReply": {"action": "R"},
        "IntegrateReply": {"linked_facts": [], "coverage_assessment": "nothing"},
        "PlanReply": {"decision": "DONE"},
        "ComposeReply": {"answer": "", "cited": [], "abstained": True},
        "SelectReply": {"selected": []},
        "ReconcileReply": {"operation": "SKIP", "reason": "known"},
    }
    return replies[call.schema["title"]]


def read_twice(share: Share) -> Outcome:
    """A real conversation read from its file and stored, and again after reopening."""
    outcome, files = Outcome(), MemoryFiles()
    conversation = read_dialogue(shared() / LOCOMO)[share.first]
    space = SpaceId(conversation.space_hint or "locomo")
    heads = []
    for _ in range(2):
        with DiskLog("log", space, files=files) as log:
            new = sum(log.append(one.session, one.turns).new for one in conversation.sessions)
            log.seal()
            heads.append(log.head)
        outcome.seen["turns stored" if len(heads) == 1 else "turns stored again"] += new
    outcome.count = 1
    outcome.demand(outcome.seen["turns stored again"] == 0, "a turn stored twice")
    outcome.demand(heads[1] <= heads[0] + 1, "records of turns written again")  # the opening is one record
    outcome.demand(outcome.seen["turns stored"] == conversation.turns, "a turn lost")
    return outcome


def any_order(share: Share) -> Outcome:
    """Turns in any order, some sent again, with reopenings between and clocks that jump."""
    outcome, chance = Outcome(), share.chance()
    for _ in range(share.count):
        outcome.count += 1
        outcome.violations.update(_one_order(chance))
    return outcome


def _one_order(chance: random.Random) -> Counter[str]:
    outcome, files = Outcome(), MemoryFiles()
    options = LogOptions(page_tokens=90, segment_bytes=4_000, clock=lambda: _moment(chance))
    turns = [replace(turn(number, chance), said_at=_moment(chance)) for number in range(40)]
    order = chance.sample(turns, len(turns))
    for again in chance.sample(turns, 12):
        order.insert(chance.randrange(len(order) + 1), again)
    log = DiskLog("log", SpaceId("any"), options=options, files=files)
    for said in order:
        if chance.random() < 0.05:
            log.close()
            log = DiskLog("log", SpaceId("any"), options=options, files=files)
        log.append(SessionId("s"), [said])
    log.seal()
    kept = [line.turn for info in log.pages() for line in log.page(info.id).lines]
    outcome.demand(kept == list(dict.fromkeys(order)), "not every turn once, in the order it first came")
    outcome.demand(log.verify().ok, "verify finds damage")
    return outcome.violations


def _moment(chance: random.Random) -> datetime:
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=chance.randint(-20_000, 20_000))


class Runaway:
    """A planner that is never done, and wordings that never hold; each call costs."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.spent = Usage(cost=0.0)
        self.last = Usage()

    def model_for(self, role: str) -> str:
        """One model for all."""
        return "runaway"

    async def complete(self, call: Call) -> Reply:
        """Pay as a model does, and ask for more."""
        check_budget()
        assert call.schema is not None
        text = json.dumps(self._more(call.schema["title"]))
        self.last = Usage(
            calls=1,
            input_tokens=self.chance.randint(50, 900),
            output_tokens=40,
            cost=self.chance.random() / 100,
        )
        pay(self.last, prompt=call.prompt, model="runaway")
        return Reply(text=text, usage=self.last, model="runaway")

    def _more(self, kind: str) -> Any:
        word = "".join(self.chance.choices(string.ascii_lowercase, k=6))
        searches = [
            {"type": "KEYWORD_SEARCH", "keywords": [word, "herons"]},
            {"type": "SEMANTIC_SEARCH", "query": f"more herons {word}"},
        ] * 20
        replies: dict[str, Any] = {
            "RouteReply": {"action": self.chance.choice("SR")},
            "IntegrateReply": {"linked_facts": [], "coverage_assessment": f"still missing {word}"},
            "PlanReply": {"decision": "SEARCH", "search_commands": searches},
            "ComposeReply": {
                "answer": f"{self.chance.randrange(10**6)} herons",
                "cited": [0, 1],
                "abstained": False,
            },
        }
        return replies.get(kind, {"facts": [], "selected": [], "operation": "SKIP"})

    async def close(self) -> None:
        """Nothing to let go of."""


MOST_CALLS = 14
"""What an ask without a budget may take: routing, wordings, three rounds of integrating and planning."""


def runaways(share: Share) -> Outcome:
    """Asks with random limits on calls, tokens and cost, and some without."""
    outcome, model = Outcome(), Runaway(share.seed)
    with tiermem.open(
        ":memory:",
        engine="model",
        model=model,
        embedder=HashEmbedder(),
        page_tokens=60,
        distil="deferred",
        write_back="deferred",
    ) as memory:
        memory.add([turn(number, model.chance) for number in range(60)])
        for case in share.cases:
            budget = _budget(model.chance, case)
            answer = memory.ask(f"How many herons on day {case}?", budget=budget)
            outcome.count += 1
            used = answer.usage
            ended = any("budget" in one.reason for one in answer.trace.degradations)
            outcome.seen["ended by the budget, and said so"] += ended
            outcome.demand(used.calls <= MOST_CALLS, f"{used.calls} calls for one ask")
            outcome.demand(budget.calls is None or used.calls <= budget.calls, "over the budget of calls")
            tokens, last = used.input_tokens + used.output_tokens, model.last
            outcome.demand(
                budget.tokens is None or used.calls == 0 or tokens - last.input_tokens - 40 < budget.tokens,
                "over the budget of tokens by more than the call in flight",
            )
            cost = (used.cost or 0.0) - (last.cost or 0.0)
            outcome.demand(
                budget.cost is None or used.calls == 0 or cost < budget.cost,
                "over the budget of cost by more than the call in flight",
            )
    return outcome


def _budget(chance: random.Random, case: int) -> Budget:
    match case % 4:
        case 0:
            return Budget(calls=chance.randrange(8))
        case 1:
            return Budget(tokens=chance.randrange(3_000))
        case 2:
            return Budget(cost=chance.random() / 30)
        case _:
            return Budget()


ROWS = (
    Row(
        name="failing-model",
        failure="time-outs, 429, 5xx: the model fails and pages stay pending",
        done="every second call fails, at random, while turns are added and questions asked",
        unit="turns",
        count=10_000,
        share=500,
        work=failing_model,
    ),
    Row(
        name="crash-points",
        failure="crash between any two steps of seal → distil → index → write-back",
        done="lives of a memory whose processes end between steps; half of them walk through every step",
        unit="lives",
        count=10_000,
        share=250,
        work=crash_points,
        minutes=14,
    ),
    Row(
        name="same-file",
        failure="the same file twice",
        done="the seven LoCoMo conversations stored, and read and stored again after reopening",
        unit="conversations",
        count=7,
        share=1,
        work=read_twice,
        fixed=True,
    ),
    Row(
        name="any-order",
        failure="out of order; clock skew",
        done="40 turns in random order, 12 sent twice, reopenings between, both clocks jumping by decades",
        unit="permutations",
        count=1_000,
        share=100,
        work=any_order,
    ),
    Row(
        name="runaway",
        failure="runaway loop or cost",
        done="a planner that is never done, wordings that never hold; limits of calls, tokens, cost and none",
        unit="asks",
        count=2_000,
        share=200,
        work=runaways,
    ),
)

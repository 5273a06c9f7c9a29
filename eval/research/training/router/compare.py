"""Ways to route the same questions, beside each other: what each escalates, and what that is worth and costs.

A learned way never decides on a conversation that it learned from: each is decided by a policy learned from
the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from eval.metrics.intervals import Estimate, estimate
from eval.metrics.routing import Counterfactual, Escalation, counterfactual, escalation
from eval.research.calibration import Logistic
from eval.research.ear.gate import THRESHOLDS, SimilarityEntityGate
from eval.research.training.router.learn import Logged, Options, by_reward, chooses, supervised
from eval.research.training.router.router_reward import reward
from eval.research.training.router.rows import Row
from eval.research.training.router.signals import signals
from eval.types import QuestionId
from tiermem.reasoning.rules.sufficiency import gate
from tiermem.text.question import Question

SEEDS: Final = (0, 1, 2)
Learn = Callable[[Logged, int], Logistic]

SUPERVISED: Final = "supervised"
LEARNED: Final[Mapping[str, Learn]] = {
    SUPERVISED: lambda logged, _: supervised(logged),
    "supervised, then by reward": lambda logged, seed: by_reward(supervised(logged), logged, seed=seed),
    "– advantages not divided": lambda logged, seed: by_reward(
        supervised(logged), logged, seed=seed, options=Options(scale="none")
    ),
}
"""What is learned, by its name in the tables. By labels there is nothing to draw: every seed is the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Questions with their signals and what the fixed routers decide; those that have an answer come apart
    from those that have none.
    """

    rows: tuple[Row, ...]
    signals: Any
    fixed: Mapping[str, frozenset[QuestionId]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """What one way to route comes to, of one seed: of the questions that have an answer, and of `others`.

    `right` tells of each question with an answer whether it came out right.
    """

    escalated: frozenset[QuestionId]
    right: Mapping[QuestionId, bool]
    escalation: Escalation
    matrix: Counterfactual
    accuracy: float
    interval: Estimate
    tokens: float
    reward: float
    others_right: float | None


async def seen(rows: Sequence[Row]) -> Seen:
    """The questions both judges decided on, and what routers that learn nothing say of them."""
    known = tuple(row for row in rows if row.c_s is not None and row.c_r is not None)
    fixed = {
        "never": frozenset[QuestionId](),
        "always": frozenset(row.question for row in known),
        "gate": await _escalated(known, gate),
    }
    embedder = known[0].origin.embedder if known else ""
    if embedder in THRESHOLDS:
        fixed["nearest"] = await _escalated(known, SimilarityEntityGate(tau=THRESHOLDS[embedder].tau))
    fixed["oracle"] = frozenset(row.question for row in known if row.label == "R")
    return Seen(rows=known, signals=np.asarray([_signals(row) for row in known]), fixed=fixed)


def _signals(row: Row) -> tuple[float, ...]:
    return signals(Question(row.text, row.asked_at), row.recalled)


async def _escalated(rows: Sequence[Row], route: Any) -> frozenset[QuestionId]:
    decided = [(row, await route(Question(row.text, row.asked_at), row.recalled)) for row in rows]
    return frozenset(row.question for row, decision in decided if decision.action == "ESCALATE")


def logged(of: Seen, among: Any) -> Logged:
    """Those of the questions that have an answer, as what is learned from."""
    chosen = np.flatnonzero(np.asarray(among) & np.array([row.answerable for row in of.rows]))
    return Logged(
        signals=of.signals[chosen],
        c_s=np.array([bool(of.rows[at].c_s) for at in chosen]),
        c_r=np.array([bool(of.rows[at].c_r) for at in chosen]),
    )


def learned_escalations(of: Seen, learn: Learn, seed: int) -> frozenset[QuestionId]:
    """What is escalated where each conversation is decided on by a policy learned from the others."""
    cases = np.array([row.case for row in of.rows])
    escalated: set[QuestionId] = set()
    for case in dict.fromkeys(cases):
        policy = learn(logged(of, cases != case), seed)
        measured = np.flatnonzero(cases == case)
        answers = chooses(policy, of.signals[measured])
        escalated |= {of.rows[at].question for at, one in zip(measured, answers, strict=True) if not one}
    return frozenset(escalated)


def routed(of: Seen, escalated: frozenset[QuestionId]) -> Routed:
    """What these escalations come to. Raises `ValueError` where no question has an answer."""
    main = [row for row in of.rows if row.answerable]
    right = {row.question: _right(row, escalated) for row in main}
    summary = {row.question: row.c_s for row in main}
    raw = {row.question: row.c_r for row in main}
    others = [_right(row, escalated) for row in of.rows if not row.answerable]
    return Routed(
        escalated=escalated,
        right=right,
        escalation=escalation(escalated, summary, raw),
        matrix=counterfactual(escalated, summary, raw, right),
        accuracy=float(np.mean(list(right.values()))),
        interval=estimate(list(map(float, right.values())), [row.case for row in main]),
        tokens=float(np.mean([_tokens(row, escalated) for row in main])),
        reward=float(np.mean([_worth(row, escalated) for row in main])),
        others_right=float(np.mean(others)) if others else None,
    )


def _right(row: Row, escalated: frozenset[QuestionId]) -> bool:
    return bool(row.c_r if row.question in escalated else row.c_s)


def _tokens(row: Row, escalated: frozenset[QuestionId]) -> int:
    return row.r_tokens if row.question in escalated else row.s_tokens


def _worth(row: Row, escalated: frozenset[QuestionId]) -> float:
    choice = "R" if row.question in escalated else "S"
    return reward(choice, c_s=bool(row.c_s), c_r=bool(row.c_r))  # type: ignore[arg-type]


def compare(of: Seen, *, seeds: Sequence[int] = SEEDS) -> dict[str, list[Routed]]:
    """Every way by its name, with one outcome for each seed; of what learns nothing there is one."""
    found = {name: [routed(of, escalated)] for name, escalated in of.fixed.items()}
    for name, learn in LEARNED.items():
        found[name] = [routed(of, learned_escalations(of, learn, seed)) for seed in seeds]
    found["oracle"] = found.pop("oracle")
    return found

"""A linear policy over what a route sees, kept in a file, and the route that decides by it.

None comes with TierMem: what there was to learn from may not be given away.
`python -m eval.research router-train` writes one from runs of your own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

from eval.research.training.router.signals import SIGNALS, signals
from tiermem.errors import InvalidInput
from tiermem.model import Decision, Evidence
from tiermem.reasoning import Engine
from tiermem.text.question import Question

NAME: Final = "learned"
FORMAT: Final = "tiermem-router-policy-1"
_EVEN: Final = 0.5
"""The probability from which it answers."""

Finite = Annotated[float, Field(allow_inf_nan=False)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterPolicy:
    """`1 / (1 + exp(-(bias + weights · signals)))` is the probability of answering from what was recalled.

    `signals` are the names of what it was learned from, `embedder` the one whose similarities these were,
    `turns` whether turns had been recalled beside units, `trained_on` the data.
    """

    format: Literal["tiermem-router-policy-1"] = FORMAT
    signals: tuple[str, ...] = SIGNALS
    bias: Finite
    weights: tuple[Finite, ...]
    embedder: str
    turns: bool
    trained_on: tuple[str, ...] = ()

    def answers(self, seen: Sequence[float]) -> float:
        """The probability (0 to 1) of answering, of signals in the order of `SIGNALS`."""
        total = self.bias + sum(w * s for w, s in zip(self.weights, seen, strict=True))
        return 1 / (1 + exp(-max(-60.0, min(60.0, total))))


_ADAPTER: Final = TypeAdapter(RouterPolicy)


def read_policy(path: Path) -> RouterPolicy:
    """The policy of a file; `InvalidInput` where there is none, or one over other signals than these."""
    try:
        policy = _ADAPTER.validate_json(path.read_bytes())
    except OSError as error:
        raise InvalidInput(f"no router policy in {str(path)!r}: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise InvalidInput(f"no router policy in {str(path)!r}: {where}: {first['msg']}") from error
    if policy.signals != SIGNALS or len(policy.weights) != len(SIGNALS):
        raise InvalidInput(f"the router policy in {str(path)!r} looks at other signals: learn it again")
    return policy


def write_policy(policy: RouterPolicy, path: Path) -> None:
    """Write a policy as JSON, in place of what was there."""
    path.write_bytes(_ADAPTER.dump_json(policy, indent=1) + b"\n")


def with_policy(engine: Engine, path: Path, *, embedder: str, turns: bool) -> Engine:
    """The engine with the policy of a file as its route, to open a memory with.

    `turns` says whether turns are recalled beside units. `InvalidInput` where the policy is for another
    embedder, or for something else recalled.
    """
    policy = read_policy(path)
    if policy.embedder != embedder:
        raise InvalidInput(
            f"the router policy in {str(path)!r} was learned with the embedder {policy.embedder!r}, "
            f"not with {embedder!r}: learn one for it"
        )
    if policy.turns != turns:
        seen = "turns beside units, not from units alone" if policy.turns else "units alone, without turns"
        raise InvalidInput(
            f"the router policy in {str(path)!r} was learned from {seen}: change recall_turns, or learn one"
        )
    return replace(engine, route=LearnedRoute(policy=policy))


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedRoute:
    """ANSWER where the policy gives it an even chance or more; with nothing recalled, ESCALATE."""

    policy: RouterPolicy

    async def __call__(self, question: Question, evidence: Sequence[Evidence]) -> Decision:
        """The score is the probability of answering."""
        if not evidence:
            return Decision(action="ESCALATE", score=None, reason="nothing was recalled", router=NAME)
        chance = self.policy.answers(signals(question, evidence))
        return Decision(
            action="ANSWER" if chance >= _EVEN else "ESCALATE",
            score=round(chance, 2),
            reason=f"the policy gives {chance:.0%} to answering from what was recalled",
            router=NAME,
        )

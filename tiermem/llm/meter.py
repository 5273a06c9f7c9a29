"""Who pays: every model and embedding call lands on the meter of the ask or job it was made for.

A meter travels in a context variable, so no signature carries it; `step` names what is being paid
for. A budget on the meter is checked before each call; what the call itself will take is estimated by who
makes it (`tokens_left`), so that a limit of tokens is kept and not found out afterwards.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from functools import reduce

from tiermem.errors import BudgetExceeded, InvalidInput
from tiermem.llm.interface import TellsPrices
from tiermem.model import Budget, StepUsage, Usage


def plus(left: Usage, right: Usage) -> Usage:
    """The sum of two usages; an unknown cost stays unknown unless the other side made no call."""
    values = {
        f.name: getattr(left, f.name) + getattr(right, f.name) for f in fields(Usage) if f.name != "cost"
    }
    return Usage(**values, cost=_sum_of_costs(left, right))


def _sum_of_costs(left: Usage, right: Usage) -> float | None:
    priced = [u.cost for u in (left, right) if u.calls or u.cost is not None]
    known = [cost for cost in priced if cost is not None]
    return sum(known) if priced and len(known) == len(priced) else None


def has_unknown_cost(usage: Usage) -> bool:
    """Whether calls were made and answered at an unknown price."""
    return usage.cost is None and usage.calls > usage.failed


def name_limit(limit: float, name: str) -> str:
    """A limit in words: "1 call", "5 calls"."""
    return f"{limit:g} {name.removesuffix('s') if limit == 1 else name}"


def unknown_price(model: str) -> InvalidInput:
    """The error for a limit of cost that cannot be kept."""
    return InvalidInput(
        f"a limit of cost needs the price of {model}: set prices={{'MODEL': {{'input': 2.5, 'output': 10}}}} "
        "per million tokens (TIERMEM_PRICES as JSON) for an endpoint that reports token counts, "
        "or limit calls or tokens"
    )


def require_prices(model: object) -> None:
    """Raise `InvalidInput` for a model with unknown prices: a limit of cost could not be kept."""
    unpriced = model.unpriced_models() if isinstance(model, TellsPrices) else ()
    if unpriced:
        raise unknown_price(" and ".join(map(repr, unpriced)))


@dataclass
class Meter:
    """Adds up usage by step, prompts and models used, and stops at a budget. Safe from many threads."""

    budget: Budget = field(default_factory=Budget)
    outer: Meter | None = None
    """The meter that pays for all of this one as well, and whose limits hold as well."""
    steps: dict[str, Usage] = field(default_factory=dict)
    prompts: dict[str, None] = field(default_factory=dict)
    models: dict[str, None] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    known_cost: float = 0.0
    """What is known to have been spent: one call of unknown price must not switch off a cost limit."""
    has_priced: bool = False
    has_unpriced: bool = False
    """Whether any call had a known price, and whether any had none."""
    vectors: dict[tuple[int, str], list[float]] = field(default_factory=dict, repr=False, compare=False)
    """Vectors of questions that it paid for, by the identity of the index and the question."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add(self, step: str, usage: Usage) -> None:
        """Put usage on a step."""
        with self._lock:
            self.steps[step] = plus(self.steps.get(step, Usage()), usage)
            self.known_cost += usage.cost or 0.0
            self.has_priced |= usage.cost is not None and usage.calls > usage.failed
            self.has_unpriced |= has_unknown_cost(usage) and usage.output_tokens > 0

    def take(self) -> Usage:
        """The total since the last taking."""
        with self._lock:
            steps, self.steps = self.steps, {}
        return reduce(plus, steps.values(), Usage())

    def total(self) -> Usage:
        """All steps together."""
        return reduce(plus, self.steps.values(), Usage())

    def by_step(self) -> tuple[StepUsage, ...]:
        """Usage of each step, in the order they were first paid."""
        return tuple(StepUsage(step=step, usage=usage) for step, usage in self.steps.items())

    def check(self) -> None:
        """Raise `BudgetExceeded` when a limit has been reached, `InvalidInput` when its cost is unknown."""
        self._check_prices(self.budget.cost)
        total, budget = self.total(), self.budget
        used = {
            "calls": (total.calls, budget.calls),
            "tokens": (total.input_tokens + total.output_tokens, budget.tokens),
            "seconds": (time.monotonic() - self.started, budget.seconds),
            "cost": (self.known_cost, budget.cost),
        }
        for name, (spent, limit) in used.items():
            if limit is not None and spent >= limit:
                raise BudgetExceeded(f"the budget of {name_limit(limit, name)} is used up ({spent:g})")

    def _check_prices(self, limit: float | None) -> None:
        """Refuse a limit of cost after calls without any known cost."""
        if limit is not None and self.has_unpriced and not self.has_priced:
            raise unknown_price(" or ".join(map(repr, self.models)) or "the model")

    def tokens_left(self) -> int | None:
        """Tokens, in and out, that may still be spent; `None` where there is no limit."""
        if self.budget.tokens is None:
            return None
        total = self.total()
        return self.budget.tokens - total.input_tokens - total.output_tokens


_meter: ContextVar[Meter | None] = ContextVar("tiermem_meter", default=None)
_step: ContextVar[str] = ContextVar("tiermem_step", default="other")


@contextmanager
def paid_by(meter: Meter) -> Iterator[Meter]:
    """Everything called inside is paid by `meter`."""
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


@contextmanager
def step(name: str) -> Iterator[None]:
    """Calls inside are paid as step `name`."""
    token = _step.set(name)
    try:
        yield
    finally:
        _step.reset(token)


def _paying_meters() -> Iterator[Meter]:
    """The current meter, if there is one, and those around it."""
    meter = _meter.get()
    while meter is not None:
        yield meter
        meter = meter.outer


def pay(usage: Usage, *, prompt: str | None = None, model: str | None = None) -> None:
    """Put a finished call on the current meter, when there is one."""
    for meter in _paying_meters():
        meter.add(_step.get(), usage)
        if prompt is not None:
            meter.prompts[prompt] = None
        if model is not None:
            meter.models[model] = None


def current() -> Meter | None:
    """The meter that pays here."""
    return _meter.get()


@contextmanager
def count_spending() -> Iterator[Meter]:
    """Count what is spent inside by itself; the meter outside, if there is one, pays for it and limits it."""
    check_budget()
    with paid_by(Meter(outer=_meter.get())) as inner:
        yield inner


def tokens_left() -> int | None:
    """Tokens that the current meter, and those around it, may still spend; `None` where none has a limit."""
    limits = (meter.tokens_left() for meter in _paying_meters())
    return min((left for left in limits if left is not None), default=None)


def check_budget() -> None:
    """Before a call: raise `BudgetExceeded` when the current meter, or one around it, is at its limit."""
    for meter in _paying_meters():
        meter.check()

"""Who pays: sums by step, unknown costs, and limits."""

import threading

import anyio
import anyio.lowlevel
import pytest

from tiermem.errors import BudgetExceeded, InvalidInput
from tiermem.llm.endpoint import Price
from tiermem.llm.meter import Meter, check_budget, paid_by, pay, plus, step
from tiermem.model import Budget, Usage


def test_an_unknown_cost_makes_the_sum_unknown_unless_nothing_was_called() -> None:
    assert plus(Usage(calls=1, cost=0.5), Usage(calls=1, cost=0.25)).cost == 0.75
    assert plus(Usage(calls=1, cost=0.5), Usage(calls=1)).cost is None
    assert plus(Usage(calls=1, cost=0.5), Usage()).cost == 0.5
    assert plus(Usage(), Usage()).cost is None


def test_usage_lands_on_the_step_it_was_made_for() -> None:
    with paid_by(Meter()) as meter:
        with step("route"):
            pay(Usage(calls=1, input_tokens=3), prompt="route@1", model="m")
        pay(Usage(calls=1, input_tokens=4))
    pay(Usage(calls=1, input_tokens=100))
    assert {s.step: s.usage.input_tokens for s in meter.by_step()} == {"route": 3, "other": 4}
    assert meter.total().calls == 2
    assert (list(meter.prompts), list(meter.models)) == (["route@1"], ["m"])


@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        (Budget(calls=2), Usage(calls=2)),
        (Budget(tokens=10), Usage(calls=1, input_tokens=6, output_tokens=4)),
        (Budget(cost=0.5), Usage(calls=1, cost=0.5)),
        (Budget(seconds=0.0), Usage()),
    ],
)
def test_a_limit_that_is_reached_stops_the_next_call(budget: Budget, spent: Usage) -> None:
    with paid_by(Meter(budget=budget)):
        pay(spent)
        with pytest.raises(BudgetExceeded):
            check_budget()


def test_below_its_limits_and_without_a_meter_nothing_is_stopped() -> None:
    check_budget()
    with paid_by(Meter(budget=Budget(calls=2, tokens=10, seconds=60, cost=1))):
        pay(Usage(calls=1, input_tokens=9, cost=0.5))
        check_budget()


def test_a_limit_of_cost_without_a_known_price_is_an_error_that_says_how_to_set_prices() -> None:
    with paid_by(Meter(budget=Budget(cost=1.0))):
        pay(Usage(calls=1, output_tokens=3), model="small")
        with pytest.raises(InvalidInput, match=r"price of 'small': set prices=.*TIERMEM_PRICES"):
            check_budget()
        pay(Usage(calls=1, output_tokens=3, cost=0.5), model="small")
        check_budget()
    with paid_by(Meter(budget=Budget(cost=1.0))):
        pay(Usage(calls=1, failed=1), model="small")
        pay(Usage(calls=1), model="small")
        check_budget()


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf")])
def test_a_price_by_which_no_limit_would_hold_is_refused(price: float) -> None:
    with pytest.raises(InvalidInput, match="price must be"):
        Price(input=price)
    with pytest.raises(InvalidInput, match="price must be"):
        Price(input=0, output=price)


def test_one_call_of_unknown_price_does_not_switch_off_a_cost_limit() -> None:
    with paid_by(Meter(budget=Budget(cost=1.0))) as meter:
        pay(Usage(calls=1, cost=1.5))
        pay(Usage(calls=1))
        assert meter.total().cost is None
        with pytest.raises(BudgetExceeded, match="cost"):
            check_budget()


def test_tasks_and_threads_pay_the_meter_they_were_started_under() -> None:
    async def task(name: str) -> None:
        with step(name):
            for _ in range(50):
                pay(Usage(calls=1, input_tokens=1))
                await anyio.lowlevel.checkpoint()

    async def main() -> None:
        with paid_by(meter):
            async with anyio.create_task_group() as group:
                for n in range(10):
                    group.start_soon(task, f"s{n % 2}")

    def pay_often() -> None:
        for _ in range(500):
            meter.add("t", Usage(calls=1))

    meter = Meter()
    anyio.run(main)
    assert {s.step: s.usage.calls for s in meter.by_step()} == {"s0": 250, "s1": 250}
    threads = [threading.Thread(target=pay_often) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert meter.steps["t"].calls == 4000

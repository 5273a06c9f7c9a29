"""What a space may spend in a day is held, over restarts and failures, and costs nothing to check."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiermem
from tests.api.conftest import OpenMemory, tell
from tests.api.test_by_model import QUESTION, at, play
from tests.llm.server import ModelServer, Say, Status
from tiermem.errors import BudgetExceeded, InvalidInput, MalformedReply, ModelRefused
from tiermem.model import Budget, Usage
from tiermem.runtime.daily import DailyMeter


def ask_often(memory: tiermem.Memory) -> None:
    for _ in range(20):
        memory.ask(QUESTION)


def paid_for(memory: tiermem.Memory) -> tuple[int, int, int]:
    """What models took today; embedding is counted while a process runs, and not limited."""
    paid = memory.stats().spent_today
    return paid.calls, paid.input_tokens, paid.output_tokens


def test_a_spent_day_is_an_error_that_says_which_limit_and_until_when(open_memory: OpenMemory) -> None:
    with ModelServer(answer=play) as server:
        memory = open_memory(**at(server), daily_calls=12)
        tell(memory)
        memory.flush()
        with pytest.raises(BudgetExceeded) as told:
            ask_often(memory)
        tomorrow = datetime.now(UTC).date() + timedelta(days=1)
        assert "daily limit of 12 calls of space 'default'" in str(told.value)
        assert f"resets at {tomorrow} 00:00 UTC" in str(told.value)
        assert server.counts.replies <= 13
        assert memory.stats().spent_today.calls == server.counts.replies


def test_a_limit_outlives_the_process_and_failures_count(open_memory: OpenMemory) -> None:
    with ModelServer(answer=play) as server:
        memory = open_memory(**at(server), daily_calls=9)
        tell(memory)
        memory.flush()
        server.then(Say("{"), Say("{"), Status(401, "no"), Status(401, "no"))
        with pytest.raises(MalformedReply):
            memory.ask(QUESTION, mode="raw")
        with pytest.raises(ModelRefused):
            memory.ask(QUESTION, mode="raw")
        paid = memory.stats().spent_today
        memory.close()
        again = open_memory(**at(server), daily_calls=9)
        assert paid_for(again) == (paid.calls, paid.input_tokens, paid.output_tokens)
        assert again.stats().daily == Budget(calls=9)
        with pytest.raises(BudgetExceeded):
            ask_often(again)
        spent = paid_for(again)
        again.close()
        assert paid_for(open_memory(**at(server))) == spent


def test_what_an_endpoint_rejects_or_never_hears_is_not_of_the_days_limit(open_memory: OpenMemory) -> None:
    with ModelServer(answer=play) as server:
        memory = open_memory(**at(server), daily_calls=20)
        tell(memory)
        memory.flush()
        paid = memory.stats().spent_today
        server.then(*[Status(401, "no")] * 20)
        for _ in range(20):
            with pytest.raises(ModelRefused):
                memory.ask(QUESTION)
        spent = memory.stats().spent_today
        assert (spent.calls - paid.calls, spent.failed) == (20, 20)
        assert memory.ask(QUESTION).citations
        memory.close()
        again = open_memory(**at(server), daily_calls=20)
        assert again.stats().spent_today.failed == 20
        assert again.ask(QUESTION).citations


def test_everything_said_is_kept_and_waits_for_the_next_day(open_memory: OpenMemory) -> None:
    with ModelServer(answer=play) as server:
        memory = open_memory(**at(server), daily_calls=1, distil="deferred", page_tokens=50)
        for number in range(12):
            said = f"I counted {number * 7} geese by the Elbe, {' and '.join(['all of them grey'] * 8)}."
            memory.add(said, speaker="Ann", session=f"s{number}")
        flushed = memory.flush()
        assert 1 <= flushed.distilled <= 4
        assert flushed.distilled + flushed.pending == 12
        assert any("daily limit" in problem for problem in flushed.problems)
        memory.close()
        assert open_memory(**at(server)).index_pending().pending == 0


def test_an_ask_that_meets_the_limit_half_way_answers_from_what_it_has(open_memory: OpenMemory) -> None:
    with ModelServer(answer=play) as server:
        memory = open_memory(**at(server), daily_calls=4, write_back="deferred", router="llm")
        tell(memory)
        memory.flush()
        answer = memory.ask(QUESTION)
        assert any("daily limit" in degraded.reason for degraded in answer.trace.degradations)
        assert server.counts.replies == 4


def test_local_rules_cost_nothing_and_are_never_limited(open_memory: OpenMemory) -> None:
    memory = open_memory(daily_calls=0, daily_tokens=0, daily_cost=0.0)
    tell(memory)
    assert memory.flush().pending == 0
    assert memory.ask("What is Biscuit allergic to?").citations


def test_every_space_has_a_day_of_its_own(open_memory: OpenMemory) -> None:
    with ModelServer(answer=play) as server:
        one = open_memory(**at(server), space="one", daily_calls=3)
        tell(one)
        one.flush()
        with pytest.raises(BudgetExceeded):
            ask_often(one)
        two = open_memory(**at(server), space="two", daily_calls=3)
        tell(two)
        assert two.flush().pending == 0


def test_what_routing_saved_is_told_beside_what_each_route_would_have_cost(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    memory.flush()
    answers = [memory.ask("What is Biscuit allergic to?")]
    answers.append(memory.ask("Where did Ingrid move to?", mode="raw"))
    told = memory.stats()
    assert told.tokens_summary == sum(a.trace.summary_tokens for a in answers) > 0
    assert told.tokens_raw == sum(a.trace.raw_tokens for a in answers)
    saved = [a.trace.raw_tokens - a.trace.read_tokens for a in answers if a.route == "ANSWER"]
    assert told.tokens_saved == sum(saved)
    assert bool(told.tokens_saved_note) == (sum(saved) < 0)
    memory.close()
    assert open_memory().stats().tokens_summary == told.tokens_summary


MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)


@settings(max_examples=100)
@given(
    paid=st.lists(st.tuples(st.integers(0, 3 * 86_400), st.integers(0, 5), st.floats(0, 1)), max_size=20),
    limit=st.integers(0, 20),
)
def test_a_day_ends_at_midnight_and_its_limit_is_exact(
    paid: list[tuple[int, int, float]], limit: int
) -> None:
    now = MIDNIGHT
    meter = DailyMeter(limits=Budget(calls=limit), day=MIDNIGHT.date(), clock=lambda: now)
    by_day: dict[date, int] = {}
    for seconds, calls, cost in sorted(paid):
        now = MIDNIGHT + timedelta(seconds=seconds)
        meter.add("ask", Usage(calls=calls, cost=cost))
        by_day[now.date()] = by_day.get(now.date(), 0) + calls
        assert meter.today().calls == by_day[now.date()]
        try:
            meter.check()
        except BudgetExceeded:
            assert by_day[now.date()] >= limit
        else:
            assert by_day[now.date()] < limit


def stopped(moment: datetime) -> Callable[[], datetime]:
    return lambda: moment


def test_a_day_is_one_of_utc_wherever_the_clock_hangs(another_day_here: None) -> None:
    now = MIDNIGHT - timedelta(seconds=1)
    for zone in (UTC, timezone(timedelta(hours=9)), None):
        meter = DailyMeter(limits=Budget(calls=1), day=now.date(), clock=stopped(now.astimezone(zone)))
        meter.add("ask", Usage(calls=1))
        assert (meter.today().calls, meter.day) == (1, now.date())
        with pytest.raises(BudgetExceeded, match="resets at 2026-03-01 00:00 UTC"):
            meter.check()
    before = datetime.now(UTC).date()
    assert before <= DailyMeter().day <= datetime.now(UTC).date()


def test_what_was_paid_today_is_known_after_a_restart_wherever_the_clock_hangs(
    open_memory: OpenMemory, another_day_here: None
) -> None:
    with ModelServer(answer=play) as server:
        memory = open_memory(**at(server))
        tell(memory)
        memory.flush()
        paid = paid_for(memory)
        memory.close()
        assert paid_for(open_memory(**at(server))) == paid
        assert paid[0] == server.counts.replies > 0


def test_tokens_and_known_cost_are_limits_too() -> None:
    meter = DailyMeter(limits=Budget(tokens=100, cost=0.5), day=MIDNIGHT.date(), clock=lambda: MIDNIGHT)
    meter.add("ask", Usage(calls=1, input_tokens=60, output_tokens=39, cost=0.3))
    meter.add("ask", Usage(calls=1))
    meter.check()
    meter.add("ask", Usage(output_tokens=1))
    with pytest.raises(BudgetExceeded, match="100 tokens"):
        meter.check()
    meter = DailyMeter(limits=Budget(cost=0.5), day=MIDNIGHT.date(), clock=lambda: MIDNIGHT)
    meter.add("ask", Usage(calls=1, cost=0.3))
    meter.add("ask", Usage(calls=1))
    meter.add("ask", Usage(calls=1, cost=0.2))
    with pytest.raises(BudgetExceeded, match=r"0\.5 cost"):
        meter.check()


def test_a_cost_at_an_unknown_price_is_unknown_and_no_limit_of_cost_is_taken(open_memory: OpenMemory) -> None:
    with ModelServer(answer=play) as server:
        memory = open_memory(**at(server))
        tell(memory)
        assert memory.stats().spent_today.cost is None
        memory.flush()
        assert memory.ask(QUESTION).usage.cost is None
        replies = server.counts.replies
        with pytest.raises(InvalidInput, match="a limit of cost needs the price of 'test-model'"):
            memory.ask(QUESTION, budget={"cost": 0.5})
        assert server.counts.replies == replies
        assert memory.stats().spent_today.cost is None
        memory.close()
        with pytest.raises(InvalidInput, match="a limit of cost needs the price of 'test-model'"):
            open_memory(**at(server), daily_cost=0.5)
        again = open_memory(**at(server))
        assert again.stats().spent_today.cost is None


def test_with_prices_limits_of_cost_hold(open_memory: OpenMemory) -> None:
    with ModelServer(answer=play) as server:
        memory = open_memory(
            **at(server), prices={"test-model": {"input": 2.5, "output": 10}}, daily_cost=0.5
        )
        tell(memory)
        memory.flush()
        cost = memory.ask(QUESTION, budget={"cost": 0.25}).usage.cost
        assert cost
        today = memory.stats().spent_today.cost
        assert today is not None
        assert today > cost
        memory.close()
    assert open_memory(daily_cost=0.0).ask(QUESTION, budget={"cost": 0.0}).usage.calls == 0

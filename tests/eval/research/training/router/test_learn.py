"""Two stages on a small policy: each learns what can be seen, and what group advantages do with a reward."""

from typing import Any

import numpy as np
import pytest

from eval.research.calibration import Logistic
from eval.research.training.router.learn import Logged, Options, advantages, by_reward, chooses, supervised
from eval.research.training.router.router_reward import reward


def made(count: int = 200, *, seed: int = 0, noise: float = 0.0) -> tuple[Any, Logged]:
    """Questions of two signals: summaries are right where the first is above 0; the pages always are."""
    drawn = np.random.default_rng(seed)
    x = drawn.normal(size=(count, 2)) * [1.0, 30.0] + [0.0, 500.0]
    c_s = (x[:, 0] > 0) ^ (drawn.random(count) < noise)
    return x, Logged(signals=x, c_s=c_s, c_r=np.ones(count, bool))


def share_right(policy: Logistic, x: Any, c_s: Any) -> float:
    return float(np.mean(np.array(chooses(policy, x)) == c_s))


def test_by_labels_it_learns_what_can_be_seen() -> None:
    _, logged = made()
    x, test = made(seed=1)
    assert share_right(supervised(logged), x, test.c_s) > 0.95


def test_by_reward_alone_it_learns_the_same_from_a_policy_that_knows_nothing() -> None:
    _, logged = made()
    x, test = made(seed=1)
    nothing = Logistic(bias=0.0, weights=(0.0, 0.0))
    assert share_right(nothing, x, test.c_s) < 0.6
    assert share_right(by_reward(nothing, logged, seed=0), x, test.c_s) > 0.95


def test_where_nothing_can_be_seen_the_dearer_mistake_is_made_less_often_without_dividing() -> None:
    """At chances of .45 that summaries are right, R is worth more on average, and is chosen."""
    drawn = np.random.default_rng(0)
    logged = Logged(signals=np.zeros((400, 1)), c_s=drawn.random(400) < 0.55, c_r=np.ones(400, bool))
    start = Logistic(bias=0.2, weights=(0.0,))
    assert reward("R", c_s=False, c_r=True) - reward("S", c_s=False, c_r=True) == pytest.approx(2.4)
    assert reward("S", c_s=True, c_r=True) - reward("R", c_s=True, c_r=True) == pytest.approx(0.5)
    plain = by_reward(start, logged, seed=0, options=Options(scale="none"))
    divided = by_reward(start, logged, seed=0)
    assert not chooses(plain, [(0.0,)])[0]
    assert chooses(divided, [(0.0,)])[0]


def test_a_group_divided_by_its_deviation_does_not_know_how_much_was_at_stake() -> None:
    dear, cheap = np.array([[1.0, -1.5, 1.0, 1.0]]), np.array([[1.0, 0.5, 1.0, 1.0]])
    assert advantages(dear, "deviation") == pytest.approx(advantages(cheap, "deviation"), abs=1e-3)
    assert advantages(dear, "none") == pytest.approx(5 * advantages(cheap, "none"))


def test_a_group_in_which_all_draws_are_alike_teaches_nothing() -> None:
    assert not advantages(np.full((1, 8), 0.9), "deviation").any()


def test_the_kl_term_holds_a_policy_near_where_it_began() -> None:
    _, logged = made()
    start = Logistic(bias=0.0, weights=(0.0, 0.0))
    free, near = (by_reward(start, logged, seed=0, options=Options(beta=beta)) for beta in (0.0, 5.0))
    assert abs(near.weights[0]) < 0.2 * abs(free.weights[0])


def test_questions_that_the_pages_do_not_answer_are_left_out_of_rewards() -> None:
    x, logged = made()
    none = Logged(signals=x, c_s=logged.c_s, c_r=np.zeros(len(x), bool))
    with pytest.raises(ValueError, match="no question"):
        by_reward(supervised(logged), none, seed=0)


def test_one_seed_gives_one_policy() -> None:
    _, logged = made(noise=0.2)
    start = supervised(logged)
    assert by_reward(start, logged, seed=3) == by_reward(start, logged, seed=3)
    assert by_reward(start, logged, seed=3) != by_reward(start, logged, seed=4)

"""Learning weights as MemTier does: both traps, and what the diagnosis says of them."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from eval.research.cli import app
from eval.research.memtier.score import DEFAULT, features, saturated
from eval.research.training.diagnosis import diagnose, hits, is_circular, rank_change
from eval.research.training.policy import Episode, Options, Shown, hit, simplex, train
from eval.research.training.study import dealt
from tests.eval.test_datasets import lme, write

PLAIN = np.random.default_rng(7)


def questions(count: int, *, bounded: bool = False, meaning: bool = False) -> list[Episode]:
    """Pools of eight: BM25 finds what is right in half of them, meaning always, age never."""
    made = []
    for at in range(count):
        bm25 = PLAIN.uniform(1, 25, 8)
        right = np.zeros(8, bool)
        right[int(bm25.argmax()) if at % 2 else int(bm25.argmin())] = True
        means = np.where(right, 0.9, PLAIN.uniform(0, 0.5, 8)) if meaning else 0.0
        rows = features(saturated(bm25) if bounded else bm25, PLAIN.uniform(0, 1, 8), meaning=means)
        made.append(Episode(features=rows, right=right))
    return made


def by_weight(shown: Shown) -> float:
    """MemTier's first reward: what cognitive weight says of the entries shown."""
    return float(shown.features[:, 3].mean()) * 0.606


def test_rewards_that_do_not_differ_leave_the_weights_as_they_are() -> None:
    """Fifteen episodes of one cognitive weight: the zero-variance trap, with the source's mean reward."""
    episodes = questions(15)
    learned = train(episodes, by_weight, DEFAULT, seed=1)
    assert learned.rewards.mean() == pytest.approx(0.303)
    assert np.abs(learned.after - learned.before).max() < 1e-12
    found = diagnose(learned, episodes, by_weight)
    assert found.advantage_variance < 1e-30
    assert found.gradient_norm < 1e-12
    assert found.rank_change == 0
    assert "do not differ" in found.advice[0]


def test_a_reward_that_does_not_ask_for_what_is_right_is_called_circular() -> None:
    episodes = questions(20)
    assert is_circular(episodes, by_weight, np.array(DEFAULT))
    assert not is_circular(episodes, hit, np.array(DEFAULT))
    found = diagnose(train(episodes, by_weight, DEFAULT, seed=1), episodes, by_weight)
    assert found.circular
    assert any("rewards the signals for themselves" in one for one in found.advice)


def test_signals_without_a_difference_are_named() -> None:
    episodes = questions(20)
    found = diagnose(train(episodes, hit, DEFAULT, seed=1), episodes, hit)
    assert found.silent == ("meaning", "weight", "tier")
    assert found.dominance is not None
    assert found.dominance > 5
    assert any("meaning, weight, tier" in one for one in found.advice)


def test_weights_are_not_negative_and_sum_to_one_and_what_was_out_stays_out() -> None:
    learned = train(questions(64), hit, DEFAULT, seed=3, options=Options(rate=0.05))
    assert learned.after.sum() == pytest.approx(1)
    assert learned.after.min() >= 0
    assert learned.after[0] == 0
    assert not np.allclose(learned.after, learned.before)
    assert list(simplex(np.array((-1.0, -2.0)), np.array((0.5, 0.5)))) == [0.5, 0.5]


def test_training_is_the_same_for_a_seed_and_another_for_another() -> None:
    episodes = questions(40)
    one, again, other = (train(episodes, hit, DEFAULT, seed=seed).after for seed in (5, 5, 6))
    assert list(one) == list(again)
    assert list(one) != list(other)


def test_where_bm25_is_bounded_and_meaning_tells_weights_learn_to_find_more() -> None:
    episodes = questions(96, bounded=True, meaning=True)
    start = (0.05, 0.45, 0.25, 0.25, 0.0)
    options = Options(rate=0.02, passes=6)
    learned = train(episodes, hit, start, seed=2, options=options)
    assert learned.after[0] > learned.before[0]
    before, after = (hits(episodes, weights, shown=2) for weights in (learned.before, learned.after))
    assert after > before + 0.1
    assert rank_change(episodes, learned.before, learned.after, shown=2) > 0
    assert diagnose(learned, episodes, hit, options=options).rank_change > 0


def test_the_command_learns_from_a_file_and_tells_why_nothing_comes_of_it(tmp_path: Path) -> None:
    data = write(tmp_path / "lme.json", [lme()])
    result = CliRunner().invoke(app, ["learn", "--data", str(data), "--page", str(tmp_path / "page.md")])
    assert result.exit_code == 0, result.output
    written = (tmp_path / "page.md").read_text()
    assert "zero-variance trap" in written
    assert "## Diagnosis (first seed)" in written
    assert "needs a language model that answers" in written


def test_rewards_by_chance_come_as_often_as_asked_and_heed_nothing() -> None:
    reward = dealt(0.25, 3)
    nothing = Shown(features=np.zeros((2, 5)), right=(False, False))
    assert sum(reward(nothing) > 0 for _ in range(2_000)) == pytest.approx(500, abs=80)

"""Real questions on a real conversation: every answer replays, reruns and proves."""

from pathlib import Path

import pytest

from tests.api.audit_on_real_dialogue import DATA, measure


@pytest.mark.shared
def test_answers_on_real_dialogue_replay_rerun_and_prove(shared: Path) -> None:
    figures = measure(shared / DATA, questions=10, reruns=2, sessions=6, seed=1)
    assert figures.ok
    assert figures.citations > 0

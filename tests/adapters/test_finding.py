"""What adapters look for and what they say of what is found, without a framework."""

import tiermem
from tiermem.adapters.finding import known_of


def test_a_score_of_zero_is_known() -> None:
    found = tiermem.Evidence(text="Ann: hello", spans=(), score=0.0, source="turn")
    assert known_of(found) == {"score": 0.0, "source": "turn", "spans": []}

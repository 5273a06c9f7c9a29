"""What adapters look for and what they say of what is found, without a framework."""

import tiermem
from tiermem.adapters.finding import LONGEST_QUESTION, known_of, looked_for


def test_of_a_long_text_the_end_is_looked_for() -> None:
    assert looked_for("a" * LONGEST_QUESTION + " Where is the key? ").endswith("a Where is the key?")


def test_a_score_of_zero_is_known() -> None:
    found = tiermem.Evidence(text="Ann: hello", spans=(), score=0.0, source="turn")
    assert known_of(found) == {"score": 0.0, "source": "turn", "spans": []}

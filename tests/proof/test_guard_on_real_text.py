"""A small version of `guard_on_real_text`: one conversation, every alteration."""

from pathlib import Path

import pytest

from tests.proof.guard_on_real_text import measure
from tests.text.dialogue import conversations


@pytest.mark.shared
def test_a_fifth_of_true_facts_keep_their_wording_and_few_altered_ones_pass(shared: Path) -> None:
    talk = next(conversations(shared / "data" / "locomo"))
    talk.facts = talk.facts[:140]
    tally = measure(talk)
    assert tally.kept / tally.facts >= 0.2
    assert tally.refused == []
    assert tally.kept + tally.worded == tally.facts
    assert sum(tally.accepted.values()) / sum(tally.tried.values()) <= 0.005
    assert tally.exchanged_accepted == 0 < tally.exchanged // 4
    assert tally.accepted["word"] / tally.tried["word"] <= 0.06
    for kind in ("name", "quote altered"):
        assert tally.tried[kind] > 100
        assert tally.accepted[kind] == 0

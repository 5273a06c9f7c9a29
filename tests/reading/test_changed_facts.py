"""What the rules for statements answer in dialogues that were written without knowledge of them."""

from collections import Counter

from tests.reading.changed_facts import read_by_rules


def test_one_of_three_questions_is_answered_and_none_wrongly() -> None:
    counts = Counter(item.verdict for item in read_by_rules())
    assert counts == {"right": 48, "not answered": 82}

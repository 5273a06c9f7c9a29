"""A small version of `compare_graders`: the first answers, and the handwritten false claims and answers."""

from itertools import chain, islice
from pathlib import Path

import pytest

from tests.proof.compare_graders import answer_cases, count_grades, false_cases, table, unseen_cases


@pytest.mark.shared
def test_few_altered_and_false_answers_are_unmarked_and_half_of_the_true_ones(shared: Path) -> None:
    data = shared / "data"
    counts = count_grades(chain(islice(answer_cases(data), 150), false_cases(data / "attacks")))
    shares = {kind: count["unmarked"] / count["cases"] for kind, count in counts.items()}
    assert shares["answers: gold"] >= 0.4
    assert counts["answers: gold"]["no unsupported word"] >= 0.6 * counts["answers: gold"]["cases"]
    assert shares["answers: people swapped"] <= 0.1
    assert shares["answers: negation"] <= 0.05
    assert shares["answers: word"] <= 0.05
    assert shares["answers: name"] == 0
    assert max(shares["false claims"], shares["false answers"]) <= 0.25
    assert "false answers" in table(counts)


def test_answers_that_were_written_after_the_rules_are_graded_as_the_page_says() -> None:
    counts = count_grades(unseen_cases())
    true, false = counts["unseen: true answers"], counts["unseen: false answers"]
    assert (true["cases"], true["no unsupported word"], true["unmarked"]) == (50, 44, 26)
    assert (false["cases"], false["unmarked"]) == (70, 24)

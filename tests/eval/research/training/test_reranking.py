"""From turns that a reader judged to what its lead counts, and what that is worth."""

import json
import math
from pathlib import Path

import anyio
import pytest

from eval.research.reproduction import page
from eval.research.training.data.sources import SOURCES
from eval.research.training.reranker.fit import before_and_after, difference, fitted, is_sure, order, recall
from eval.research.training.reranker.judged import TURNS, Judged
from eval.research.training.reranker.run import SURE, Fitting, run
from eval.types import CaseId, QuestionId
from tests.eval.research.training.test_calibrating import conversation
from tiermem.embedding.weights import find_weights
from tiermem.errors import EmbedderUnavailable, InvalidInput
from tiermem.reading.options import ReadingOptions


def judged(*turns: tuple[bool, float], lead: float = 1.0, of: int = 1, case: str = "c") -> Judged:
    """Turns by rank, each with whether it is evidence and its lead."""
    return Judged(
        case=CaseId(case),
        question=QuestionId("q"),
        relevant=tuple(right for right, _ in turns),
        scores=tuple(10.0 - lead * at for at in range(len(turns))),
        leads=tuple(by for _, by in turns),
        evidence=of,
        read_ms=1.0,
    )


SECOND = judged((False, -5.0), (True, 5.0), (False, -5.0))


def test_what_is_measured_is_what_the_product_does() -> None:
    options = ReadingOptions()
    assert (options.rerank_turns, options.sure_lead) == (TURNS, SURE)


def test_a_lead_that_weighs_enough_moves_a_turn_ahead() -> None:
    assert order(SECOND, 0.0) == [0, 1, 2]
    assert order(SECOND, 0.05) == [0, 1, 2]
    assert order(SECOND, 0.15) == [1, 0, 2]
    assert (recall(SECOND, 1, 0.0), recall(SECOND, 1, 0.15), recall(SECOND, 3, 0.0)) == (0.0, 1.0, 1.0)
    assert recall(judged((True, 0.0), of=4), 5, 0.0) == 0.25


def test_where_the_search_is_sure_nothing_moves() -> None:
    sure = judged((False, -5.0), (True, 5.0), lead=3.0)
    assert order(sure, 0.5, 3.0) == [0, 1]
    assert order(sure, 0.5, 3.1) == [1, 0]
    assert is_sure(judged((True, 0.0)), math.inf)


def test_the_least_weight_that_finds_most_is_chosen_every_source_counting_alike() -> None:
    assert fitted({"one": [SECOND]}) == 0.15
    misled = judged((True, -1.0), (False, 9.0))
    assert fitted({"one": [misled, misled]}) == 0.0
    assert fitted({"one": [SECOND], "other": [], "third": [judged((True, 3.0))] * 9}) == 0.15


def test_the_difference_is_question_by_question() -> None:
    gained = difference([SECOND, judged((True, 0.0), case="d")], 1, 0.2, math.inf)
    assert (gained.mean, gained.clusters) == (0.5, 2)
    told = before_and_after({"A": {"one": [SECOND]}, "B": {"one": []}}, 0.1, math.inf)
    assert [row[0] for row in told.rows] == ["one, half A, 1 questions", "– judged"]


def test_the_command_judges_once_and_tells_of_both_halves(tmp_path: Path) -> None:
    try:
        find_weights()
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    file = tmp_path / SOURCES["locomo"].files[0]
    file.parent.mkdir(parents=True)
    pets = ("Biscuit", "Waldo", "Pickle", "Juno")
    file.write_text(json.dumps([conversation(f"conv-{n}", pet, 1000 + n) for n, pet in enumerate(pets)]))
    asked = Fitting(
        data=tmp_path,
        out=tmp_path / "out",
        reader=None,
        measure=("locomo",),
        int8=("locomo",),
        every=2,
        cache=tmp_path / "cache",
    )
    found = anyio.run(run, asked)
    kept = (tmp_path / "out" / "locomo.jsonl").read_text()
    assert len(kept.splitlines()) == 1 + 3 * len(pets) // 2
    assert anyio.run(run, asked).numbers == found.numbers
    assert (tmp_path / "out" / "locomo.jsonl").read_text() == kept
    told = page(found, machine="here", commit="1a2b3c")
    assert "| locomo, half A, 3 questions |" in told
    assert "| locomo, half B, 3 questions |" in told
    (tmp_path / "out" / "locomo.jsonl").write_text("{}\n")
    with pytest.raises(InvalidInput, match="delete it"):
        anyio.run(run, asked)
    with pytest.raises(InvalidInput, match="no conversations"):
        anyio.run(run, Fitting(data=tmp_path, out=tmp_path, reader=None, measure=("letters",), int8=()))

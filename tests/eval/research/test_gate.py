"""HTM-EAR's gate: the nearest piece alone decides, by how near it is and what it names."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from eval.research.ear.gate import THRESHOLDS, SimilarityEntityGate, with_nearest
from pagestore import PageId, Span
from tests.engines import engine
from tiermem.errors import InvalidInput
from tiermem.model import Evidence
from tiermem.text.question import Question

pytestmark = pytest.mark.anyio
ASKED = datetime(2024, 5, 1, tzinfo=UTC)


def evidence(text: str, similarity: float | None = 0.7) -> Evidence:
    span = Span(page_id=PageId("p1:a"), start=0, end=1)
    return Evidence(text=text, spans=(span,), score=1.0, source="unit", similarity=similarity)


RECALLED = (evidence("Ann adopted three grey cats."),)
FAR, NEAR = 0.4, 0.7
OTHERS = evidence("Bob adopted two dogs in Oslo.", 0.3)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("near", [True, False])
@pytest.mark.parametrize("named", [True, False])
async def test_nearest_answers_where_a_near_piece_names_all_that_the_question_names(
    known: bool, near: bool, named: bool
) -> None:
    piece = evidence("Ann adopted 3 grey cats." if named else "Ann adopted grey cats.", NEAR if near else FAR)
    piece = piece if known else replace(piece, similarity=None, score=piece.similarity or 0.0)
    decided = await SimilarityEntityGate(tau=0.5)(Question("Which 3 cats has Ann?", ASKED), [OTHERS, piece])
    assert decided.router == "nearest"
    assert (decided.action == "ANSWER") == (known and near and named)
    assert decided.score == ((NEAR if near else FAR) if known else OTHERS.similarity)


async def test_nearest_looks_at_the_nearest_piece_alone_and_at_the_words_it_rests_on() -> None:
    gate_at = SimilarityEntityGate(tau=0.5)
    question = "Which cats has Ann?"
    nearest = evidence("She adopted grey cats.", 0.9)
    assert (await gate_at(Question(question, ASKED), [*RECALLED, nearest])).action == "ESCALATE"
    told = replace(nearest, quote="Ann: I adopted grey cats")
    assert (await gate_at(Question(question, ASKED), [*RECALLED, told])).action == "ANSWER"
    assert (await gate_at(Question(question, ASKED), [])).score is None


async def test_nearest_may_be_content_with_a_share_of_what_is_named() -> None:
    half = SimilarityEntityGate(tau=0.5, coverage=0.5)
    for question, action in (("Did Ann meet Bob?", "ANSWER"), ("Did Bob meet Clara?", "ESCALATE")):
        assert (await half(Question(question, ASKED), RECALLED)).action == action


def test_nearest_has_a_threshold_for_an_embedder_by_its_name() -> None:
    for name, threshold in THRESHOLDS.items():
        chosen = with_nearest(engine(), name).route
        assert chosen == SimilarityEntityGate(tau=threshold.tau)
        assert threshold.chosen
    with pytest.raises(InvalidInput, match=r"'letters'.*'all-MiniLM-L6-v2'.*SimilarityEntityGate\(tau="):
        with_nearest(engine(), "letters")

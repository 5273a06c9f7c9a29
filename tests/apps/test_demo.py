"""The demo that a newcomer runs first."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tiermem.apps.cli import app
from tiermem.apps.demo import Demo, dialogue, questions, run_demo

EXPECTED = {
    "When is the party at the boathouse?": "14 September 2024",
    "What is Mila allergic to?": "sesame",
    "How much is the deposit?": "475 euros",
    "When is the tasting?": "11 June 2024",
    "Who gives the speech?": "Ines",
    "Does Dad want a live band?": "No",
    "Which airline is Aunt Rosa flying with?": "",
}


@pytest.fixture(scope="module")
def demo() -> Demo:
    """One run in a directory that is gone afterwards."""
    return run_demo(None, "local")


def test_the_dialogue_is_two_people_over_months() -> None:
    (conversation,) = dialogue()
    turns = [turn for session in conversation.sessions for turn in session.turns]
    assert 60 <= len(turns) <= 110
    assert len({turn.speaker for turn in turns}) == 2
    moments = [turn.said_at for turn in turns if turn.said_at is not None]
    assert moments == sorted(moments)
    assert (moments[-1] - moments[0]).days > 150


def test_the_demo_leaves_nothing_behind(demo: Demo) -> None:
    assert not demo.kept
    assert not demo.store.exists()


def test_the_demo_stores_every_turn_and_verifies(demo: Demo) -> None:
    (conversation,) = dialogue()
    assert demo.ingested.new == conversation.turns
    assert demo.ingested.pending == 0
    assert demo.verified.ok


def test_every_question_is_answered_right_and_what_was_never_said_is_not(demo: Demo) -> None:
    for one in demo.answers:
        expected = EXPECTED[one.asked.question]
        assert one.answer.abstained == (not expected), one.answer.text
        assert expected in one.answer.text


def test_every_answer_cites_words_that_stand_on_their_page(demo: Demo) -> None:
    for one in demo.answers:
        assert bool(one.answer.citations) != one.answer.abstained
        pages = {page.id: page for page in one.pages}
        for citation in one.answer.citations:
            words = " … ".join(pages[span.page_id].words(span) for span in citation.spans)
            assert citation.quote == words


def test_the_demo_takes_every_route(demo: Demo) -> None:
    routes = {one.answer.route for one in demo.answers}
    assert routes == {"ANSWER", "ESCALATE"}
    assert any(one.answer.abstained for one in demo.answers)


@pytest.mark.xfail(
    strict=True,
    reason="local summaries keep every statement that research can find, so write-back has nothing to add",
)
def test_the_repeated_question_is_cheap_because_of_write_back(demo: Demo) -> None:
    first, again = demo.answers[1], demo.answers[-1]
    assert first.asked.question == again.asked.question
    assert first.answer.route == "ESCALATE"
    assert again.answer.route == "ANSWER"
    assert again.cost.read < first.cost.read / 5


def test_the_demo_kept_in_a_store_can_be_asked_on(tmp_path: Path) -> None:
    runner, store = CliRunner(), str(tmp_path / "memory")
    shown = runner.invoke(app, ["demo", "--store", store, "--engine", "local"])
    assert shown.exit_code == 0, shown.output
    assert all(one.question in shown.stdout for one in questions())
    assert "«" in shown.stdout
    trail = runner.invoke(app, ["audit", "--store", store])
    assert trail.exit_code == 0
    assert "intact" in trail.stdout


def test_the_demo_in_json_names_what_it_did() -> None:
    result = CliRunner().invoke(app, ["demo", "--json", "--engine", "local"])
    told = json.loads(result.stdout)
    assert set(told) == {"store", "kept", "engine", "ingested", "dialogue_tokens", "answers", "verified"}
    assert len(told["answers"]) == len(questions())

"""The demo that a newcomer runs first."""

import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.pictures import in_picture
from tiermem import Settings
from tiermem.apps.cli import demo as show
from tiermem.apps.cli.app import app
from tiermem.apps.cli.demo.run import Demo, dialogue, questions, run_demo
from tiermem.apps.present.terminal import program

PICTURE = Path(__file__).parents[2] / "docs/images/audit.svg"
"""`python docs/images/audit.py` draws it."""
SAID, NEAREST = "Said about this:", "Nearest in memory:"
EXPECTED = (
    ("When is the party at the boathouse?", SAID, "September 14, 2024"),
    ("What is Mila allergic to?", SAID, "sesame"),
    ("When did Ines call Mr. Lindqvist?", SAID, "I called Mr. Lindqvist yesterday"),
    ("How much is the deposit for the boathouse?", SAID, "The deposit is 475 euros"),
    ("When is the tasting at Ms. Okafor's kitchen?", SAID, "moved to Tuesday, June 11"),
    ("Who gives the speech?", NEAREST, "Then I'll give the speech"),
    ("Who wrote the addresses by hand?", NEAREST, "I wrote the addresses by hand"),
    ("Which airline is Aunt Rosa flying with?", NEAREST, "Lisbon"),
    ("Does Dad want a live band?", SAID, "doesn't want a live band"),
)
"""Each question, the heading of its lines, and words that one of them has."""


@pytest.fixture(scope="module")
def demo() -> Demo:
    """One run in a directory that is gone afterwards."""
    return run_demo(None, "local")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A store in which one run was kept, and what the run printed."""
    store = str(tmp_path_factory.mktemp("demo") / "memory")
    shown = CliRunner().invoke(app, ["demo", "--store", store, "--engine", "local"])
    assert shown.exit_code == 0, shown.output
    return store, shown.stdout


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


def test_every_question_has_lines_with_what_was_said(demo: Demo) -> None:
    shown = [(one.question.question, one.answer.text.splitlines()[0]) for one in demo.answers]
    assert shown == [(question, heading) for question, heading, _ in EXPECTED]
    for one, (_, heading, words) in zip(demo.answers, EXPECTED, strict=True):
        assert any(words in line.text for line in one.answer.said), one.question
        assert one.answer.abstained == (heading == NEAREST)


def test_every_answer_cites_words_that_stand_on_their_page(demo: Demo) -> None:
    for one in demo.answers:
        assert bool(one.answer.citations) != one.answer.abstained
        pages = {page.id: page for page in one.pages}
        for citation in one.answer.citations:
            words = " … ".join(pages[span.page_id].words(span) for span in citation.spans)
            assert citation.quote == words


def test_what_the_summaries_dropped_is_found_in_a_turn(demo: Demo) -> None:
    dropped = demo.answers[1]
    candidates = dropped.answer.trace.candidates
    assert not any("sesame" in found.text for found in candidates if found.source == "unit")
    assert (dropped.answer.trace.rounds, dropped.answer.citations[0].unit_id) == ((), None)
    assert "allergic to sesame" in dropped.answer.citations[0].quote
    assert dropped.cost.read < demo.dialogue_tokens / 10


def test_the_demo_kept_in_a_store_can_be_asked_on(kept: tuple[str, str]) -> None:
    runner, (store, shown) = CliRunner(), kept
    assert all(one.question in shown for one in questions())
    assert "«" in shown
    trail = runner.invoke(app, ["audit", "--store", store])
    assert trail.exit_code == 0
    assert "intact" in trail.stdout
    answers = json.loads(runner.invoke(app, ["answers", "--store", store, "--json"]).stdout)["answers"]
    (asked,) = (one["id"] for one in answers if one["question"] == EXPECTED[1][0])
    trail = runner.invoke(app, ["audit", asked, "--store", store], env={"COLUMNS": "92"})
    assert lasting_words(trail.stdout) == lasting_words(in_picture(PICTURE.read_text()))


def lasting_words(shown: str) -> list[str]:
    """What is shown but for ids, the moment of sealing, frames, and marks around quotes."""
    varying = r"p1:\w+|t1:\d+-\w+|sealed [\d-]+\s[\d:]+|[─│╭╮╰╯«»]"
    return re.sub(varying, " ", shown.replace("\N{NO-BREAK SPACE}", " ")).split()


def test_the_demo_says_what_was_measured_of_other_chats_and_how_to_go_on(
    kept: tuple[str, str],
) -> None:
    shown = " ".join(kept[1].split())
    results = (Path(__file__).parents[2] / "docs/results/probability.md").read_text()
    section = results.partition("## Lines that hold the answer, locomo, half B")[2]
    every = section.partition("| every question |")[2].partition("\n")[0].split("|")
    at_risk = section.partition(f"| risk {Settings().risk:.1f} (")[2].partition("\n")[0].split("|")
    measured = (float(every[1]), float(every[3]), float(at_risk[6]))
    assert measured == (show.FIRST, show.ONE_OF_THREE, show.SAID_WITHOUT_ANSWER)
    assert f"{show.FIRST:.0%} of the questions that have an answer have it in the first line" in shown
    assert f"{program()} ingest FILE" in shown


def test_commands_are_told_as_they_can_be_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / ".venv" / "bin" / "tiermem"
    script.parent.mkdir(parents=True)
    script.touch(0o755)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    monkeypatch.setenv("PATH", "")
    assert program() == str(script)
    monkeypatch.chdir(tmp_path)
    assert program() == ".venv/bin/tiermem"
    monkeypatch.setenv("PATH", str(script.parent))
    assert program() == "tiermem"


def test_the_demo_in_json_names_what_it_did(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "run_demo", lambda store, engine, plan: demo)  # which ran a moment ago
    result = CliRunner().invoke(app, ["demo", "--json", "--engine", "local"])
    told = json.loads(result.stdout)
    names = "notice store space kept engine ingested dialogue_tokens answers verified"
    assert set(told) == set(names.split())
    assert len(told["answers"]) == len(questions())

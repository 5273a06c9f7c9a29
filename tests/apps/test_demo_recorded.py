"""The demo of the whole pipeline, with the replies that were recorded.

Where one of these fails with `NotRecorded`, a prompt or what it is given has changed, and the replies have to
be recorded again: see `tiermem.apps.cli.demo.record`.
"""

import json
import re
import shutil
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tiermem.apps.cli.app import app
from tiermem.apps.cli.demo.record import record
from tiermem.apps.cli.demo.replies import REPLIES, plan_with, read_replies
from tiermem.apps.cli.demo.run import Demo, DemoAnswer, run_demo
from tiermem.errors import TierMemError
from tiermem.llm import prompts
from tiermem.llm.scripted import FunctionModel
from tiermem.model import SummaryUnit

REPLIES_FILE = Path(record.__code__.co_filename).with_name(REPLIES)
PROMPTS = ("distil", "compose", "integrate", "plan", "select", "reconcile")


@pytest.fixture(scope="module")
def units() -> list[SummaryUnit]:
    """What the pages were distilled to, filled by `demo`."""
    return []


@pytest.fixture(scope="module")
def demo(units: list[SummaryUnit]) -> Demo:
    """One run in a directory that is gone afterwards."""
    return run_demo(
        None, "auto", plan=plan_with(read_replies()), on_ingested=lambda _, made: units.extend(made)
    )


def run(*arguments: str) -> str:
    """What the command prints."""
    shown = CliRunner().invoke(app, ["demo", "--recorded", *arguments], env={"COLUMNS": "100"})
    assert shown.exit_code == 0, shown.output
    return shown.stdout


def lasting_words(shown: str) -> list[str]:
    """What is shown but for ids, which hold the time of storing, and how long it took."""
    return re.sub(r"[pu]1:\w+|t1:\d+-\w+|sealed [\d-]+ [\d:]+|in [\d.]+ s|─+", " ", shown).split()


def refuse(*_: object) -> None:
    """Take the place of `socket.connect`."""
    raise AssertionError("the recorded demo connects to nothing")


def test_it_says_first_what_it_is_and_is_the_same_again_whatever_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket.socket, "connect", refuse)
    first = run()
    notice = first.splitlines()[0]
    assert "written beforehand by a careful reader" in notice
    assert "nothing is asked over a network" in notice
    assert "a model of your own would word them differently" in notice
    for name, value in (
        ("MODEL", "another"),
        ("BASE_URL", "http://127.0.0.1:9/v1"),
        ("ROUTER", "llm"),
        ("RECALL_TURNS", "15"),
        ("RECALL_UNITS", "2"),
        ("PAGE_TOKENS", "100"),
    ):
        monkeypatch.setenv(f"TIERMEM_{name}", value)
    assert lasting_words(run()) == lasting_words(first)


def test_every_unit_links_to_words_on_a_page(units: list[SummaryUnit], demo: Demo) -> None:
    assert demo.ingested.pages == len({span.page_id for unit in units for span in unit.spans}) == 7
    assert {unit.kind for unit in units} == {"summary", "quote"}
    assert all(unit.spans for unit in units)
    assert demo.verified.ok


def test_questions_take_the_routes_that_they_are_there_for(demo: Demo) -> None:
    changed, researched, written_back, unknown = demo.answers
    assert [calls(one) for one in demo.answers] == [
        {"compose": 1},
        {"compose": 1, "integrate": 1, "plan": 1},
        {"compose": 1},
        {"compose": 1},
    ]
    assert "June 11" in changed.answer.text
    assert all(citation.unit_id for citation in changed.answer.citations)
    assert researched.answer.route == "ESCALATE"
    assert any(citation.unit_id is None for citation in researched.answer.citations)
    assert [decision.op for decision in researched.decisions] == ["ADD", "UPDATE"]
    (unit,) = researched.units
    assert [citation.unit_id for citation in written_back.answer.citations] == [unit.id]
    assert unknown.answer.abstained
    assert "sesame" in unknown.answer.said[0].text


def calls(one: DemoAnswer) -> dict[str, int]:
    """How often each step asked the model."""
    return {used.step: used.usage.calls for used in one.answer.trace.usage if used.usage.calls}


def test_every_citation_is_intact(demo: Demo) -> None:
    assert all(one.intact for one in demo.answers)
    for one in demo.answers:
        pages = {page.id: page for page in one.pages}
        for citation in one.answer.citations:
            assert citation.quote == " … ".join(pages[span.page_id].words(span) for span in citation.spans)


def test_what_was_written_back_and_the_audit_are_displayed(demo: Demo) -> None:
    shown = " ".join(run().split())
    (unit,) = demo.answers[1].units
    assert "written back ADD:" in shown
    assert "written back UPDATE:" in shown
    assert unit.text in shown
    assert "NOT INTACT" not in shown
    assert shown.count(": intact") == 3


def test_a_memory_that_is_kept_can_be_looked_at_and_is_not_used_twice(tmp_path: Path) -> None:
    store = str(tmp_path / "memory")
    run("--store", store)
    audit = CliRunner().invoke(app, ["audit", "--store", store, "--json"])
    assert json.loads(audit.stdout)["intact"]
    again = CliRunner().invoke(app, ["demo", "--recorded", "--store", store])
    assert again.exit_code == 1
    assert "name another --store" in again.stderr


def test_a_model_has_to_be_allowed() -> None:
    assert CliRunner().invoke(app, ["demo", "--recorded", "--engine", "local"]).exit_code == 2


def test_requests_do_not_depend_on_the_counter_of_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    class Coarse:
        name = "coarse"

        def count(self, text: str) -> int:
            return len(text) // 3

    monkeypatch.setattr("tiermem.runtime.opening.token_counter", Coarse)
    assert run_demo(None, "auto", plan=plan_with(read_replies())).verified.ok


@pytest.mark.parametrize("name", PROMPTS)
def test_replies_to_another_prompt_are_refused_with_how_to_record_them(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = next(folder for folder in prompts._FOLDERS if folder.is_dir())
    changed = Path(shutil.copytree(folder, tmp_path / "prompts"))
    prompt = changed / f"{name}.md"
    prompt.write_text(prompt.read_text() + "\nOne more sentence.\n")
    monkeypatch.setattr(prompts, "_FOLDERS", (changed,))
    shown = CliRunner().invoke(app, ["demo", "--recorded"])
    assert shown.exit_code == 1
    assert "the recorded replies are of other prompts" in shown.stderr
    assert f"{name}@" in shown.stderr
    assert "python -m tiermem.apps.cli.demo.record" in shown.stderr


def test_replies_are_recorded_again_by_any_model(tmp_path: Path) -> None:
    calls_kept = [json.loads(line)["call"] for line in REPLIES_FILE.read_text().splitlines()]
    assert {call["prompt"].partition("@")[0] for call in calls_kept} == set(PROMPTS)
    copy = tmp_path / REPLIES
    assert record(read_replies(), copy) == len(copy.read_text().splitlines())
    assert copy.read_text() == REPLIES_FILE.read_text()
    assert plan_with(FunctionModel(lambda _: "", name="big")).notice.startswith(
        "The replies of the model were written beforehand by the model 'big'"
    )


def test_a_page_that_a_model_fails_on_leaves_the_recording_as_it_is(tmp_path: Path) -> None:
    replies = tmp_path / REPLIES
    with pytest.raises(TierMemError, match="pages could not be summarised"):
        record(FunctionModel(lambda _: "no JSON"), replies)
    assert not replies.exists()

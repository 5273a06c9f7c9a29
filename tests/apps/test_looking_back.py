"""Replay, omissions and second looks from the command line."""

import json
import shutil
from pathlib import Path

import pytest

from tests.apps.test_commands import as_json, chat_file, tiermem
from tests.llm.server import ModelServer


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("looking")
    tiermem(folder / "memory", "ingest", str(chat_file(folder)))
    tiermem(folder / "memory", "ask", "What is the name of Ann's dog?")
    return folder / "memory"


def test_a_replay_shows_candidates_scores_and_route_as_they_were(store: Path) -> None:
    past = as_json(store, "replay")
    assert past["answer"]["trace"]["candidates"]
    assert (past["differences"], past["rerun"]) == ([], None)
    shown = tiermem(store, "replay", past["answer"]["id"]).stdout
    assert "What is the name of Ann's dog?" in shown
    assert f"{past['answer']['trace']['candidates'][0]['score']:.4f}" in shown
    assert "holds every candidate" in shown


def test_a_question_asked_again_over_the_memory_of_then_gives_the_same(store: Path, tmp_path: Path) -> None:
    answer = as_json(store, "replay")["answer"]["id"]
    more = tmp_path / "more.txt"
    more.write_text("# Session 9, 1 July 2024\nAnn: Pixel the dog has a brother, his name is Vector.\n")
    tiermem(store, "ingest", str(more))
    again = as_json(store, "replay", answer, "--rerun")
    assert again["differences"] == []
    assert again["rerun"]["text"] == again["answer"]["text"]
    assert "the same in everything" in tiermem(store, "replay", answer, "--rerun").stdout
    assert len(as_json(store, "answers")["answers"]) == 1


def test_omissions_are_listed_by_page_and_session(store: Path) -> None:
    told = as_json(store, "omissions")
    assert told["literals"] >= told["lost"]
    pages = told["report"]["pages"]
    assert pages
    (one,) = as_json(store, "omissions", "--page", pages[0]["page_id"][:14])["report"]["pages"]
    assert one == pages[0]
    only = as_json(store, "omissions", "--session", pages[0]["session"])["report"]["pages"]
    assert {page["session"] for page in only} == {pages[0]["session"]}
    assert "literals are in no unit" in tiermem(store, "omissions").stdout
    assert "nosuch" in tiermem(store, "omissions", "--page", "p1:nosuch", code=1).stderr


def test_stats_show_the_day_and_of_pages_what_is_known(store: Path) -> None:
    figures = as_json(store, "stats")
    assert set(figures) >= {"tokens_saved", "tokens_summary", "spent_today", "daily", "omissions_per_literal"}
    shown = " ".join(tiermem(store, "stats").stdout.split())
    assert (figures["tokens_saved"], figures["escalated"]) == (None, None)  # no model reads pages
    assert "unread" not in shown
    assert "0 calls, 0 tokens" in shown


def test_a_page_is_summarised_again_by_a_model_and_keeps_its_units(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Path(shutil.copytree(store, tmp_path / "memory"))
    units = [unit["id"] for unit in as_json(store, "units")["units"]]
    page = as_json(store, "pages")["pages"][0]["id"]
    assert "none is named" in tiermem(store, "redistil", page, code=1).stderr
    fact = {"fact": "Ann adopted a dog called Pixel.", "evidence_quotes": ["I adopted a dog on Saturday"]}
    with ModelServer(answer=lambda _: json.dumps({"facts": [fact]})) as server:
        monkeypatch.setenv("TIERMEM_BASE_URL", server.url)
        monkeypatch.setenv("TIERMEM_MODEL", "small")
        done = as_json(store, "redistil", page[:14])
        assert done["page_id"] == page
        after = [unit["id"] for unit in as_json(store, "units")["units"]]
        assert after == units + [unit["id"] for unit in done["units"]]
        assert len(done["units"]) == 1
        assert "in no unit now" in tiermem(store, "redistil", page).stdout

"""What is written for LongMemEval's own scripts, and the calls of models that a run keeps."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.eval.test_cli import everything_by_model, invoke
from tests.eval.test_datasets import lme, locomo, write
from tests.llm.server import ModelServer
from tiermem.llm.recording import ReplayingModel


@pytest.fixture
def replies() -> list[dict[str, Any]]:
    """What the model replies, one for all questions."""
    return [{"answer": "a loaf of rye", "cited": [0], "abstained": False, "complete": True}]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, replies: list[dict[str, Any]]) -> Iterator[ModelServer]:
    with ModelServer(answer=lambda _: json.dumps(replies[0])) as server:
        monkeypatch.setenv("TIERMEM_MODEL", "wording-model")
        monkeypatch.setenv("TIERMEM_BASE_URL", server.url)
        yield server


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "lme.json", [lme()])


def run(command: str, data: Path, tmp_path: Path, *more: str) -> Path:
    out = tmp_path / command
    cache = ["--cache", str(tmp_path / "cache")]
    code, said = invoke(command, "longmemeval", "--data", str(data), "--out", str(out), *more, *cache)
    assert code == 0, said
    return out


@pytest.mark.parametrize("documents", ["turn", "session"])
def test_what_was_found_is_put_into_the_data_under_the_names_of_its_sessions(
    data: Path, tmp_path: Path, documents: str
) -> None:
    folder = run("retrieval", data, tmp_path, "--systems", "bm25")
    out = tmp_path / "made" / "found.json"
    given = ["--data", str(data), "--out", str(out), "--system", "bm25", "--documents", documents]
    code, said = invoke("official", str(folder), *given)
    assert code == 0, said
    assert "(1 questions)" in said
    (written,) = json.loads(out.read_text())
    (item,) = json.loads(data.read_text())
    ranked = written.pop("retrieval_results")["ranked_items"]
    assert written == item
    sessions = dict(zip(item["haystack_session_ids"], item["haystack_sessions"], strict=True))
    expected = {
        f"{name}_{number}": turn["content"]
        for name, turns in sessions.items()
        for number, turn in enumerate(turns, start=1)
    }
    if documents == "session":
        expected = {name: "\n".join(turn["content"] for turn in turns) for name, turns in sessions.items()}
    assert {one["corpus_id"]: one["text"] for one in ranked}.items() <= expected.items()
    assert len({one["corpus_id"] for one in ranked}) == len(ranked) > 0


@pytest.mark.usefixtures("model")
def test_answers_are_written_a_line_each_and_abstentions_say_so(
    data: Path, tmp_path: Path, replies: list[dict[str, Any]]
) -> None:
    asked = ["--systems", "full", "--engine", "model"]
    folder = run("qa", data, tmp_path, *asked)
    out = tmp_path / "answers.jsonl"
    assert invoke("official", str(folder), "--out", str(out), "--system", "full")[0] == 0
    (question,) = json.loads(data.read_text())
    line = {"question_id": question["question_id"], "hypothesis": "a loaf of rye"}
    assert list(map(json.loads, out.read_text().splitlines())) == [line]
    replies[0] = {"answer": "Nothing is said of a loaf.", "cited": [], "abstained": True, "complete": True}
    folder = run("qa", data, tmp_path / "again", *asked)
    assert invoke("official", str(folder), "--out", str(out), "--system", "full")[0] == 0
    assert json.loads(out.read_text())["hypothesis"].startswith("That is not known.")


@pytest.mark.usefixtures("model")
def test_other_runs_are_refused(data: Path, tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "out.json")]
    asked = ["--systems", "full", "--engine", "model"]
    renamed = run("qa", data, tmp_path, *asked, "--rename")
    code, said = invoke("official", str(renamed), *out, "--system", "full")
    assert (code, "other names" in said) == (1, True)
    found = run("retrieval", data, tmp_path, "--systems", "bm25")
    code, said = invoke("official", str(found), *out)
    assert (code, "needs --data" in said) == (1, True)
    code, said = invoke("official", str(found), *out, "--data", str(data))
    assert (code, "its systems are: bm25" in said) == (1, True)
    other = write(tmp_path / "other.json", [lme(), lme()])
    code, said = invoke("official", str(found), *out, "--data", str(other), "--system", "bm25")
    assert (code, "is not the data of the run" in said) == (1, True)
    chat = write(tmp_path / "locomo.json", locomo(["D1:1"]))
    assert invoke(*everything_by_model(chat, tmp_path / "chat"), "--cache", str(tmp_path / "cache"))[0] == 0
    code, said = invoke("official", str(tmp_path / "chat"), *out)
    assert (code, "a run of qa over locomo" in said) == (1, True)
    assert not (tmp_path / "out.json").exists()


def test_a_run_keeps_every_call_of_its_models(data: Path, tmp_path: Path, model: ModelServer) -> None:
    folder = run("qa", data, tmp_path, "--systems", "full", "--engine", "model", "--judge", "judge-model")
    calls = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
    asked = ["\n".join(message["content"] for message in one["call"]["messages"]) for one in calls]
    assert asked == [request.text for request in model.requests]
    assert {one["reply"]["model"] for one in calls} == {"wording-model", "judge-model"}
    assert "a loaf of rye" in calls[0]["reply"]["text"]
    assert ReplayingModel(folder / "calls.jsonl").model_for("compose") == "wording-model"

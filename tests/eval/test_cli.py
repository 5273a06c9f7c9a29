"""The commands, as a person types them, on a file small enough for a test."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.cli import app
from tests.eval.test_datasets import lme, locomo, write
from tests.llm.server import ModelServer, Request
from tiermem.embedding.weights import find_weights
from tiermem.errors import EmbedderUnavailable

COMMANDS = {"retrieval": ["--systems", "bm25"], "qa": ["--systems", "bm25,full", "--engine", "model"]}
WORDED = json.dumps({"answer": "a loaf of rye", "cited": [0], "abstained": False, "complete": True})


def verdict(request: Request) -> str:
    """What a judge replies: that an answer is right where it is told to be generous."""
    return json.dumps({"reason": "x", "label": "CORRECT" if "Be generous" in request.text else "WRONG"})


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model that words every answer alike, named by the settings; one called "judge-model" judges."""

    def reply(request: Request) -> str:
        return verdict(request) if request.model == "judge-model" else WORDED

    with ModelServer(answer=reply) as server:
        monkeypatch.setenv("TIERMEM_MODEL", "wording-model")
        monkeypatch.setenv("TIERMEM_BASE_URL", server.url)
        yield server


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


def everything_by_model(data: Path, out: Path) -> list[str]:
    """The quickest run there is: nothing is stored, and a model is asked once a question."""
    return ["qa", "locomo", "--data", str(data), "--out", str(out), "--systems", "full", "--engine", "model"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "locomo.json", locomo(["D1:1"]))


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_prints_tables_and_writes_its_reports(command: str, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    cache = ["--cache", str(tmp_path / "cache")]
    asked = [command, "locomo", "--data", str(data), "--out", str(out), *COMMANDS[command], *cache]
    code, said = invoke(*asked)
    assert code == 0, said
    assert "bm25" in said
    assert {path.name for path in out.iterdir()} >= {
        "manifest.json",
        "results.jsonl",
        "report.md",
        "report.html",
    }
    manifest = json.loads((out / "manifest.json").read_text())
    assert len(manifest["checksum"]) == 64
    code, said = invoke(*asked)
    assert code == 1
    assert "--resume" in said
    before = (out / "results.jsonl").read_bytes()
    code, said = invoke(*asked, "--resume")
    assert code == 0, said
    assert (out / "results.jsonl").read_bytes() == before


@pytest.mark.usefixtures("model")
def test_a_sample_under_other_names_is_told_in_the_manifest(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    chosen = ["--questions", "5", "--categories", "multi-hop", "--conversations", "conv-1", "--seed", "7"]
    asked = [*everything_by_model(data, out), *chosen, "--rename"]
    code, said = invoke(*asked, "--cache", str(tmp_path / "cache"))
    assert code == 0, said
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["seed"], manifest["questions"]) == (7, 1)
    assert manifest["sample"] == {
        "questions": 5,
        "categories": ["multi-hop"],
        "conversations": ["conv-1"],
        "renamed": True,
    }
    results = (out / "results.jsonl").read_text()
    assert "Ann:" not in results
    assert "multi-hop" in results
    assert "adversarial" not in results
    assert "renamed=True" in (out / "report.md").read_text()
    code, said = invoke(*asked, "--resume", "--seed", "8")
    assert code == 1
    assert "seed (7 there, 8 here)" in said


def test_both_judges_grade_one_run_as_typed(data: Path, tmp_path: Path, model: ModelServer) -> None:
    out = tmp_path / "run"
    code, said = invoke(
        *everything_by_model(data, out), "--categories", "multi-hop",
        "--judge", "judge-model", "--judge-style", "strict,generous", "--cache", str(tmp_path / "cache"),
    )  # fmt: skip
    assert code == 0, said
    lines = (out / "results.jsonl").read_text().splitlines()
    (answer,) = [one for one in map(json.loads, lines) if one["kind"] == "answer"]
    assert answer["grade"]["verdicts"] == {"strict": False, "generous": True}
    assert answer["grade"]["correct"] is False
    assert [request.model for request in model.requests].count("judge-model") == 2
    prompts = json.loads((out / "manifest.json").read_text())["prompts"]
    assert [prompt.partition("@")[0] for prompt in prompts[-2:]] == ["judge", "judge-generous"]


@pytest.mark.usefixtures("model")
def test_chats_packed_with_xz_are_sampled_and_renamed_too(tmp_path: Path) -> None:
    packed = tmp_path / "oracle.json.xz"
    packed.write_bytes(lzma.compress(json.dumps([lme()]).encode()))
    code, said = invoke(
        "qa", "longmemeval", "--data", str(packed), "--out", str(tmp_path / "run"), "--systems", "full",
        "--engine", "model", "--questions", "1", "--rename", "--cache", str(tmp_path / "cache"),
    )  # fmt: skip
    assert code == 0, said
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["questions"] == 1


def test_a_report_can_be_had_again_as_json(data: Path, tmp_path: Path) -> None:
    out, cache = str(tmp_path / "run"), str(tmp_path / "cache")
    invoke("retrieval", "locomo", "--data", str(data), "--out", out, "--systems", "bm25", "--cache", cache)
    code, first = invoke("report", out, "--json")
    assert code == 0
    numbers = json.loads(first)[0]["numbers"]
    assert numbers["turn/evidence"]["bm25"]["questions"] == 1
    assert invoke("report", out, "--json") == (0, first)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--systems", "elastic"], "there are: tiermem"),
        (["--systems", "bm25", "--resume"], "--resume needs --out"),
        (["--systems", "bm25", "--engine", "recorded"], "--facts"),
        (["--systems", "tiermem", "--facts", "nowhere"], "--facts 'nowhere' does not exist"),
        (["--systems", "tiermem", "--facts", "locomo.json"], "--facts 'locomo.json' is no directory"),
        (["--systems", "tiermem", "--facts", "."], "--facts '.' holds no recorded facts"),
        (["--systems", "tiermem,full,bm25"], "'full', 'bm25' need a model that words the answers"),
        (["--systems", "tiermem:raw"], "add --engine model, or leave them out of --systems"),
        (["--systems", "bm25", "--engine", "model"], "TIERMEM_MODEL"),
        (
            ["--systems", "tiermem", "--categories", "hard"],
            "no category 'hard'; there are: adversarial, multi-hop",
        ),
        (
            ["--systems", "tiermem", "--conversations", "conv-9"],
            "no conversation 'conv-9'; there are: conv-1",
        ),
    ],
)
def test_what_cannot_be_run_is_told_in_one_line(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = invoke("qa", "locomo", "--data", str(data), "--cache", str(tmp_path / "cache"), *arguments)
    assert code == 1
    assert words in said
    assert said.strip().count("\n") == 0


def test_what_fails_while_questions_are_asked_is_told_in_one_line_too(data: Path, tmp_path: Path) -> None:
    code, said = invoke(
        "replay", "locomo", "--data", str(data), "--out", str(tmp_path / "run"), "--systems", "bm25",
        "--cache", str(tmp_path / "cache"),
    )  # fmt: skip
    assert code == 1
    assert "'bm25' keeps nothing of what it learns; use qa" in said
    assert "Traceback" not in said


def test_the_systems_are_listed() -> None:
    code, said = invoke("systems")
    assert code == 0
    assert {"tiermem", "bm25", "mem0", "full"} <= set(said.split())


def test_help_lists_the_commands_of_evaluation_and_no_others() -> None:
    code, said = invoke("--help")
    assert code == 0
    listed = [line.split()[1] for line in said.splitlines() if line.startswith("│ ") and line[2] != " "]
    assert [name for name in listed if name != "--help"] == [
        "retrieval",
        "qa",
        "replay",
        "report",
        "official",
        "audit",
        "bench",
        "transcripts",
        "hooks",
        "systems",
    ]


def test_a_kept_run_is_audited_as_typed(data: Path, tmp_path: Path) -> None:
    try:
        find_weights()
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    out, cache = str(tmp_path / "run"), ["--cache", str(tmp_path / "cache")]
    code, said = invoke(
        "qa", "locomo", "--data", str(data), "--out", out, "--systems", "tiermem", "--keep", *cache
    )
    assert code == 0, said
    code, said = invoke("audit", out, "--json", *cache)
    assert code == 0, said
    found = json.loads(said)
    assert found["answers"] == found["asked_again"] >= 1
    assert found["differing"] == []

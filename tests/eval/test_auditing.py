"""Answers of a run that was kept are found again: same candidates, scores, route, words."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import copytree

import anyio
import pytest

from eval.auditing import audit
from eval.cli import app
from eval.folder import RunFolder
from eval.judge import ByWords
from eval.runner import qa, replay
from eval.types import Result
from tests.eval import tiny
from tests.eval.test_cli import invoke
from tiermem.errors import InvalidInput

pytestmark = pytest.mark.anyio

SYSTEMS = ["tiermem", "tiermem:summary", "tiermem:raw", "tiermem:no-links", "tiermem:no-recall", "bm25"]


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was kept, to be copied."""
    path = tmp_path_factory.mktemp("auditing") / "run"
    folder = tiny.new_folder(path, "qa", SYSTEMS)
    anyio.run(partial(qa, replace(tiny.plan(folder, SYSTEMS), keep=True), ByWords()))
    return path


@pytest.fixture
def folder(run_once: Path, tmp_path: Path) -> RunFolder:
    """The run, for one test alone."""
    copytree(run_once, tmp_path / "run")
    return RunFolder.open(tmp_path / "run")


async def test_every_answer_of_a_run_is_found_again_and_given_again(folder: RunFolder) -> None:
    observer = tiny.Quiet()
    found = await audit(folder, tiny.setup(), observer)
    assert found.differing == []
    assert found.answers == found.asked_again == observer.total == len(observer.steps) == 5 * 2 * 4


async def test_answers_are_found_again_though_findings_were_written_back_since(tmp_path: Path) -> None:
    systems = ["tiermem", "tiermem:no-recall"]
    folder = tiny.new_folder(tmp_path / "run", "replay", systems)
    await replay(replace(tiny.plan(folder, systems), keep=True), ByWords(), epochs=3)
    found = await audit(folder, tiny.setup(), tiny.Quiet())
    assert found.differing == []
    assert found.answers == 2 * 2 * 4 * 3


@pytest.mark.parametrize("rerun", [0, 7, 100])
async def test_so_many_are_asked_again_as_is_wished(folder: RunFolder, rerun: int) -> None:
    found = await audit(folder, tiny.setup(), tiny.Quiet(), rerun=rerun)
    assert (found.answers, found.asked_again, found.differing) == (40, min(rerun, 40), [])


async def test_what_was_recorded_otherwise_than_the_memory_has_it_is_named(folder: RunFolder) -> None:
    results = folder.path / "results.jsonl"
    lines = results.read_text(encoding="utf-8").splitlines()
    at = next(
        n for n, line in enumerate(lines) if "Biscuit" in json.loads(line).get("reply", {}).get("text", "")
    )
    fields = json.loads(lines[at])
    fields["reply"] |= {"text": "Rex", "route": "guess"}
    results.write_text(
        "\n".join([*lines[:at], json.dumps(fields, separators=(",", ":")), *lines[at + 1 :]]) + "\n",
        encoding="utf-8",
    )
    found = await audit(folder, tiny.setup(), tiny.Quiet(), rerun=0)
    (one,) = found.differing
    assert (one.question, one.answer_id) == (fields["text"], fields["reply"]["answer_id"])
    assert [(d.what, d.then) for d in one.differences] == [("answer", "Rex"), ("route", "guess")]


async def test_a_run_that_was_not_kept_is_told_so(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa", ["tiermem"])
    await qa(tiny.plan(folder, ["tiermem"]), ByWords())
    with pytest.raises(InvalidInput, match="--keep"):
        await audit(folder, tiny.setup(), tiny.Quiet())


async def test_systems_that_keep_no_answers_are_told_so(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa", ["bm25"])
    await qa(tiny.plan(folder, ["bm25"]), ByWords())
    assert all(one.reply.answer_id is None for one in folder.records() if isinstance(one, Result))
    with pytest.raises(InvalidInput, match="only TierMem's"):
        await audit(folder, tiny.setup(), tiny.Quiet())


def test_the_command_says_what_it_needs(tmp_path: Path) -> None:
    assert app.info.name == "eval"
    code, said = invoke("audit", str(tmp_path))
    assert code == 1
    assert "no run in" in said

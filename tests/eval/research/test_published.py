"""Profiles: what the published run fixes is fixed, and reaches the memory and the manifest."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.arrange import Request
from eval.judge import STYLES
from eval.research.cli import app
from eval.research.published import PAPER, profile, with_profile
from eval.systems import Setup, candidates
from eval.systems.tiermem import TierMem
from eval.types import CaseId
from tests.engines import given
from tests.eval import tiny
from tests.eval.test_cli import WORDED, everything_by_model
from tests.eval.test_datasets import locomo, write
from tests.llm.server import ModelServer
from tiermem import AsyncMemory, Settings
from tiermem.errors import InvalidInput
from tiermem.llm.interface import Call
from tiermem.llm.scripted import Line, ScriptedModel
from tiermem.reading.options import ReadingOptions
from tiermem.reasoning import by_model, engine_named
from tiermem.text.question import Question
from tiermem.writing.values import WriterOptions

pytestmark = pytest.mark.anyio


def test_the_published_constants() -> None:
    settings = PAPER.settings
    assert settings["page_tokens"] == 1000
    assert settings["recall_units"] == 5
    assert settings["research_pages"] == 5
    assert settings["research_rounds"] == 3
    assert (settings["router"], settings["recall_turns"]) == ("llm", 0)
    assert PAPER.constants == {"neighbours": 3, "protected_similarity": 0.6, "temperature": 0.0}
    assert PAPER.judge_styles == ("generous",)
    assert set(PAPER.judge_styles) <= set(STYLES)


def test_the_library_has_the_constants_that_no_setting_changes() -> None:
    assert WriterOptions().neighbours == PAPER.constants["neighbours"]
    assert ReadingOptions().protected_similarity == PAPER.constants["protected_similarity"]
    assert Call(prompt="p@1", role="route", messages=()).temperature == PAPER.constants["temperature"]


def test_settings_that_the_paper_shares_with_the_defaults_are_the_defaults() -> None:
    defaults = Settings()
    for name in ("page_tokens", "recall_units", "research_pages", "research_rounds", "links"):
        assert getattr(defaults, name) == PAPER.settings[name]


def request(tmp_path: Path, **given: object) -> Request:
    return Request(
        kind="qa",
        dataset="locomo",
        data=tmp_path,
        systems=("tiermem",),
        out=tmp_path,
        **given,  # type: ignore[arg-type]
    )


def test_a_profile_sets_what_was_not_asked_for(tmp_path: Path) -> None:
    asked = with_profile(request(tmp_path, judge="m"), "paper")
    assert asked.settings == PAPER.settings
    assert asked.judge_styles == ("generous",)
    strict = with_profile(request(tmp_path, judge="m", judge_styles=("strict",)), "paper")
    assert strict.judge_styles == ("strict",)
    by_words = with_profile(request(tmp_path), "paper")
    assert by_words.judge_styles == ()
    assert asked.profile == "paper"
    with pytest.raises(InvalidInput, match="no profile 'papers'; there are: paper"):
        profile("papers")


async def test_a_system_with_settings_of_its_own_keeps_them(tmp_path: Path) -> None:
    common = tiny.setup()
    setup = Setup(
        embedder=common.embedder, engine=common.engine, counter=common.counter, settings=PAPER.settings
    )
    given = {}
    for name in ("tiermem", "tiermem:gate", "tiermem:no-links"):
        (candidate,) = candidates([name], setup)
        system = await candidate.open(CaseId("one"), tmp_path)
        assert isinstance(system, TierMem)
        given[name] = system.given
    assert given["tiermem"]["router"] == "llm"
    assert given["tiermem:gate"]["router"] == "gate"
    assert (given["tiermem"]["links"], given["tiermem:no-links"]["links"]) == (True, False)


async def test_a_memory_opens_with_the_profile(tmp_path: Path) -> None:
    """The engine asks a model, as published; here the model knows its lines."""
    always = {"answer": "A Volvo, probably.", "cited": [0], "inferred": True}
    script: tuple[tuple[str, Line], ...] = (
        ("distil", {"facts": []}),
        ("integrate", {"linked_facts": [], "coverage_assessment": "nothing"}),
        ("plan", {"decision": "DONE"}),
        ("compose_always", always),
    )
    model = ScriptedModel(*script)
    memory = await AsyncMemory.open(
        tmp_path, embedder=tiny.setup().embedder, engine=PAPER.adapt(by_model(model)), **PAPER.settings
    )
    async with memory:
        await memory.add("Biscuit is allergic to chicken.", speaker="Ann")
        await memory.flush()
        answer = await memory.ask("Which car does Ann drive?")
        assert (answer.text, answer.abstained) == ("A Volvo, probably.", False)
        assert answer.support == "worded"


async def test_the_question_is_searched_for_before_anything_is_planned() -> None:
    asked = datetime(2024, 5, 1, tzinfo=UTC)
    planned = given(PAPER.adapt(by_model(ScriptedModel(("plan", {"decision": "DONE"})))).plan)
    first = await planned(Question("Which car?", asked), [], "", [])
    assert (first.done, [one.query for one in first.searches]) == (False, ["Which car?"])
    assert (await planned(Question("Which car?", asked), [], "", first.searches)).done


def test_the_profile_needs_an_engine_that_asks_a_model() -> None:
    with pytest.raises(InvalidInput, match="need an engine that asks a model"):
        PAPER.adapt(engine_named("local"))


def test_a_profile_is_told_in_the_manifest_and_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    data = write(tmp_path / "locomo.json", locomo(["D1:1"]))
    asked = ["--profile", "paper", *everything_by_model(data, out), "--cache", str(tmp_path / "cache")]
    with ModelServer(answer=lambda request: WORDED) as server:
        monkeypatch.setenv("TIERMEM_MODEL", "wording-model")
        monkeypatch.setenv("TIERMEM_BASE_URL", server.url)
        result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["profile"] == "paper"
    assert manifest["settings"]["write_back_variant"] == "retrieve-and-edit"
    assert manifest["judge"].startswith("no judge model")
    assert "recall_turns=0" in (out / "report.md").read_text()

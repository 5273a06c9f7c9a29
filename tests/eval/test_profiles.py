"""Profiles: what the published run fixes is fixed, and reaches the memory and the manifest."""

from pathlib import Path

import pytest

from eval.arrange import Request, with_profile
from eval.judge import STYLES
from eval.systems import Setup, candidates
from eval.systems.profiles import PAPER, profile
from eval.systems.tiermem import TierMem
from eval.types import CaseId
from tests.eval import tiny
from tiermem import AsyncMemory, Settings
from tiermem.errors import InvalidInput
from tiermem.llm.interface import Call
from tiermem.llm.scripted import Line, ScriptedModel
from tiermem.reading.options import ReadingOptions
from tiermem.reasoning import by_model
from tiermem.writing.values import WriterOptions

pytestmark = pytest.mark.anyio


def test_the_published_constants() -> None:
    settings = PAPER.settings
    assert settings["page_tokens"] == 1000
    assert settings["recall_units"] == 5
    assert settings["research_pages"] == 5
    assert settings["research_rounds"] == 3
    assert (settings["router"], settings["route_reply"], settings["recall_by"]) == (
        "llm",
        "action",
        "vectors",
    )
    assert (settings["recall_turns"], settings["search_first"], settings["abstain"]) == (0, True, False)
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
    asked = with_profile(request(tmp_path, profile="paper", judge="m"))
    assert asked.settings == PAPER.settings
    assert asked.judge_styles == ("generous",)
    strict = with_profile(request(tmp_path, profile="paper", judge="m", judge_styles=("strict",)))
    assert strict.judge_styles == ("strict",)
    by_words = with_profile(request(tmp_path, profile="paper"))
    assert by_words.judge_styles == ()
    assert with_profile(request(tmp_path)) == request(tmp_path)
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
        tmp_path, embedder=tiny.setup().embedder, engine=by_model(model), **PAPER.settings
    )
    async with memory:
        await memory.add("Biscuit is allergic to chicken.", speaker="Ann")
        await memory.flush()
        answer = await memory.ask("Which car does Ann drive?")
        assert (answer.text, answer.abstained) == ("A Volvo, probably.", False)
        assert answer.support == "worded"

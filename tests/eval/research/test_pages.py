"""Pages of papers have the headings, columns, rows, sentences and commands of what writes them today."""

import json
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from eval.research.cli import app
from eval.research.ear import facts, ranks
from tests.eval.test_datasets import lme
from tests.eval.test_pages import DOCS, commands, outline
from tiermem.embedding.hashed import HashEmbedder


@contextmanager
def hashed_embedder(*_: object) -> Iterator[HashEmbedder]:
    yield HashEmbedder()


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No weights are needed, and commands find the files that they name in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("eval.arrange.opened_embedder", hashed_embedder)


def write_log() -> None:
    lines = [
        f"- R{at % 7:02d}-M0 RAS KERNEL {'FATAL' if at % 5 else 'INFO'} core.{at}\n" for at in range(210)
    ]
    Path("BGL_2k.log").write_text("".join(lines))


def write_haystacks() -> None:
    Path("longmemeval_s_cleaned_dev100.json.xz").write_bytes(lzma.compress(json.dumps([lme()]).encode()))


@pytest.fixture
def _small_tiers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few facts are added; the page names the scenarios as they are."""
    named = facts.SCENARIOS
    small = {name: replace(full, facts=250, first=20, second=100) for name, full in named.items()}
    monkeypatch.setattr("eval.research.ear.page.SCENARIOS", named)
    monkeypatch.setattr(facts, "SCENARIOS", small)
    monkeypatch.setattr(ranks, "SCENARIOS", small)


@pytest.mark.usefixtures("_small_tiers")
@pytest.mark.parametrize("name", ["ear", "memtier"])
def test_the_page_of_a_paper_is_outlined_as_its_command_writes_it(name: str) -> None:
    write_log()
    write_haystacks()
    page = (DOCS / f"results/{name}.md").read_text()
    (command,) = commands(page, "eval.research")
    result = CliRunner().invoke(app, [*command, "--page", "page.md"])
    assert result.exit_code == 0, result.output
    assert outline(page) == outline(Path("page.md").read_text())


@pytest.mark.parametrize("name", sorted(path.stem for path in (DOCS / "results").glob("*.md")))
def test_every_command_of_a_page_is_accepted(name: str) -> None:
    group: Any = get_command(app)
    for command, *arguments in commands((DOCS / f"results/{name}.md").read_text(), "eval.research"):
        if "…" not in arguments:
            group.commands[command].make_context(command, arguments)

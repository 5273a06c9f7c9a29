"""`tiermem redate`: what it prints of units with other dates, and of those that it does not change."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tiermem
from tests.writing.old_dates import old_rules
from tiermem.apps.cli.app import app
from tiermem.model import Claim
from tiermem.reasoning import by_rules

DENTIST = "I have a dentist appointment on Tuesday."
OLD, NEW = f"Ann: {DENTIST[:-1]} (2 May 2023).", f"Ann: {DENTIST[:-1]} (9 May 2023)."
WORDED = "Ann has a dentist appointment on 2 May 2023."


async def _by_model(pages: Any, *, hints: Any = ()) -> tuple[Claim, ...]:
    return (Claim(text=WORDED, quotes=(DENTIST,)),)


@pytest.fixture(autouse=True)
def _without_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    monkeypatch.setenv("COLUMNS", "160")


def write_old(store: Path, engine: Any) -> None:
    with old_rules(), tiermem.open(store, engine=engine, distil="inline") as memory:
        memory.add(DENTIST, speaker="Ann", said_at="2023-05-08T13:56")
        memory.flush()


def run(command: str, store: Path, *options: str) -> str:
    result = CliRunner().invoke(app, [command, "--store", str(store), *options])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def test_dates_are_proposed_changed_and_not_changed_again(tmp_path: Path) -> None:
    write_old(tmp_path, "local")
    tried = run("redate", tmp_path, "--dry-run")
    assert "to be dated again  1 unit" in tried
    assert NEW in tried
    assert f"before: {OLD}" in tried
    assert OLD in run("units", tmp_path, "--json")
    done = json.loads(run("redate", tmp_path, "--json"))
    assert [(each["before"]["text"], each["after"]["text"]) for each in done["redated"]] == [(OLD, NEW)]
    assert (done["listed"], done["proposed"]) == ([], False)
    assert NEW in run("units", tmp_path, "--json")
    assert "dated again  0 units" in run("redate", tmp_path)


def test_units_of_a_model_are_listed_with_what_may_be_done(tmp_path: Path) -> None:
    write_old(tmp_path, replace(by_rules(), name="some-model", distil=_by_model))
    shown = run("redate", tmp_path)
    assert "to look at   1 unit" in shown
    assert f"{WORDED} (some-model)" in shown
    assert "correct one: " in shown
    assert WORDED in run("units", tmp_path, "--json")


def test_many_units_are_not_all_printed(tmp_path: Path) -> None:
    with old_rules(), tiermem.open(tmp_path, engine="local", distil="inline") as memory:
        for number in range(22):
            said = f"I have appointment number {number + 30} at the dentist on Tuesday."
            memory.add(said, speaker="Ann", said_at="2023-05-08T13:56", session=f"s{number}")
        memory.flush()
    shown = run("redate", tmp_path, "--dry-run")
    assert shown.count("before:") == 20
    assert "and 2 more: --json prints all" in shown

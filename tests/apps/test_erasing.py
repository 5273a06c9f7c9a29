"""`tiermem erase`, `withdraw`, `trail` and the options of trust, as a person and a program use them."""

import json
import re
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tiermem
from tiermem.apps.cli.app import app


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with one turn of a user and one of a web page; vectors by hash, so that nothing is loaded."""
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    path = tmp_path / "memory"
    with tiermem.open(path, engine="local", distil="inline") as memory:
        memory.add(
            {"speaker": "Ann", "text": "My dog Biscuit is allergic to chicken.", "id": "t1"}, session="s"
        )
        memory.add("The web says dogs thrive on 12 onions a day.", speaker="page", session="w", trust="web")
        memory.flush()
    return path


def run(*args: str, code: int = 0, given: str | None = None) -> str:
    result = CliRunner().invoke(app, args, input=given)
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


def test_the_commands_of_trust_withdrawal_and_erasure(store: Path) -> None:
    at = ("--store", str(store))
    found = json.loads(run("search", "dogs and onions", *at, "--json"))["results"]
    assert {one["trust"] for one in found} == {"user", "web"}
    found = json.loads(run("search", "dogs and onions", *at, "--json", "--min-trust", "user"))["results"]
    assert {one["trust"] for one in found} == {"user"}
    onions = next(
        one["id"] for one in json.loads(run("units", *at, "--json"))["units"] if "onions" in one["text"]
    )
    assert "would be withdrawn" in run("withdraw", onions, *at, "--dry-run")
    run("withdraw", onions, *at, code=2)
    assert "onions" in run("withdraw", onions, *at, "--reason", "not so")
    assert json.loads(run("trail", onions, *at, "--json"))["trail"][0]["because"] == "not so"
    assert "withdrawn: not so" in run("trail", onions, *at)
    refused = run("erase", *at, "--turn", "t1", "--session", "s", "--reason", "asked to", given="n\n", code=1)
    assert "Erase turn t1 of session s" in refused
    assert "Biscuit" in run("units", *at)
    tried = run("erase", *at, "--turn", "t1", "--session", "s", "--dry-run")
    assert re.search(r"would remain +the log keeps the names of sessions", tried)
    assert re.search(r"not looked for +names and numbers of fewer than four", tried)
    assert re.search(r"would erase +1 turn on 1 page\s+to go with it +\d records?, 1 unit,", tried)
    run("erase", *at, "--turn", "t1", "--session", "s", "--yes", code=2)
    receipt = json.loads(
        run("erase", *at, "--turn", "t1", "--session", "s", "--reason", "asked", "--yes", "--json")
    )
    assert receipt["leftovers"]["found"] == []
    assert "backups made before still hold what was erased" in receipt["not_reached"]
    assert "the log keeps the names of sessions" in receipt["remains"]
    assert len(receipt["erasure"]["units"]) == 1
    assert "Biscuit" not in run("units", *at)
    told = " ".join(run("erase", *at, "--whole-space", "--reason", "asked to", "--yes").split())
    assert "nothing found" in told
    assert "bundles, exports, copies and backups made before still hold what was erased" in told
    assert "damage" not in run("verify", *at)
    assert b"onions" not in b"".join(f.read_bytes() for f in store.rglob("*") if f.is_file())
    run("erase", *at, "--reason", "asked to", "--yes", code=1)


def test_an_index_that_could_not_be_looked_through_is_named(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tiermem.api import leftovers

    def busy(file: Path) -> bytes:
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr(leftovers, "_read_sqlite_file", busy)
    told = run("erase", "--store", str(store), "--whole-space", "--reason", "asked to", "--yes", code=3)
    assert "NOT LOOKED THROUGH" in told
    assert "index/entries.sqlite, which could not be looked through" in " ".join(told.split())


def test_the_commands_that_correct_withdraw_and_reinstate(store: Path) -> None:
    at = ("--store", str(store))
    biscuit = next(
        one["id"] for one in json.loads(run("units", *at, "--json"))["units"] if "Biscuit" in one["text"]
    )
    told = " ".join(run("correct", biscuit[:12], "Biscuit is allergic to beef.", *at).split())
    assert "remembered Biscuit is allergic to beef." in told
    assert "in place of Ann: My dog Biscuit is allergic to chicken." in told
    assert "beef" in run("ask", "What is Biscuit allergic to?", *at)
    newer = json.loads(run("remember", "Ann lives in Oslo.", "--speaker", "Ann", *at, "--json"))["unit"]["id"]
    page = json.loads(run("trail", biscuit, *at, "--json"))["trail"][0]["words_on_page"][0]["page_id"]
    shown = " ".join(run("page", page, *at).replace("│", " ").split())
    assert "taken back: 'My dog Biscuit is allergic to chicken.'" in shown
    assert "corrected to 'Biscuit is allergic to beef.'" in shown
    listed = json.loads(run("pages", *at, "--json"))["pages"]
    assert {one["id"] for one in listed if one["taken_back"]} == {page}
    assert "taken back" in run("pages", *at)
    assert json.loads(run("page", page, *at, "--json"))["taken_back"][0]["unit_id"] == biscuit
    assert newer in run("withdraw", newer[:12], *at, "--reason", "not so").replace("\n", "")
    assert "reinstated" in run("reinstate", newer[:12], *at, "--reason", "it is so")
    refused = run("reinstate", biscuit, *at, "--reason", "no", code=1)
    assert "supersedes it; withdraw that" in " ".join(refused.split())


def test_what_is_told_twice_is_proposed_merged_and_taken_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    monkeypatch.setenv("COLUMNS", "160")
    with tiermem.open(tmp_path, engine="local", distil="inline") as memory:
        for text in ("I love the old mill by the river.", "I really love the old mill by the river!"):
            memory.add(text, speaker="Ann")
            memory.flush()
    at = ("--store", str(tmp_path))
    assert "to be merged      2 units to 1" in run("consolidate", *at, "--dry-run")
    (merged,) = json.loads(run("consolidate", *at, "--json"))["merged"]
    assert len(json.loads(run("units", *at, "--json"))["units"]) == 1
    assert "merged" in [
        unit["state"] for unit in json.loads(run("trail", merged["of"][0], *at, "--json"))["trail"]
    ]
    run("withdraw", merged["unit"]["id"], *at, "--reason", "two visits")
    told = run("consolidate", *at)
    assert "merged      no units" in told
    assert "taken apart" in told


def test_a_turn_is_erased_by_the_address_that_search_and_page_print(store: Path) -> None:
    at = ("--store", str(store), "--space", "numbers")
    with tiermem.open(store, space="numbers", engine="local", distil="inline") as memory:
        memory.add("The first page of this space.", speaker="Ann", session="a")
        for words in ("The kettle is red.", "The boiler hums at night.", "The toaster is loud.", "Nothing."):
            memory.add(words, speaker="Ben", session="b", said_at="2023-05-08T13:56")
        memory.flush()
        page = memory.pages("b")[0].id
    shown = run("page", page, *at)
    (address,) = re.findall(r"(t1:\d+-\w{4}) .*boiler", shown)
    assert address in run("search", "boiler hums", "--kind", "turns", *at)
    assert address in run("page", address, *at)
    for number in ("2", "4"):
        assert "t1:17-9ae0" in run("erase", *at, "--turn", number, "--reason", "wrong", "--yes", code=1)
    tried = run("erase", *at, "--turn", address, "--dry-run")
    assert re.search(rf"{address} +Ben, 2023-05-08 13:56: The boiler hums at night\.", tried)
    assert "toaster" not in tried
    refused = run("erase", *at, "--turn", address, "--reason", "wrong", given="n\n", code=1)
    assert "The boiler hums at night." in refused
    run("erase", *at, "--turn", address, "--reason", "wrong", given="y\n")
    left = run("page", address, *at)
    assert "boiler" not in left
    assert all(words in left for words in ("kettle", "toaster", "Nothing"))
    for again in (["--dry-run"], ["--reason", "wrong", "--yes"]):
        assert "nothing: the words were erased before" in run("erase", *at, "--turn", address, *again)


def test_of_many_turns_that_would_go_the_first_are_shown(store: Path) -> None:
    at = ("--store", str(store), "--space", "many")
    with tiermem.open(store, space="many", engine="local", distil="inline") as memory:
        memory.add([{"role": "user", "content": f"Stone {number} is grey."} for number in range(23)])
    tried = run("erase", *at, "--session", "main", "--dry-run")
    assert "Stone 19 is grey." in tried
    assert "Stone 20 is grey." not in tried
    assert "and 3 more turns" in tried
    words = json.loads(run("erase", *at, "--session", "main", "--dry-run", "--json"))["words"]
    assert len(words) == 23

"""A little of the row on a database, and what it finds where something acknowledged is not so."""

import json
from pathlib import Path

import pytest

import tiermem
from tests.postgres import PostgresServer, execute
from tests.torture.databases import ROWS, check
from tests.torture.harness import Outcome, Share
from tiermem.embedding.hashed import HashEmbedder


@pytest.mark.usefixtures("postgres")
def test_a_little_of_the_row_breaks_no_promise() -> None:
    (row,) = ROWS
    outcome = row.work(Share.of("postgres", 7, 0, 2))
    assert outcome.count == 2
    assert outcome.seen["acknowledged turns"] > 0
    assert not outcome.violations


def test_it_finds_turns_that_are_lost_doubled_or_elsewhere_and_words_that_stay(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url = postgres.create_database()
    said = {
        "one": ["one a: kept", "one b: twice", "one b: twice"],
        "two": ["one c: elsewhere", "two d: erased"],
    }
    for space, texts in said.items():
        with tiermem.open(url, space=space, engine="local", embedder=HashEmbedder()) as memory:
            for text in texts:
                memory.add(text, speaker="Ann")
    notes = {
        "stored-0": [("one", "one a"), ("one", "one b"), ("one", "one lost"), ("two", "two d")],
        "erasing-0": [("two", "two d")],
        "erased-0": [("two", "two d")],
    }
    for name, lines in notes.items():
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    outcome = Outcome()
    check(url, tmp_path, outcome)
    assert outcome.violations == {
        "an acknowledged turn is lost": 1,
        "a turn is there twice": 1,
        "a turn in another space": 1,
        "an erased turn is there": 1,
        "erased words are in the log": 1,
    }
    execute(url, "UPDATE tiermem.lines SET raw = set_byte(raw, 5, 120) WHERE space = 'one' AND q = 2")
    check(url, tmp_path, outcome)
    assert outcome.violations["a damaged log"] == 1


@pytest.mark.parametrize(
    ("index", "damage"),
    [
        ("pgvector", "DELETE FROM tiermem_index.points WHERE collection = 'turns'"),
        ("embedded", "UPDATE tiermem_rows.spaces SET rows = 0 WHERE space LIKE 'turns %'"),
    ],
)
def test_it_finds_an_index_with_a_gap(
    postgres: PostgresServer, tmp_path: Path, index: str, damage: str
) -> None:
    url = postgres.create_database()
    with tiermem.open(url, space="one", engine="local", embedder=HashEmbedder(), index=index) as memory:
        memory.add("one a: kept", speaker="Ann")
    outcome = Outcome()
    check(url, tmp_path, outcome, index=index)
    assert not outcome.violations
    execute(url, damage)
    if index == "embedded":
        execute(url, "DELETE FROM tiermem_rows.segments WHERE space LIKE 'turns %'")
    check(url, tmp_path, outcome, index=index)
    assert outcome.violations == {"an index that lacks turns of its log": 1}

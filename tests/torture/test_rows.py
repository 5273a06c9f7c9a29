"""A little of every row, and a runner that tells the truth when a harness finds something or dies."""

import importlib
import io
import json
import os
from pathlib import Path

import pytest
from rich.console import Console

from pagestore import History
from tests.torture import __main__ as command
from tests.torture import private_words
from tests.torture.harness import Missing, Outcome, Row, Share
from tests.torture.report import Kept, page, table
from tests.torture.rows import ROWS
from tests.torture.running import measured, run
from tiermem.index.rows import Rows
from tiermem.ledger import Ledger

LITTLE = {
    "any-order": 40,
    "router-replies": 500,
    "dialogue-files": 1_000,
    "typed-replies": 700,
    "false-facts": 1_000,
    "forged-lines": 2_000,
    "erased-turns": 40,
    "receipts": 20,
    "forgers": 20,
    "kill-9": 12,
    "kill-index": 3,
    "lost-index": 3,
    "kill": 60,
    "isolation": 120,
    "agents": 120,
    "runaway": 8,
    "failing-model": 40,
    "sizes": 75,
    "system-calls": 20,
    "judged-lives": 1,
    "threads": 2,
    "never-forget": 5,
    "hooks": 4,
}
"""Rows that no other test goes through, and how many cases of them."""


def row_named(name: str) -> Row:
    return next(row for row in ROWS if row.name == name)


@pytest.mark.parametrize("name", LITTLE)
def test_a_little_of_a_row_breaks_no_promise(name: str) -> None:
    row = row_named(name)
    outcome = row.work(Share.of(name, 7, 0, LITTLE[name]))
    assert outcome.count >= LITTLE[name]
    assert not outcome.violations


def test_lost_indexes_find_a_mark_that_is_believed_for_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    async def believed(self: Ledger, past: History) -> bool:
        return past.seq <= (await self.changes(past.seq)).head

    monkeypatch.setattr(Ledger, "begins_with", believed)
    outcome = row_named("lost-index").work(Share.of("lost-index", 7, 4, 2))
    assert outcome.seen["index of another past"] == outcome.seen["log of before"] == 1
    assert outcome.violations["other results after reindexing"]


def test_the_row_on_private_words_breaks_no_promise_and_sees_one_that_counts_in_a_score(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = row_named("private-words")
    monkeypatch.setattr(private_words, "DECOYS", 39)
    outcome = row.work(Share.of("private-words", 7, 0, 8))
    assert (outcome.count, outcome.seen["guesses"]) == (8, 320)
    assert not outcome.violations
    monkeypatch.setattr(Rows, "_corpus", lambda rows, _: rows._is_live.values)
    outcome = row.work(Share.of("private-words", 7, 0, 8))
    assert "scores tell a private number" in outcome.violations


def test_a_share_is_the_same_each_time_and_others_differ() -> None:
    row = row_named("false-facts")
    shares = list(row.shares(run=1))
    assert shares == list(row.shares(run=1))
    assert sum(share.count for share in shares) == row.count
    assert len({share.seed for share in (*shares, *row.shares(run=2))}) == 2 * len(shares)
    assert row.work(Share.of(row.name, 1, 0, 60)) == row.work(Share.of(row.name, 1, 0, 60))


def test_rows_have_names_of_their_own_and_say_what_they_do() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert all(row.failure and row.done and row.count >= row.share for row in ROWS)


def fails(share: Share) -> Outcome:
    raise ValueError("no such thing")


def dies(share: Share) -> Outcome:
    os._exit(3)


def lacks(share: Share) -> Outcome:
    raise Missing("no disk to break")


def counts(share: Share) -> Outcome:
    return Outcome(count=share.count)


def row_of(work: object) -> Row:
    return Row(name="x", failure="f", done="d", unit="cases", count=10, share=4, work=work)  # type: ignore[arg-type]  # one of the above


def test_what_escapes_a_harness_is_a_violation(capsys: pytest.CaptureFixture[str]) -> None:
    outcome, _, missing = measured(row_of(fails), Share.of("x", 1, 0, 4))
    assert list(outcome.violations) == ["ValueError in fails: no such thing (share 0)"]
    assert not missing


def test_a_row_is_run_in_full_and_a_process_that_dies_is_not_passed_over() -> None:
    sound = run(row_of(counts), seed=1, scale=1.0, processes=2)
    assert (sound.outcome.count, sound.held, sound.cut_short) == (10, True, False)
    died = run(row_of(dies), seed=1, scale=1.0, processes=1)
    assert died.outcome.violations
    assert not died.held
    lacking = run(row_of(lacks), seed=1, scale=1.0, processes=1)
    assert (lacking.missing, lacking.held) == ("no disk to break", False)


@pytest.mark.parametrize(("work", "code"), [(counts, 0), (lacks, 1), (dies, 1)])
def test_the_command_fails_where_a_row_was_not_run(
    work: object, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "ROWS", (row_of(counts), row_of(work)))
    monkeypatch.setattr("sys.argv", ["torture", "--processes", "1"])
    assert command.main() == code
    assert ("no disk to break" in capsys.readouterr().out) == (work is lacks)


def test_results_are_kept_row_by_row_and_shown_as_they_are(tmp_path: Path) -> None:
    row = row_named("any-order")
    result = run(row, seed=3, scale=0.001, processes=1)
    result.outcome.violations["made up | for a test"] = 2
    kept = Kept.load(tmp_path / "results.json")
    kept.put(result, scale=0.001)
    (entry,) = json.loads((tmp_path / "results.json").read_text())
    assert (entry["name"], entry["count"], entry["aim"], entry["seed"]) == ("any-order", 1, row.count, 3)
    written = page(Kept.load(tmp_path / "results.json"))
    assert "1 permutations | 1,000 | 2 |" in written
    assert "- `any-order`: made up | for a test (2 times)" in written
    shown = io.StringIO()
    Console(width=200, file=shown).print(table([result]))
    assert "any-order" in shown.getvalue()


@pytest.mark.unexpected
@pytest.mark.parametrize(
    "step", ["tiermem.writing.distil.omissions_and_count", "tiermem.reading.search._found_turn"]
)
def test_the_row_on_sizes_sees_a_step_that_some_size_breaks(
    monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    module, _, name = step.rpartition(".")
    home = importlib.import_module(module)
    real = getattr(home, name)

    def breaks(*given: object) -> object:
        if "mountains for a while. We talked" in repr(given):
            raise ValueError("too large")
        return real(*given)

    monkeypatch.setattr(home, name, breaks)
    assert row_named("sizes").work(Share.of("sizes", 7, 40, 5)).violations


def test_the_row_on_sizes_sees_what_erasing_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    erase = importlib.import_module("tiermem.writing.erase")
    real = importlib.import_module("tiermem.writing.closure").closure
    monkeypatch.setattr(erase, "closure", lambda held, gone: real((), gone))
    assert row_named("sizes").work(Share.of("sizes", 7, 40, 5)).violations


@pytest.mark.usefixtures("shared")
def test_lines_without_a_model_are_words_that_were_said() -> None:
    row = row_named("said-lines")
    outcome = row.work(Share.of(row.name, 7, 160, 40))
    assert outcome.count == 40
    assert not outcome.violations

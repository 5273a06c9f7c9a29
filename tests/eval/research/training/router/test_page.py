"""The page of a learned router: what it says of itself, and verdicts that chance cannot give."""

import json
from dataclasses import replace
from pathlib import Path

import anyio
from typer.testing import CliRunner

from eval.research.cli import app
from eval.research.reproduction import page
from eval.research.training.router.compare import SUPERVISED, compare, routed, seen
from eval.research.training.router.page import BY_REWARD, Compared, found
from eval.research.training.router.policy import read_policy
from eval.research.training.router.rows import Row, write_rows
from tests.eval.research.training.router.test_rows import some


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


def known() -> list[Row]:
    return [one for one in some(6) if one.c_s is not None]


def measured(rows: list[Row]) -> Compared:
    of = anyio.run(seen, rows)
    return Compared(rows=of.rows, ways=compare(of, seeds=(0,)))


def test_the_page_says_what_it_is_of_and_how_to_make_it_again() -> None:
    text = page(
        found([measured(known())], names=["router.jsonl"], signals=25), machine="a machine", commit="1a2b3c"
    )
    for said in (
        "The answers are those of the engine “rules”",
        "no policy learned from it is given away",
        "were not run",
        "Judge: words.",
        "python -m eval qa tiny --data FILE --systems s,r --questions 6 --engine model --keep --out run",
        "python -m eval.research router-data run --summary s --raw r --out router.jsonl",
        "30 questions that have an answer: from what was recalled 12 are right",
        "| R, wrong where summaries are right | -2.0 |",
    ):
        assert said in text


def test_what_reward_adds_agrees_with_the_paper_only_beyond_chance() -> None:
    one = measured(known())
    of = anyio.run(seen, known())
    labels, oracle = routed(of, frozenset()), one.ways["oracle"]
    better = replace(one, ways={**one.ways, SUPERVISED: [labels], BY_REWARD: oracle})
    same = replace(one, ways={**one.ways, SUPERVISED: [labels], BY_REWARD: [labels]})
    for compared, verdict in ((better, "agrees"), (same, "differs")):
        claims = found([compared], names=["router.jsonl"], signals=25).claims
        assert [claim.verdict for claim in claims[:2]] == [verdict] * 2
    assert claims[2].verdict == "does not hold"


def test_the_command_measures_and_writes_a_policy_and_a_page(tmp_path: Path) -> None:
    file, policy, to = tmp_path / "router.jsonl", tmp_path / "policy.json", tmp_path / "router.md"
    write_rows(known(), file, hard=1)
    code, said = invoke("router-train", str(file), "--policy", str(policy), "--page", str(to), "--json")
    assert code == 0, said
    figures = json.loads(said)["numbers"]["s or r"]
    assert figures["oracle"][0]["recall"] == 1.0
    assert len(figures[BY_REWARD]) == 3
    assert read_policy(policy).embedder == "hash"
    assert to.read_text().startswith("# A router learned from outcomes")


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    code, said = invoke("router-data", str(tmp_path), "--out", str(tmp_path / "router.jsonl"))
    assert code == 1
    assert "no run in" in said

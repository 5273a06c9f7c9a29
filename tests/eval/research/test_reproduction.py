"""A page tells each claim with its verdict, names command, data and machine, and hides nothing unmeasured."""

from pathlib import Path

import pytest

from eval.report.values import Table
from eval.research.reproduction import Claim, Reproduction, compared, page, present, wilson

FOUND = Reproduction(
    title="A paper",
    opening="What it is.",
    command="python -m eval.research ear",
    data={"log.txt": "0123456789abcdef" * 4},
    tables=(Table(title="Figures", columns=("what", "value"), rows=(("one", ".5"),), notes=("A note.",)),),
    claims=(
        compared("figure 1", 0.5, 0.51, within=0.02),
        compared("figure 2", 0.5, 0.6, within=0.02, found="another sample"),
        Claim(says="everything", found="not so", verdict="does not hold"),
        Claim(says="accuracy", found="needs a model", verdict="not measured"),
    ),
    numbers={"one": 0.5},
)


def test_a_page_reads_from_what_it_is_to_what_was_not_measured() -> None:
    written = page(FOUND, machine="2 cores", commit="1a2b3c")
    assert written.startswith("# A paper\n\nWhat it is.\n\n    python -m eval.research ear\n")
    assert (
        "Data (SHA-256 of the content): log.txt (01234567…abcdef). Code: 1a2b3c. Machine: 2 cores." in written
    )
    assert "## Figures\n\n| what | value |\n|---|---|\n| one | .5 |\n\nA note.\n" in written
    headings = [line for line in written.splitlines() if line.startswith("## ")]
    assert headings == [
        "## Figures",
        "## What agrees",
        "## What comes out otherwise",
        "## What does not hold",
        "## What was not measured",
    ]
    assert "| figure 2: .500 | .600; another sample |" in written


def test_headings_without_a_claim_are_left_out() -> None:
    nothing = Reproduction(title="A paper", opening="", command="", data={}, tables=(), claims=(), numbers={})
    assert "##" not in page(nothing, machine="2 cores", commit="1a2b3c")


def test_figures_agree_within_what_is_allowed_and_the_edge_counts() -> None:
    assert compared("x", 0.5, 0.52, within=0.02).verdict == "agrees"
    assert compared("x", 0.5, 0.521, within=0.02).verdict == "differs"


def test_an_interval_holds_its_share_and_stays_within_bounds() -> None:
    for hits, of in ((0, 10), (10, 10), (3, 7)):
        low, high = wilson(hits, of)
        assert -1e-9 <= low <= hits / of <= high <= 1 + 1e-9


def test_what_was_found_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    present(FOUND, page_to=tmp_path / "page.md", as_json=True)
    assert '"one": 0.5' in capsys.readouterr().out
    assert (tmp_path / "page.md").read_text().startswith("# A paper")
    present(FOUND, page_to=None, as_json=False)
    assert "does not hold" in capsys.readouterr().out

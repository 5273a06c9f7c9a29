"""Tables with figures are those of their records, and what differs is named with page and line."""

import json
from pathlib import Path

import anyio
import pytest

from eval.folder import RunFolder
from eval.report import report
from eval.runner import retrieval
from tests.eval import tiny
from tests.figures import PAGES, Measured, Published, check_page, copy_figures, read_records, render_record

RUN = {
    "note": "",
    "date": "2026-11-29",
    "columns": ["", "turns"],
    "rows": [["rank-bm25", ".436"], ["TierMem", ".763"]],
    "command": "make eval",
    "data": {"talk.json": "e4ac194c046d"},
    "commit": "1a2b3c4d5e6f",
    "machine": "2 cores",
    "report_rows": ["bm25", "tiermem"],
    "report_columns": [["Turns of evidence (", "mean@5"]],
}
FOREIGN = {
    "note": "By their authors.",
    "date": "2026-11-29",
    "columns": ["", "right"],
    "rows": [["another", ".9"]],
}
TABLE = """
|  | turns |
| --- | ---: |
| rank-bm25 | .436 |
| TierMem | .763 |

`make eval` at 1a2b3c4d, 2026-11-29, 2 cores. Data: `talk.json` (SHA-256 e4ac194c…).

"""


def new_page(folder: Path, text: str) -> Path:
    (folder / "figures.json").write_text(json.dumps({"run": RUN, "foreign": FOREIGN}))
    page = folder / "page.md"
    page.write_text(text)
    return page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_table_with_figures_is_that_of_its_record(page: Path) -> None:
    assert check_page(page) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            f"# A page\n<!-- figures: figures.json#run -->\n{TABLE.replace('.763', '.764')}<!-- end -->\n",
            "page.md:7: not as in record figures.json#run",
        ),
        (
            f"<!-- figures: figures.json#run -->\n{TABLE}A word.\n<!-- end -->\n",
            "page.md:10: not as in record figures.json#run",
        ),
        ("\n<!-- figures: figures.json#walk -->\n<!-- end -->\n", "page.md:2: record figures.json#walk is"),
        ("<!-- figures: other.json#run -->\n<!-- end -->\n", "page.md:1: record other.json#run is missing"),
        ("<!-- figures: figures.json#run -->\n", "page.md:1: <!-- end --> is missing"),
        (
            "| | right |\n|---|---|\n| TierMem | .894 |\n",
            "page.md:3: a table with a figure is not of a record",
        ),
        ("  | **1,050** |\n", "page.md:1: a table with a figure is not of a record"),
        ("| some −3 % |\n", "page.md:1: a table with a figure is not of a record"),
    ],
)
def test_what_is_wrong_is_named_with_page_and_line(tmp_path: Path, text: str, problem: str) -> None:
    (found,) = check_page(new_page(tmp_path, text))
    assert found.startswith(problem)


def test_names_code_and_addresses_are_no_figures(tmp_path: Path) -> None:
    text = "In 3 of 4.\n\n| SHA-256 | FTS5 | `f(limit=5)` | [decision](decisions/0009-turns.md) |\n"
    assert check_page(new_page(tmp_path, text)) == []


def test_tables_are_written_between_marks_and_the_rest_stays(tmp_path: Path) -> None:
    marks = (
        "<!-- figures: figures.json#run -->\nold\n<!-- end -->\n\n<!-- figures: figures.json#foreign -->\n"
    )
    page = new_page(tmp_path, f"# By hand\n{marks}<!-- end -->\nLast.\n")
    assert check_page(page, write=True) == []
    foreign = "\n|  | right |\n| --- | ---: |\n| another | .9 |\n\nBy their authors.\n\n"
    filled = marks.replace("old\n", TABLE)
    assert page.read_text() == f"# By hand\n{filled}{foreign}<!-- end -->\nLast.\n"
    assert check_page(page) == []


@pytest.mark.parametrize(
    "change", [{"commit": None}, {"rows": [["one", ".1", ".2"]]}, {"note": 1}, {"colour": "red"}]
)
def test_a_record_that_lacks_something_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    file = tmp_path / "figures.json"
    file.write_text(json.dumps({"run": RUN | change}))
    with pytest.raises(ValueError, match="run"):
        read_records(file)


def finished_run(folder: Path, systems: list[str]) -> RunFolder:
    run = tiny.new_folder(folder, "retrieval", systems)
    anyio.run(retrieval, tiny.plan(run, systems))
    return RunFolder.open(folder)


def test_a_record_receives_the_figures_of_a_finished_run(tmp_path: Path) -> None:
    record = Measured(**RUN)  # type: ignore[arg-type]
    run = finished_run(tmp_path, ["bm25", "tiermem"])
    copied = copy_figures(record, run)
    (table,) = [table for table in report(run).tables if table.title.startswith("Turns of evidence (")]
    figures = {row[0]: row[table.columns.index("mean@5")] for row in table.rows}
    assert copied.rows == (("rank-bm25", figures["bm25"]), ("TierMem", figures["tiermem"]))
    assert copied.command == "python -m eval retrieval tiny --data talk.json --systems bm25,tiermem"
    assert copied.data == {"talk.json": run.manifest.checksum}
    assert (copied.commit, copied.machine) == (run.manifest.commit, run.manifest.machine)
    assert ".763" not in render_record(copied)


def test_a_run_that_is_not_finished_and_a_record_of_none_are_refused(tmp_path: Path) -> None:
    run = finished_run(tmp_path, ["bm25"])
    with pytest.raises(ValueError, match="only a measured record"):
        copy_figures(Published(**FOREIGN), run)  # type: ignore[arg-type]
    results = tmp_path / "results.jsonl"
    lines = results.read_text().splitlines(keepends=True)
    results.write_text("".join(lines[:-1]))
    with pytest.raises(ValueError, match="is not finished"):
        copy_figures(Measured(**RUN), RunFolder.open(tmp_path))  # type: ignore[arg-type]

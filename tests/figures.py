"""Check that tables with figures in pages are those of their records, and write them.

A record is a key of a JSON file: the table, and what was run or published. A page has the table between
`<!-- figures: FILE#KEY -->` and `<!-- end -->`; FILE is relative to the page.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Final

from pydantic import ConfigDict, TypeAdapter

from eval.folder import RunFolder
from eval.records import Retrieved
from eval.report import report
from eval.report.render import markdown_table
from eval.report.values import Table

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = tuple(ROOT / name for name in ("README.md", "docs/measured.md", "docs/compare.md"))
RECORDS: Final = ROOT / "docs/results/figures.json"
_MARK: Final = re.compile(r"<!-- figures: (\S+)#(\S+) -->")
_END: Final = "<!-- end -->"
_FIGURE: Final = re.compile(r"(?<![\w.-])[+−-]?\.?\d")
"""A number that is no part of a name."""
_NO_FIGURE: Final = re.compile(r"`[^`]*`|\]\([^)]*\)")
"""Code, and addresses of links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A table of figures that others published, and the day on which they were read."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    note: str
    date: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured(Published):
    """A table of figures of one run; `data` is the SHA-256 of each file by its name."""

    command: str
    data: Mapping[str, str]
    commit: str
    machine: str
    report_rows: tuple[str, ...] = ()
    """The first cell of each row in the report of the run, for `copy_figures`."""
    report_columns: tuple[tuple[str, str], ...] = ()
    """Of each column but the first: how the title of its table in the report begins, its heading there."""


Record = Measured | Published
_RECORDS: Final = TypeAdapter(dict[str, Record])


def read_records(file: Path) -> dict[str, Record]:
    """Read the records of a file by their keys."""
    records = _RECORDS.validate_json(file.read_bytes())
    for key, record in records.items():
        if any(len(row) != len(record.columns) for row in record.rows):
            raise ValueError(f"{file.name}#{key}: a row has not as many cells as there are columns")
    return records


def render_record(record: Record) -> str:
    """Render the table of a record, with its origin below."""
    note = record.note
    if isinstance(record, Measured):
        data = ", ".join(f"`{name}` (SHA-256 {checksum[:8]}…)" for name, checksum in record.data.items())
        run = f"`{record.command}` at {record.commit[:8]}, {record.date}, {record.machine}"
        note = f"{run}. {data and f'Data: {data}. '}{note}".strip()
    return markdown_table(Table(title="", columns=record.columns, rows=record.rows, notes=(note,)))


def check_page(page: Path, *, write: bool = False) -> list[str]:
    """List what is wrong with the figures of a page, by line; with `write` the tables are written first."""
    lines, problems, at = page.read_text(encoding="utf-8").splitlines(), [], 0
    while at < len(lines):
        line, where = lines[at], f"{page.name}:{at + 1}"
        at += 1
        mark = _MARK.fullmatch(line)
        if mark is None:
            if line.lstrip().startswith("|") and _FIGURE.search(_NO_FIGURE.sub("", line)):
                problems.append(f"{where}: a table with a figure is not of a record: {line}")
            continue
        file, key = page.parent / mark[1], mark[2]
        record = read_records(file).get(key) if file.is_file() else None
        if record is None or _END not in lines[at:]:
            missing = _END if record else f"record {mark[1]}#{key}"
            problems.append(f"{where}: {missing} is missing")
            continue
        end, table = lines.index(_END, at), ["", *render_record(record).splitlines(), ""]
        if write:
            lines[at:end] = table
        for number, pair in enumerate(zip_longest(lines[at : lines.index(_END, at)], table), at + 1):
            if pair[0] != pair[1]:
                problems.append(f"{page.name}:{number}: not as in record {mark[1]}#{key}; --write repairs it")
        at = lines.index(_END, at) + 1
    if write:
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return problems


def copy_figures(record: Record, run: RunFolder) -> Measured:
    """Replace the figures of a record, and what it says of their run, by those of a finished run."""
    manifest = run.manifest
    if not isinstance(record, Measured) or (manifest.kind, manifest.engine) != ("retrieval", "local"):
        raise ValueError("only a measured record of `eval retrieval` without a model can be written")
    if manifest.sample.keys() - {"questions", "pile"}:
        raise ValueError(f"of the sample {dict(manifest.sample)} the options are not known")
    if sum(isinstance(one, Retrieved) for one in run.records()) < manifest.questions * len(manifest.systems):
        raise ValueError(f"{run.path} is not finished")
    (data,) = record.data
    sample = "".join(f" --{name} {value}" for name, value in manifest.sample.items())
    systems = ",".join(manifest.systems)
    tables = report(run).tables
    columns = [
        {row[0]: row[table.columns.index(heading)] for row in table.rows}
        for title, heading in record.report_columns
        for table in tables
        if table.title.startswith(title)
    ]
    rows = zip(record.rows, record.report_rows, strict=True)
    return replace(
        record,
        rows=tuple((row[0], *(cells[name] for cells in columns)) for row, name in rows),
        command=f"python -m eval retrieval {manifest.dataset} --data {data} --systems {systems}{sample}",
        data={data: manifest.checksum},
        commit=manifest.commit,
        machine=manifest.machine,
        date=manifest.started_at[:10],
    )


def main(arguments: Sequence[str]) -> int:
    """Check the pages; 1 if something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.figures", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the tables into the pages first")
    parser.add_argument("--run", type=Path, help="folder of a finished run, whose figures the records get")
    parser.add_argument("keys", nargs="*", help=f"records of {RECORDS.name} that get them")
    options = parser.parse_args(arguments)
    if options.run is not None:
        run, records = RunFolder.open(options.run), read_records(RECORDS)
        records |= {key: copy_figures(records[key], run) for key in options.keys}
        values = {key: asdict(record) for key, record in records.items()}
        RECORDS.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    problems = [problem for page in PAGES for problem in check_page(page, write=options.write)]
    print("\n".join(problems) or "every table with figures is that of its record")  # noqa: T201
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

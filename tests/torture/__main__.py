"""Run the failure table: `python -m tests.torture [--only NAME …] [--seed N] [--scale X] [--json FILE]`.

Ends with exit code 1 when a promise was broken or a row was not run, for which it says why. With
`--json FILE` what was measured is kept there row by row, and a row that is run again replaces what the file
said of it; `--markdown FILE` writes all of that file's rows as a page.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from tests.torture.report import Kept, line, page, table
from tests.torture.rows import ROWS
from tests.torture.running import run

_WIDE = 160
"""Columns where there is no terminal that knows its width."""


def main() -> int:
    """Run what the command line asks for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="this row; may be repeated"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="share of each row's count to go through")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--json", type=Path, default=None, metavar="FILE", help="keep what was measured there"
    )
    parser.add_argument("--markdown", type=Path, default=None, metavar="FILE", help="write the page there")
    parser.add_argument("--list", action="store_true", help="name the rows and end")
    given = parser.parse_args()
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE
    unknown = set(given.only) - {row.name for row in ROWS}
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    rows = [row for row in ROWS if not given.only or row.name in given.only]
    if given.list:
        for row in ROWS:
            console.print(f"{row.name:16} {row.count:>9,} {row.unit}: {row.done}")
        return 0
    kept = Kept.load(given.json)
    results = []
    for row in rows:
        results.append(run(row, seed=given.seed, scale=given.scale, processes=given.processes))
        kept.put(results[-1], scale=given.scale)
        console.print(line(results[-1]))
    console.print(table(results))
    if given.markdown is not None:
        given.markdown.write_text(page(kept), encoding="utf-8")
    return int(not all(result.held for result in results))


if __name__ == "__main__":
    sys.exit(main())

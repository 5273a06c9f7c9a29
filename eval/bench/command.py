"""`python -m eval bench`: time, memory and disk by the number of turns."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from eval.options import AsJson


def bench_command(
    *,
    sizes: Annotated[str, typer.Option(help="Numbers of turns.")] = "100,1000,10000",
    engines: Annotated[
        str, typer.Option(help="Which; mem0 and tantivy need the extra bench.")
    ] = "tiermem,bm25+dense,fts5,tantivy,mem0",
    page: Annotated[
        Path | None, typer.Option(help="Write the table to this file too, and pictures next to it.")
    ] = None,
    postgres: Annotated[
        str | None,
        typer.Option(help="Measure a store on disk and in this database (URL) by wall clock instead."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure add, open, search, context and erase beside rank-bm25 with vectors, FTS5, tantivy and Mem0."""
    from eval.bench.measure import Measured, measure
    from eval.bench.page import render_page, write_page

    if page is not None:
        page.parent.mkdir(parents=True, exist_ok=True)
    if postgres is not None:
        from eval.bench.scale import measure_stores, measure_writers, render_scale

        stores = list(measure_stores(postgres, [int(size) for size in sizes.split(",")]))
        writers = list(measure_writers(postgres))
        table = render_scale(stores, writers)
        values = {"stores": list(map(asdict, stores)), "writers": list(map(asdict, writers))}
        print(json.dumps(values, indent=2) if as_json else table)  # noqa: T201
        if page is not None:
            page.write_text(table, encoding="utf-8")
        return
    measured: list[Measured] = []
    for engine in engines.split(","):
        for size in map(int, sizes.split(",")):
            print(f"{engine}: {size:,} turns", file=sys.stderr)  # noqa: T201
            measured.append(measure(engine, size))
    text = json.dumps([asdict(one) for one in measured], indent=2) if as_json else render_page(measured)
    print(text)  # noqa: T201
    if page is not None:
        write_page(page, measured)

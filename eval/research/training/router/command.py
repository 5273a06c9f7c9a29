"""`python -m eval.research router-data` and `router-train`: data of a router, and a small one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eval.options import AsJson, Cache, PageTo, Threads

if TYPE_CHECKING:
    from eval.folder import RunFolder
    from eval.research.training.router.outcomes import Pair
    from eval.research.training.router.rows import Row, Shares


def router_data_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a qa run made with --keep.")],
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="A line a question; what ms-swift reads goes beside it (-sft-train, -grpo-train).",
        ),
    ],
    summary: Annotated[
        str, typer.Option("--summary", help="The system that answers from what was recalled.")
    ] = "tiermem:summary",
    raw: Annotated[
        str, typer.Option("--raw", help="The system that reads the raw pages, of the same memory.")
    ] = "tiermem:raw",
    dev: Annotated[
        float, typer.Option("--dev", min=0, max=1, help="Share of the conversations looked at in learning.")
    ] = 0.15,
    test: Annotated[
        float, typer.Option("--test", min=0, max=1, help="Share of the conversations measured on.")
    ] = 0.3,
    hard: Annotated[
        int, typer.Option("--hard", min=1, help="How often a hard question is in the data of GRPO.")
    ] = 2,
    threads: Threads = 1,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """From a kept run, judged both ways, to labels, splits and chats that a router is trained on."""
    from functools import partial

    import anyio

    from eval.folder import RunFolder
    from eval.research.training.router.outcomes import Pair
    from eval.research.training.router.rows import PARTS, Shares, counted, write_rows

    shares, pair = Shares(dev=dev, test=test), Pair(summary=summary, raw=raw)
    folder = RunFolder.open(run)
    rows = anyio.run(partial(_outcomes, folder, pair=pair, shares=shares, threads=threads, cache=cache))
    written = write_rows(rows, out, hard=hard)
    labels = {part: dict(counted(row for row in rows if row.part == part)) for part in PARTS}
    if as_json:
        from tiermem.apps.present.as_json import print_json

        print_json({"judge": folder.manifest.judge, "labels": labels, "written": written})
        return
    typer.echo(f"judge: {folder.manifest.judge}")
    for part, counts in labels.items():
        cases = sorted({row.case for row in rows if row.part == part})
        typer.echo(f"{part}: {', '.join(f'{counts[one]} {one}' for one in counts) or 'none'} "
                   f"({', '.join(cases)})")  # fmt: skip
    for name, lines in written.items():
        typer.echo(f"written: {out.with_name(name)} ({lines} lines)")


async def _outcomes(
    folder: RunFolder, *, pair: Pair, shares: Shares, threads: int, cache: Path | None
) -> list[Row]:
    from eval.arrange import kept_setup
    from eval.progress import watching
    from eval.research.training.router.outcomes import outcomes

    with kept_setup(folder, threads, cache) as setup, watching() as watcher:
        return await outcomes(folder, setup, watcher, pair=pair, shares=shares)


def router_train_command(
    data: Annotated[list[Path], typer.Argument(metavar="DATA…", help="Files that router-data wrote.")],
    *,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="Write a policy learned from all of the first file"),
    ] = None,
    page: PageTo = None,
    as_json: AsJson = False,
) -> None:
    """Train a small policy by labels and by reward, and measure it on conversations it did not learn from."""
    from functools import partial

    import anyio

    from eval.research.reproduction import present
    from eval.research.training.router.page import found
    from eval.research.training.router.policy import write_policy
    from eval.research.training.router.rows import read_rows
    from eval.research.training.router.signals import SIGNALS
    from eval.research.training.router.small import compared, learned_policy

    files = [read_rows(file) for file in data]
    if policy is not None:
        learned = anyio.run(partial(learned_policy, files[0]))
        write_policy(learned, policy)
        _say_what_it_saw(learned.trained_on)
    of = anyio.run(partial(compared, files))
    shown = found(of, names=[file.name for file in data], signals=len(SIGNALS))
    present(shown, page_to=page, as_json=as_json)


def _say_what_it_saw(trained_on: tuple[str, ...]) -> None:
    """On stderr, where the data is there to measure with."""
    from eval.research.training.data.sources import SOURCES, to_measure_with

    withheld = to_measure_with(name for name in trained_on if name in SOURCES)
    if withheld:
        typer.echo(f"learned from {', '.join(withheld)}: the policy may not be given away", err=True)

"""`python -m eval.research ear`: HTM-EAR's tables again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eval.options import AsJson, Cache, PageTo, Threads

if TYPE_CHECKING:
    from eval.research.ear.page import LogRanks, Ranks
    from eval.research.reproduction import Reproduction


def ear_command(
    *,
    ranked: Annotated[
        int,
        typer.Option(
            "--ranked",
            min=0,
            max=5,
            help="Of how many of the five seeds all 15,000 facts are embedded and ranked, a minute or two "
            "each; 0 needs no weights.",
        ),
    ] = 0,
    bgl: Annotated[
        Path | None, typer.Option("--bgl", help="BGL_2k.log of loghub: ranks of its lines too.")
    ] = None,
    threads: Threads = 1,
    cache: Cache = None,
    page: PageTo = None,
    as_json: AsJson = False,
) -> None:
    """HTM-EAR's bounded tiers: what is deleted, exactly; what is found, with MiniLM; and BGL's logs."""
    from functools import partial

    import anyio

    from eval.research.reproduction import present

    found = anyio.run(partial(_found, ranked, bgl, threads=threads, cache=cache))
    present(found, page_to=page, as_json=as_json)


async def _found(ranked: int, bgl: Path | None, *, threads: int, cache: Path | None) -> Reproduction:
    from eval.research.ear.facts import SCENARIOS, SEEDS
    from eval.research.ear.logs import read_log
    from eval.research.ear.page import found
    from eval.research.ear.survival import survival
    from eval.research.ear.tiers import RANKS

    log = None if bgl is None else read_log(bgl)
    survivals = {
        (name, policy): [survival(scenario, seed, policy) for seed in SEEDS]
        for name, scenario in SCENARIOS.items()
        for policy in RANKS
    }
    ranks: Ranks = {}
    log_ranks: LogRanks = {}
    if ranked or log is not None:
        from eval.arrange import opened_embedder
        from eval.research.ear.ranks import ranks_of_log, ranks_of_seeds

        with opened_embedder("int8", threads, cache) as embedder:
            ranks = await ranks_of_seeds(SEEDS[:ranked], embedder) if ranked else {}
            log_ranks = {} if log is None else await ranks_of_log(log, embedder)
    asked = f" --ranked {ranked}" * bool(ranked) + ("" if bgl is None else f" --bgl {bgl.name}")
    return found(
        survivals,
        command=f"python -m eval.research ear{asked}",
        ranks=ranks,
        seeds=SEEDS[:ranked],
        log=log,
        log_ranks=log_ranks,
    )

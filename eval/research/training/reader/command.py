"""`python -m eval.research train`: a small reader from the installed weights, and what it is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from eval.options import AsJson, Bits, Cache, PageTo

if TYPE_CHECKING:
    from eval.research.training.reader.loop import Recipe


def train_command(
    *,
    data: Annotated[Path, typer.Option("--data", help="The folder of data, with a folder for each source.")],
    out: Annotated[Path, typer.Option("--out", help="Where weights, curves and answers go.")],
    sources: Annotated[
        str | None,
        typer.Option(
            "--sources",
            help="Comma-separated, or `all`; without it, what the reader of the package learns from.",
        ),
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", help="Conversations whose half B is answered.")
    ] = "locomo",
    seeds: Annotated[
        str,
        typer.Option("--seeds", help="Decide what is drawn, in which order; the reader is the mean of all."),
    ] = "0,1",
    rank: Annotated[
        int, typer.Option("--rank", min=0, help="Of the adapters; 0 learns every matrix of the layers.")
    ] = 32,
    lessons: Annotated[
        int | None, typer.Option("--lessons", min=1, help="Lessons drawn of those there are (all).")
    ] = None,
    epochs: Annotated[
        int, typer.Option("--epochs", min=1, help="How often lessons are learned before what was written.")
    ] = 1,
    threads: Annotated[
        int, typer.Option("--threads", min=1, help="Threads of PyTorch and of the reader.")
    ] = 1,
    device: Annotated[
        Literal["cpu", "cuda"], typer.Option("--device", help="Learn on processors, or on one GPU of NVIDIA.")
    ] = "cpu",
    weights: Annotated[
        Path | None,
        typer.Option("--weights", help="Folder of MiniLM's weights, instead of looking for them."),
    ] = None,
    find: Annotated[
        bool,
        typer.Option(
            "--find/--found-only", help="Ask the product what it finds, or use what it found before alone."
        ),
    ] = True,
    cache: Cache = None,
    page: PageTo = None,
    as_json: AsJson = False,
) -> None:
    """Train a small reader (needs the group `train`); goes on where it stopped."""
    from functools import partial

    import anyio

    from eval.research.reproduction import present
    from eval.research.training.data.sources import SOURCES, learned_in_package

    _check_installed()
    from eval.research.training.reader.loop import Recipe, check_device
    from eval.research.training.reader.run import Training, run

    check_device(device)
    named = {None: learned_in_package(), "all": tuple(n for n, of in SOURCES.items() if not of.test_only)}
    chosen = named.get(sources) or _names(sources or "")
    rate = 1e-3 if rank else 5e-5
    recipe = Recipe(rank=rank, epochs=epochs, pieces=2048, rate=rate, looks=4, threads=threads, device=device)
    training = Training(
        data=data,
        out=out,
        sources=chosen,
        measure=_names(measure),
        recipe=recipe,
        seeds=_numbers(seeds),
        lessons=lessons,
        weights=weights,
        find=find,
        cache=cache,
        command=_again(sources, seeds, recipe, lessons, measure=measure, find=find),
    )
    present(anyio.run(partial(run, training)), page_to=page, as_json=as_json)


def calibrate_command(
    *,
    data: Annotated[Path, typer.Option("--data", help="The folder of data, with a folder for each source.")],
    reader: Annotated[Path, typer.Option("--reader", help="The file of weights; its copy is calibrated.")],
    out: Annotated[Path, typer.Option("--out", help="Where answers, pictures and the calibrated file go.")],
    measure: Annotated[
        str, typer.Option("--measure", help="Conversations: fitted on halves A, told of halves B.")
    ] = "locomo,realtalk",
    precision: Annotated[
        Bits, typer.Option("--precision", help="Of the embedder that finds the turns.")
    ] = "fp32",
    cache: Cache = None,
    page: PageTo = None,
    as_json: AsJson = False,
) -> None:
    """Ask the whole product with a reader, and fit the probability that its answers are right."""
    from functools import partial

    import anyio

    from eval.research.reproduction import present
    from eval.research.training.reader.calibrating import Calibrating, run

    command = (
        f"python -m eval.research calibrate --data ../shared/data --reader {reader} --out {out} "
        f"--measure {measure}"
    )
    asked = Calibrating(
        data=data,
        reader=reader,
        out=out,
        measure=_names(measure),
        precision=precision,
        cache=cache,
        command=command if precision == "fp32" else f"{command} --precision {precision}",
    )
    present(anyio.run(partial(run, asked)), page_to=page, as_json=as_json)


def _check_installed() -> None:
    from importlib.util import find_spec

    from tiermem.errors import InvalidInput

    if find_spec("torch") is None:
        raise InvalidInput("training needs PyTorch: pip install -e . --group train, on a machine without a "
                           "GPU with --extra-index-url https://download.pytorch.org/whl/cpu")  # fmt: skip


def _numbers(listed: str) -> tuple[int, ...]:
    from tiermem.errors import InvalidInput

    named = _names(listed)
    if not named or len(set(named)) < len(named) or not all(one.isdecimal() for one in named):
        raise InvalidInput(f"seeds are different whole numbers with commas between, as 0,1, not {listed!r}")
    return tuple(map(int, named))


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())


def _again(
    sources: str | None, seeds: str, recipe: Recipe, lessons: int | None, *, measure: str, find: bool
) -> str:
    """The command as somebody else would type it."""
    parts = ["python -m eval.research train --data ../shared/data --out runs/reader"]
    parts += [f"--sources {sources}"] if sources else []
    parts += [f"--measure {measure} --seeds {seeds} --rank {recipe.rank} --epochs {recipe.epochs}"]
    parts += [f"--device {recipe.device}"] if recipe.device != "cpu" else []
    parts += [f"--lessons {lessons}"] if lessons else []
    return " ".join([*parts, *([] if find else ["--found-only"])])

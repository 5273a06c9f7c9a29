"""`python -m eval.research`: repeat the figures of papers, and train the reader and what it counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import typer

from eval.cli import audit_command, qa_command, replay_command, retrieval_command
from eval.research.ear.command import ear_command
from eval.research.feedback.command import feedback_command
from eval.research.htm.command import htm_command
from eval.research.memtier.command import episodes_command, memtier_command
from eval.research.training.command import learn_command
from eval.research.training.reader.command import calibrate_command, train_command
from eval.research.training.reranker.command import rerank_command
from eval.research.training.router.command import router_data_command, router_train_command
from tiermem.apps.cli.group import CommandGroup

app = typer.Typer(
    name="eval.research",
    cls=CommandGroup,
    help="Repeat the figures of papers, and train the reader. Only in a checkout.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def extend(
    context: typer.Context,
    *,
    profile: Annotated[
        Literal["paper"] | None,
        typer.Option(
            "--profile",
            help="paper: router, search, answers and judging as in From Lossy to Verified (qa, replay).",
        ),
    ] = None,
) -> None:
    """Systems of research take part in `retrieval`, `qa`, `replay` and `audit`."""
    from eval.arrange import Extension, Request
    from eval.research.published import with_profile
    from eval.research.systems import VARIANTS

    def change(request: Request) -> Request:
        request = replace(request, variants=VARIANTS)
        return request if profile is None else with_profile(request, profile)

    context.obj = Extension(variants=VARIANTS, change=change)


app.command("retrieval")(retrieval_command)
app.command("qa")(qa_command)
app.command("replay")(replay_command)
app.command("audit")(audit_command)
app.command("calibrate")(calibrate_command)
app.command("ear")(ear_command)
app.command("episodes")(episodes_command)
app.command("feedback")(feedback_command)
app.command("htm")(htm_command)
app.command("learn")(learn_command)
app.command("memtier")(memtier_command)
app.command("rerank")(rerank_command)
app.command("router-data")(router_data_command)
app.command("router-train")(router_train_command)
app.command("train")(train_command)

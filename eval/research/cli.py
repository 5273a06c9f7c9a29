"""`python -m eval.research`: repeat the figures of papers, and train the reader and what it counts."""

from __future__ import annotations

import typer

from eval.research.ear.command import ear_command
from eval.research.feedback.command import feedback_command
from eval.research.htm.command import htm_command
from eval.research.memtier.command import memtier_command
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

app.command("calibrate")(calibrate_command)
app.command("ear")(ear_command)
app.command("feedback")(feedback_command)
app.command("htm")(htm_command)
app.command("learn")(learn_command)
app.command("memtier")(memtier_command)
app.command("rerank")(rerank_command)
app.command("router-data")(router_data_command)
app.command("router-train")(router_train_command)
app.command("train")(train_command)

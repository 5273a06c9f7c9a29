"""`tiermem remember`: what is remembered, and under which id. `tiermem correct` shows the same."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from rich.table import Table

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.tables import pairs, still_rests
from tiermem.dialogue.agent_spaces import USER_SPACE
from tiermem.errors import InvalidInput


def remember(
    fact: Annotated[str, typer.Argument(help="What to remember, in a sentence.")],
    *,
    attribution: options.FactOptions,
    role: options.SaidRole = None,
    session: Annotated[str, typer.Option("--session", help="The session it is said in.")] = "main",
    user: Annotated[
        bool,
        typer.Option("--user", help="For all repositories: in the space `user`, made where there is none."),
    ] = False,
    place: options.SpaceOptions,
    output: options.Output,
) -> None:
    """Keep a fact word for word, as a turn and a unit of its own; without a model call."""
    keywords = attribution.keywords()
    with _user_memory(place) if user else place.open() as memory:
        done = memory.remember(fact, session=session, role=role, **keywords)
    output.show(done, lambda: remembered_table(done))


def _user_memory(place: options.SpaceOptions) -> options.Opened:
    if place.space not in (None, os.environ.get("TIERMEM_SPACE")):
        raise InvalidInput("--space and --user both name a space: give one of them")
    memory = tiermem.open(place.store.address, space=USER_SPACE, engine="local")
    return options.as_agent(memory, place.agent)


def remembered_table(done: tiermem.Remembered) -> Table:
    """What is remembered, under which id, and what it corrects."""
    corrected = [("in place of", done.corrected.text)] if done.corrected is not None else []
    rows = [
        ("remembered" if done.is_new else "known already", done.unit.text),
        ("unit", done.unit.id),
        ("page", done.page_id),
        *corrected,
    ]
    return pairs([*rows, *still_rests(done.beside)])

"""`tiermem keys`: who may do what in the memories that `tiermem serve` serves."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from tiermem.apps.cli import options
from tiermem.apps.cli.app import with_options
from tiermem.apps.cli.group import CommandGroup, remark
from tiermem.apps.cli.serve import KeysFile, keys_file
from tiermem.apps.http.keys import ALL, Key, Keys
from tiermem.apps.present.tables import table
from tiermem.wire import Right

app = typer.Typer(
    name="keys",
    cls=CommandGroup,
    add_completion=False,
    help="Make, list and revoke the keys of `tiermem serve`.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


def _public_fields(key: Key) -> dict[str, object]:
    """What may be shown of a key: everything but its hash."""
    names = ("id", "name", "spaces", "rights", "agent", "made", "expires")
    return {name: getattr(key, name) for name in names}


@app.command("make")
@with_options
def make(
    name: Annotated[str, typer.Argument(help="Whose it is, for you to know it by.")],
    *,
    spaces: Annotated[
        list[str] | None,
        typer.Option("--space", help=f"In this space (default); may be repeated, and {ALL} is all of them."),
    ] = None,
    may: Annotated[
        str, typer.Option("--may", metavar="RIGHTS", help="Any of read, write, erase, admin; with commas.")
    ] = "read,write",
    days: Annotated[float | None, typer.Option("--days", help="It ends after so many.")] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", help="For this agent alone, which sees and adds its own.")
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    keys: KeysFile = None,
    output: options.Output,
) -> None:
    """Make a key. It is shown now and never again: only a hash of it is kept."""
    rights: list[Right] = [part.strip() for part in may.split(",") if part.strip()]  # type: ignore[misc]
    kept = Keys(keys_file(store, keys))
    bound = spaces or [options.DEFAULT_SPACE]
    token, key = kept.make(name, spaces=bound, rights=rights, days=days, agent=agent)
    output.show({**_public_fields(key), "key": token}, lambda: (token,))
    remark("this is shown once; `tiermem keys revoke " + key.id + "` takes it away")


@app.command("list")
@with_options
def list_(
    *, store: options.Store = options.DEFAULT_STORE, keys: KeysFile = None, output: options.Output
) -> None:
    """List the keys, without what is secret of them."""
    found = Keys(keys_file(store, keys)).all()
    output.show([_public_fields(key) for key in found], lambda: _table(found))


@app.command("revoke")
@with_options
def revoke(
    ident: Annotated[str, typer.Argument(metavar="ID", help="The id that `list` shows.")],
    *,
    store: options.Store = options.DEFAULT_STORE,
    keys: KeysFile = None,
    output: options.Output,
) -> None:
    """Take a key away: from now on a server that is running refuses it."""
    taken = Keys(keys_file(store, keys)).revoke(ident)
    output.show(_public_fields(taken), lambda: f"revoked: {taken.id} ({taken.name})")


def _table(found: tuple[Key, ...]) -> Table:
    return table(
        ("id", "name", "spaces", "may", "agent", "made", "expires"),
        [
            (
                one.id,
                one.name,
                ", ".join(one.spaces),
                ", ".join(one.rights),
                one.agent or "",
                one.made,
                one.expires or "",
            )
            for one in found
        ],
        whole=("id",),
    )

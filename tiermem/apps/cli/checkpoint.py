"""`tiermem checkpoint`: size and root of each space's Merkle tree, one a row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from pagestore import Checkpoint
from tiermem.apps.cli import options
from tiermem.apps.cli.checkpoint_files import Signatures, signatures_of, write_checkpoints
from tiermem.apps.present.tables import table


def checkpoint(
    *,
    places: options.Places,
    sign: Annotated[Path | None, typer.Option(help="Private key (Ed25519, PEM) to sign with.")] = None,
    to: Annotated[Path | None, typer.Option("--out", help="Write them here, to keep elsewhere.")] = None,
    looking: options.Looking,
) -> None:
    """Commit to everything so far: size and root of each space's Merkle tree, signed if you like."""
    made = []
    for place in places.each():
        with place.open(read_only=True) as memory:
            made.append(memory.checkpoint())
    signatures = signatures_of(made, sign)
    if to is not None:
        write_checkpoints(to, made, signatures=signatures)
    looking.show(
        {"checkpoints": made, "signatures": signatures}, lambda: _checkpoints_table(made, signatures)
    )


def _checkpoints_table(checkpoints: Sequence[Checkpoint], signatures: Signatures) -> Table:
    rows = [
        (one.space, f"{one.size:,}", one.root, signatures[one.space].key[:16] if signatures else "unsigned")
        for one in checkpoints
    ]
    return table(("space", "records", "Merkle root", "signed by"), rows, numbers=("records",))

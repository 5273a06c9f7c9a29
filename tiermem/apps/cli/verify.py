"""`tiermem verify`: what was re-derived of each space, and everything that differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from pagestore import Checkpoint, VerifyReport
from tiermem.apps.cli import checkpoint_files, options
from tiermem.apps.cli.group import EXIT_DAMAGE
from tiermem.apps.present.progress import show_activity
from tiermem.apps.present.tables import table
from tiermem.errors import InvalidInput
from tiermem.signing import verify_signature
from tiermem.text.unicode import show_controls


def verify(
    *,
    places: options.Places,
    against: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            "--against",
            help="Checkpoints kept elsewhere, which must still be part of the log.",
        ),
    ] = None,
    key: Annotated[Path | None, typer.Option(help="Public key that must have signed them.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the checkpoints here, to keep elsewhere.")] = None,
    looking: options.Looking,
) -> None:
    """Re-derive every hash and name what is damaged (exit code 3)."""
    known = _trusted_checkpoints(against, key)
    if against is not None and places.space is not None:
        checkpoint_files.read_checkpoint(against, places.space)  # a space that it does not cover is refused
    reports = []
    for place in places.each():
        with place.open(read_only=True) as memory, show_activity(f"{memory.space}: verifying"):
            reports.append(memory.verify(known.get(memory.space)))
    if save is not None:
        checkpoint_files.write_checkpoints(save, [report.checkpoint for report in reports])
    missing = sorted(known.keys() - {report.space for report in reports}) if places.space is None else []
    ok = all(report.ok for report in reports) and not missing
    looking.show({"ok": ok, "spaces": reports, "missing": missing}, lambda: _reports(reports, missing))
    if not ok:
        raise typer.Exit(EXIT_DAMAGE)


def _trusted_checkpoints(path: Path | None, public_key: Path | None) -> Mapping[str, Checkpoint]:
    """The checkpoints of a file, each signed by the key where one is named; raises `BadSignature`."""
    if path is None:
        if public_key is not None:
            raise InvalidInput("a key checks the signatures of checkpoints: name their file")
        return {}
    kept = checkpoint_files.read_checkpoints(path)
    if public_key is not None:
        key, signatures = checkpoint_files.read_whole(public_key), checkpoint_files.read_signatures(path)
        for space, checkpoint in kept.items():
            verify_signature(checkpoint, signatures.get(space), key)
    return kept


def _reports(reports: Sequence[VerifyReport], missing: Sequence[str]) -> Group:
    rows = [
        (
            report.space,
            f"{report.records:,}",
            f"{report.turns:,}",
            f"{report.pages:,}",
            f"{report.erased:,}",
            Text("intact", style="green")
            if report.ok
            else Text(f"{len(report.damage)} damaged", style="bold red"),
            report.checkpoint.root[:16],
        )
        for report in reports
    ]
    columns = ("space", "records", "turns", "pages", "erased", "result", "Merkle root")
    parts: list[RenderableType] = [table(columns, rows, numbers=("records", "turns", "pages", "erased"))]
    for report in reports:
        lines = [
            *((f"{damage.where}: {damage.what}", "red") for damage in report.damage),
            *((f"torn write kept in {torn}", "yellow") for torn in report.torn),
        ]
        parts += [Text(show_controls(f"{report.space}: {line}"), style=style) for line, style in lines]
    for space in missing:
        line = f"the checkpoint covers space {space!r}, which is not here"
        parts.append(Text(show_controls(line), style="bold red"))
    return Group(*parts)

"""`tiermem verify-bundle`: what a bundle proves, what it does not, and what is wrong with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text

from pagestore import Damage
from pagestore.bundle import BundleReport, Malformed, decode
from pagestore.bundle import verify_bundle as checked
from tiermem.apps.cli import options
from tiermem.apps.cli.checkpoint_files import read_checkpoint, read_signatures, read_whole
from tiermem.apps.cli.group import EXIT_DAMAGE
from tiermem.apps.present.tables import pairs
from tiermem.errors import BadSignature
from tiermem.signing import verify_signature
from tiermem.text.unicode import show_controls


def verify_bundle(
    file: Path,
    *,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Checkpoints kept elsewhere, one of them of the bundle's space.")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="Public key that must have signed the checkpoint.")] = None,
    output: options.Output,
) -> None:
    """Check an audit bundle, offline and without a store (exit code 3 when it does not hold)."""
    report = _check(file, kept=checkpoint, public_key=key)
    output.show({"ok": report.ok, "report": report}, lambda: _report(report))
    if not report.ok:
        raise typer.Exit(EXIT_DAMAGE)


def _check(path: Path, *, kept: Path | None, public_key: Path | None) -> BundleReport:
    """Check a bundle file, offline: with the checkpoint kept of its space, and the signer's public key."""
    data = read_whole(path)
    report = checked(data)
    if not report.space:
        return report
    if kept is not None:
        report = checked(data, read_checkpoint(kept, report.space))
    return report if public_key is None else _with_signature(report, data, kept, public_key)


def _with_signature(report: BundleReport, data: bytes, kept: Path | None, public_key: Path) -> BundleReport:
    """The report, with what the signature shows: that of the checkpoint kept, else that of the bundle."""
    try:
        bundle = decode(data)
        checkpoint, signature = bundle.checkpoint, bundle.signature
        if signature is None and kept is not None:
            checkpoint = read_checkpoint(kept, report.space)
            signature = read_signatures(kept).get(report.space)
        verify_signature(checkpoint, signature, read_whole(public_key))
    except (BadSignature, Malformed) as error:
        return replace(report, failed=(*report.failed, Damage(where="the signature", what=str(error))))
    signed = f"the checkpoint of {checkpoint.size} records is signed with the key in {str(public_key)!r}"
    left = tuple(line for line in report.unproved if not line.startswith("the signature by key"))
    return replace(report, proved=(*report.proved, signed), unproved=left)


def _report(report: BundleReport) -> Group:
    """What a check proved, could not prove, and found wrong."""
    rows: list[tuple[str, str | Text]] = []
    rows += [("proved", Text(show_controls(line), style="green")) for line in report.proved]
    rows += [("not proved", Text(show_controls(line), style="yellow")) for line in report.unproved]
    rows += [("FAILED", Text(show_controls(f"{d.where}: {d.what}"), style="bold red")) for d in report.failed]
    verdict = (
        Text("The bundle holds.", style="bold green")
        if report.ok
        else Text("The bundle does not hold.", style="bold red")
    )
    return Group(pairs(rows), Text(), verdict)

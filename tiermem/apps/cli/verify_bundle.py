"""Bundles and signed checkpoints at the command line: writing, checking, and showing what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pagestore import Checkpoint, Damage
from pagestore.bundle import Bundle, BundleReport, Malformed, Signature, decode, encode, verify_bundle
from tiermem.apps.cli.checkpoint_files import read_checkpoints, read_signatures, read_whole, write_whole
from tiermem.apps.present.tables import pairs, table
from tiermem.apps.present.terminal import safe
from tiermem.errors import BadSignature, InvalidInput
from tiermem.signing import sign, verify_signature

if TYPE_CHECKING:
    from tiermem import Memory


def signatures_of(checkpoints: Sequence[Checkpoint], private_key: Path | None) -> Mapping[str, Signature]:
    """A signature of each checkpoint; none without a key."""
    if private_key is None:
        return {}
    key = read_whole(private_key)
    return {checkpoint.space: sign(checkpoint, key) for checkpoint in checkpoints}


def trusted_checkpoints(path: Path | None, public_key: Path | None) -> Mapping[str, Checkpoint]:
    """The checkpoints of a file, each signed by the key where one is named; raises `BadSignature`."""
    if path is None:
        if public_key is not None:
            raise InvalidInput("a key checks the signatures of checkpoints: name their file")
        return {}
    kept = read_checkpoints(path)
    if public_key is not None:
        key, signatures = read_whole(public_key), read_signatures(path)
        for space, checkpoint in kept.items():
            verify_signature(checkpoint, signatures.get(space), key)
    return kept


def write_bundle(
    memory: Memory,
    answer_id: str,
    path: Path,
    *,
    whole_pages: bool,
    kept: Path | None,
    private_key: Path | None,
) -> Bundle:
    """Bundle an answer into a file, bound to the checkpoint kept of its space, and signed."""
    checkpoint = read_checkpoints(kept).get(memory.space) if kept is not None else None
    bundle = memory.bundle(answer_id, checkpoint=checkpoint, whole_pages=whole_pages)
    signed = signatures_of([bundle.checkpoint], private_key)
    bundle = replace(bundle, signature=signed.get(memory.space))
    write_whole(path, encode(bundle))
    return bundle


def check_bundle(path: Path, *, kept: Path | None, public_key: Path | None) -> BundleReport:
    """Check a bundle file, offline: with the checkpoint kept of its space, and the signer's public key."""
    data = read_whole(path)
    report = verify_bundle(data)
    if not report.space:
        return report
    if kept is not None:
        checkpoint = read_checkpoints(kept).get(report.space)
        if checkpoint is None:
            raise InvalidInput(f"{str(kept)!r} holds no checkpoint of space {report.space!r}")
        report = verify_bundle(data, checkpoint)
    return report if public_key is None else _with_signature(report, data, kept, public_key)


def _with_signature(report: BundleReport, data: bytes, kept: Path | None, public_key: Path) -> BundleReport:
    """The report, with what the signature shows: that of the checkpoint kept, else that of the bundle."""
    try:
        bundle = decode(data)
        checkpoint, signature = bundle.checkpoint, bundle.signature
        if signature is None and kept is not None:
            checkpoint = read_checkpoints(kept)[report.space]
            signature = read_signatures(kept).get(report.space)
        verify_signature(checkpoint, signature, read_whole(public_key))
    except (BadSignature, Malformed) as error:
        return replace(report, failed=(*report.failed, Damage(where="the signature", what=str(error))))
    signed = f"the checkpoint of {checkpoint.size} records is signed with the key in {str(public_key)!r}"
    left = tuple(line for line in report.unproved if not line.startswith("the signature by key"))
    return replace(report, proved=(*report.proved, signed), unproved=left)


def report_view(report: BundleReport) -> Group:
    """What a check proved, could not prove, and found wrong."""
    rows: list[tuple[str, str | Text]] = []
    rows += [("proved", Text(safe(line), style="green")) for line in report.proved]
    rows += [("not proved", Text(safe(line), style="yellow")) for line in report.unproved]
    rows += [("FAILED", Text(safe(f"{d.where}: {d.what}"), style="bold red")) for d in report.failed]
    verdict = (
        Text("The bundle holds.", style="bold green")
        if report.ok
        else Text("The bundle does not hold.", style="bold red")
    )
    parts: list[RenderableType] = [pairs(rows), Text(), verdict]
    return Group(*parts)


def bundle_view(bundle: Bundle, path: Path) -> Group:
    """What a bundle that was written holds."""
    shown = sum(turn.line is not None for page in bundle.pages for turn in page.turns)
    turns = sum(len(page.turns) for page in bundle.pages)
    point = bundle.checkpoint
    rows = [
        ("bundle", f"{path}, {len(encode(bundle)):,} bytes"),
        ("answer", str(bundle.answer["text"])),
        ("support", str(bundle.answer.get("support") or "none recorded")),
        ("pages", f"{len(bundle.pages):,}, with {shown:,} of {turns:,} turns in words, the others as hashes"),
        ("bound to", f"{point.size:,} records of space {point.space!r}, root {point.root}"),
    ]
    if bundle.signature is not None:
        rows.append(("signed by", bundle.signature.key))
    return Group(pairs(rows))


def checkpoints_view(checkpoints: Sequence[Checkpoint], signatures: Mapping[str, Signature]) -> Table:
    """Checkpoints, one a row."""
    rows = [
        (one.space, f"{one.size:,}", one.root, signatures[one.space].key[:16] if signatures else "unsigned")
        for one in checkpoints
    ]
    return table(("space", "records", "Merkle root", "signed by"), rows, numbers=("records",))

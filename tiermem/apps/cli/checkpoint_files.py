"""Checkpoints and their signatures in a file, kept out of reach of those who can rewrite the store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pagestore import Checkpoint
from pagestore.bundle import Signature
from pagestore.errors import PageStoreError
from pagestore.files import new_file
from pagestore.values import checkpoint_of
from tiermem.apps.present.as_json import plain
from tiermem.errors import InvalidInput
from tiermem.signing import sign

Signatures = Mapping[str, Signature]


def write_checkpoints(
    path: Path, checkpoints: Sequence[Checkpoint], *, signatures: Signatures | None = None
) -> None:
    """Write them as a JSON list, signed where there is a signature; `InvalidInput` when that fails."""
    listed = plain(checkpoints)
    for one in listed:
        if signatures and one["space"] in signatures:
            one["signature"] = plain(signatures[one["space"]])
    write_whole(path, f"{json.dumps(listed, indent=2)}\n".encode())


def signatures_of(checkpoints: Sequence[Checkpoint], private_key: Path | None) -> Signatures:
    """A signature of each checkpoint; none without a key."""
    if private_key is None:
        return {}
    key = read_whole(private_key)
    return {checkpoint.space: sign(checkpoint, key) for checkpoint in checkpoints}


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that its owner alone can read, all of it or nothing; `InvalidInput` when that fails."""
    try:
        with new_file(path, replace=True) as out:
            out.write(data)
    except PageStoreError as error:
        raise InvalidInput(f"cannot write {str(path)!r}: {error}") from error


def read_checkpoints(path: Path) -> Mapping[str, Checkpoint]:
    """Checkpoints by space; `InvalidInput` when the file is not one that `write_checkpoints` wrote."""
    data = read_whole(path)
    try:
        found = [checkpoint_of(one) for one in _parse_list(data)]
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidInput(
            f"{str(path)!r} is no file of checkpoints (`tiermem checkpoint --out` makes one)"
        ) from error
    return {checkpoint.space: checkpoint for checkpoint in found}


def read_checkpoint(path: Path, space: str) -> Checkpoint:
    """The checkpoint of a space in a file; `InvalidInput` when the file holds none."""
    checkpoint = read_checkpoints(path).get(space)
    if checkpoint is None:
        raise InvalidInput(f"{str(path)!r} holds no checkpoint of space {space!r}")
    return checkpoint


def read_signatures(path: Path) -> Signatures:
    """The signatures among the checkpoints of a file, by space."""
    data = read_whole(path)
    try:
        return {
            str(one["space"]): Signature(
                key=str(one["signature"]["key"]), value=str(one["signature"]["value"])
            )
            for one in _parse_list(data)
            if one.get("signature")
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidInput(f"the signatures in {str(path)!r} cannot be read") from error


def read_whole(path: Path) -> bytes:
    """The bytes of a file; `InvalidInput` when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error.strerror or error}") from error


def _parse_list(data: bytes) -> list[dict[str, Any]]:
    listed = json.loads(data)
    if not isinstance(listed, list):
        raise TypeError("a list was expected")
    return listed

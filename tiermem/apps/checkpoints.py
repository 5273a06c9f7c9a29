"""Checkpoints in a file, to be kept where nobody who can rewrite the store can reach them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pagestore import Checkpoint, SpaceId
from tiermem.apps.as_json import plain
from tiermem.errors import InvalidInput


def write_checkpoints(path: Path, checkpoints: Sequence[Checkpoint]) -> None:
    """Write them as a JSON list; `InvalidInput` when the file cannot be written."""
    text = json.dumps(plain(checkpoints), indent=2)
    partial = path.with_name(f"{path.name}.part")
    try:
        partial.write_text(f"{text}\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise InvalidInput(f"cannot write {str(path)!r}: {error.strerror or error}") from error


def read_checkpoints(path: Path) -> Mapping[str, Checkpoint]:
    """Checkpoints by space; `InvalidInput` when the file is not one that `write_checkpoints` wrote."""
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        found = [
            Checkpoint(space=SpaceId(str(one["space"])), size=int(one["size"]), root=str(one["root"]))
            for one in listed
        ]
    except OSError as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidInput(
            f"{str(path)!r} is no file of checkpoints (`tiermem verify --save` makes one)"
        ) from error
    return {checkpoint.space: checkpoint for checkpoint in found}

"""The folder of an embedded index: what it was built with, in which form, and whose it is.

`index.json` says with which embedder and schema an index was built, and in which form (`rows`).
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pagestore.files import create_file
from tiermem.embedding.interface import Embedder
from tiermem.errors import IndexMismatch
from tiermem.index import encoding

FILE = "entries.sqlite"
JOURNAL = FILE + "-journal"

_DESCRIPTION = "index.json"


def description(embedder: Embedder, *, form: str | None = None) -> dict[str, Any]:
    """The description of an index (`index.json`); that of a database has no form."""
    described = {"schema": encoding.SCHEMA, "embedder": embedder.name, "dimensions": embedder.dimensions}
    return described if form is None else {**described, "form": form}


def is_index(path: Path) -> bool:
    """Whether there is an index in a directory."""
    return any((path / name).exists() for name in (_DESCRIPTION, FILE))


def _read_description(path: Path) -> dict[str, Any]:
    """What is written down; nothing where that cannot be read."""
    try:
        found = json.loads((path / _DESCRIPTION).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def is_of_other_schema(path: Path, mine: Mapping[str, Any]) -> bool:
    """Whether an index was built as this one would be, but in another schema: it can be made again."""
    theirs = _read_description(path)
    return theirs != mine and {**theirs, "schema": mine["schema"]} == mine


def agree(path: Path, mine: Mapping[str, Any]) -> None:
    """Compare what an index was built with, or write it down for a new one; raises `IndexMismatch`."""
    if not is_index(path):
        _write(path / _DESCRIPTION, json.dumps(mine, indent=2) + "\n")
        return
    theirs = _read_description(path)
    if theirs != mine:
        raise IndexMismatch(
            f"the index at {str(path)!r} was built with {_in_words(theirs)}, this memory uses "
            f"{_in_words(mine)}; `reindex` rebuilds it from pages and ledger, without model calls"
        )


def damage_error(path: Path, why: str) -> IndexMismatch:
    """The error of an index that cannot be read as it is."""
    return IndexMismatch(
        f"the index at {str(path)!r} is damaged ({why}); `reindex` rebuilds it, without model calls"
    )


def forget_everything(path: Path) -> None:
    """Delete an index: the journal after the file that needs it to be whole, the description last."""
    for name in (FILE, JOURNAL, _DESCRIPTION):
        (path / name).unlink(missing_ok=True)


def restrict_access(path: Path) -> None:
    """Restrict the folder of an index and its files to their owner.

    Directories get mode 700 and files 600. Links and entries of other users keep their mode.
    """
    # Links are not followed: `rglob` enters none.
    for entry, status in ((path, path.stat()), *((entry, entry.lstat()) for entry in path.rglob("*"))):
        mode = 0o700 if stat.S_ISDIR(status.st_mode) else 0o600
        is_ours = status.st_uid == os.geteuid() and not stat.S_ISLNK(status.st_mode)
        if is_ours and stat.S_IMODE(status.st_mode) != mode:
            entry.chmod(mode)


def _write(file: Path, text: str) -> None:
    unfinished = file.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    with create_file(unfinished) as out:  # so that a link is not followed
        out.write(text.encode())
        out.flush()
        os.fsync(out.fileno())
    unfinished.replace(file)


def _in_words(described: Mapping[str, Any]) -> str:
    if not described:
        return "something that left no readable index.json"
    kept = f", in one file ({described['form']})" if "form" in described else ""
    return (
        f"{described.get('embedder')!r} ({described.get('dimensions')} dimensions, "
        f"schema {described.get('schema')}{kept})"
    )

"""The folder of an embedded index: what it was built with, in which form, and whose it is.

`index.json` says with which embedder and schema an index was built, and which form counts: one file
(`sqlite`), or the shards of earlier versions, if it names none. Everything else there is left from a copy
that was cut short.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pagestore.files import RealFiles, create_file
from tiermem.embedding.interface import Embedder
from tiermem.errors import IndexMismatch
from tiermem.index import encoding
from tiermem.index.engine import COLLECTIONS

FILE = "entries.sqlite"
JOURNAL = FILE + "-journal"
COPY = "copy"
"""Where the file is made that shards are copied into."""

_DESCRIPTION = "index.json"


def description(embedder: Embedder, *, form: str | None = None) -> dict[str, Any]:
    """The description of an index (`index.json`); that of shards has no form."""
    described = {"schema": encoding.SCHEMA, "embedder": embedder.name, "dimensions": embedder.dimensions}
    return described if form is None else {**described, "form": form}


def form_of(path: Path) -> str | None:
    """The form that counts: `sqlite`, `shards`, or `None` where nothing lies there."""
    if (path / _DESCRIPTION).exists():
        return str(read_description(path).get("form", "shards"))
    if (path / FILE).exists():
        return "sqlite"
    return "shards" if any((path / name).exists() for name in COLLECTIONS) else None


def read_description(path: Path) -> dict[str, Any]:
    """What is written down; nothing where that cannot be read."""
    try:
        found = json.loads((path / _DESCRIPTION).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def agree(path: Path, mine: Mapping[str, Any]) -> None:
    """Compare what an index was built with, or write it down for a new one; raises `IndexMismatch`."""
    if form_of(path) is None:
        _write(path / _DESCRIPTION, json.dumps(mine, indent=2) + "\n")
        return
    theirs = read_description(path)
    if theirs != mine:
        raise IndexMismatch(
            f"the index at {str(path)!r} was built with {_in_words(theirs)}, this memory uses "
            f"{_in_words(mine)}; `reindex` rebuilds it from pages and ledger, without model calls"
        )


def give_description(path: Path, to: Path) -> None:
    """Move what is written down about one index to another, in place of what it said; durable."""
    (path / _DESCRIPTION).replace(to / _DESCRIPTION)
    sync(to)


def damage_error(path: Path, why: str) -> IndexMismatch:
    """The error of an index that cannot be read as it is."""
    return IndexMismatch(
        f"the index at {str(path)!r} is damaged ({why}); `reindex` rebuilds it, without model calls"
    )


def forget_everything(path: Path) -> None:
    """Delete an index of whatever form."""
    forget_file(path)
    forget_shards(path)
    forget_copy(path)
    # Last, so that half of this is done again.
    (path / _DESCRIPTION).unlink(missing_ok=True)


def forget_file(path: Path) -> None:
    """Delete the file of an index, and the journal last: a file half written needs it to be whole."""
    for name in (FILE, JOURNAL):
        (path / name).unlink(missing_ok=True)


def forget_shards(path: Path) -> None:
    """Delete shards: units first, for the marks are with them; and what earlier versions left of a copy."""
    for name in (*COLLECTIONS, "growing"):
        _forget_folder(path / name)


def forget_copy(path: Path) -> None:
    """Delete a copy that was cut short."""
    _forget_folder(path / COPY)


def _forget_folder(place: Path) -> None:
    if place.is_symlink():
        place.unlink()
    elif place.exists():
        shutil.rmtree(place)


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


def sync(path: Path) -> None:
    """Make the names in a directory durable."""
    RealFiles().sync_directory(str(path))


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

"""Copying spaces from one store to another, between directories and databases."""

from __future__ import annotations

from contextlib import closing

from pagestore import SpaceId
from pagestore.copying import CopiedSpace, Progress, copy_lines
from pagestore.errors import Locked
from tiermem.storage.interface import SpaceStore

_COPYING = ("copy",)


def copy_space(
    source: SpaceStore, dest: SpaceStore, space: SpaceId, *, progress: Progress | None = None
) -> CopiedSpace:
    """Copy a space with its ids, proofs and answers; run again, it copies what is new.

    Raises what `pagestore.copying.copy_lines` raises, `SpaceNotFound` where it is not in `source`, and
    `Locked` while another process copies it, or has it open for writing in a directory.
    """
    with (
        closing(source.open_lines(space, writable=False)) as lines,
        closing(dest.open_lines(space, writable=True)) as copy,
    ):
        if not copy.claim(_COPYING):
            raise Locked(f"another process copies space {space!r} to {dest.name}: wait until it is done")
        try:
            return copy_lines(lines, copy, space, progress=progress)
        finally:
            copy.release(_COPYING)

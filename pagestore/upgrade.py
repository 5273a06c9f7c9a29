"""Takes a store of format 1 to today's.

The rules:
- Every line stays, byte for byte and under its number: at the end of each log comes one record, which says
  what a checkpoint of format 1 would say of all before. So no id, span or proof changes.
- A damaged log is not upgraded, nor any other log of its store.
- `FORMAT` is written first, while no other writes. What only knows format 1 writes no more from then on;
  an upgrade that was cut short is finished by the next.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from pagestore.errors import Corrupt, SpaceNotFound
from pagestore.files import RealFiles, translating
from pagestore.log import DiskLog
from pagestore.store import FORMAT_NUMBER, Store, directory_name, write_format
from pagestore.values import SpaceId


def upgrade(path: str | Path) -> tuple[SpaceId, ...]:
    """Upgrade every space of a store; returns those that were of format 1. Again, it does nothing.

    Raises `Corrupt` for a damaged log, `Locked` where one is being written, `NotAStore`, `NewerFormat`,
    `Full`, `Inaccessible`.
    """
    store = Store(path, read_only=True)
    old = tuple(space for space in store.spaces() if _is_old_and_sound(store, space))
    files = RealFiles()
    with translating(store.path):
        with ExitStack() as locks:
            for space in old:
                locks.callback(files.close, files.lock(f"{store.path}/spaces/{directory_name(space)}/LOCK"))
            if store.format < FORMAT_NUMBER:
                write_format(files, store.path)
        for space in old:
            DiskLog(f"{store.path}/spaces/{directory_name(space)}", space, upgraded=True).close()
    return old


def _is_old_and_sound(store: Store, space: SpaceId) -> bool:
    try:
        with store.open_space(space, read_only=True) as log:
            report = log.verify()
    except SpaceNotFound:  # its first record was never written
        return False
    if report.damage:
        raise Corrupt(
            f"space {space!r} is damaged and is not upgraded: {report.damage[0].where}: "
            f"{report.damage[0].what}; `verify` names all of it"
        )
    return report.checkpoint.format == 1

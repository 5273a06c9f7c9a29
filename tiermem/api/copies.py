"""Copies of a memory: a backup of its log, a store out of a backup, its dialogue as JSON lines.

A copy holds what is erased from the memory later; every result says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import nullcontext
from dataclasses import replace
from io import TextIOBase
from pathlib import Path
from typing import IO, cast

from anyio import to_thread

from pagestore import OpenInfo, Page, PageInfo, SessionId
from pagestore.backup import SavedSpace, restore_backup, write_backup
from pagestore.files import lies_in, new_file
from tiermem.api import arguments
from tiermem.api.results import BackedUp, Exported
from tiermem.dialogue import line_of
from tiermem.errors import InvalidInput
from tiermem.ledger import EVERYTHING_SEEN, Ledger, Visibility
from tiermem.runtime.components import Components
from tiermem.writing import Progress


def restore(
    archive: str | Path, path: str | Path, *, replace: bool = False, progress: Progress | None = None
) -> tuple[SavedSpace, ...]:
    """Make directory `path` a store of what a backup holds, and say what that is: all of it, or nothing.

    Every hash in it is checked first. The index is built again when a space is first opened. A store that is
    there already is refused, or with `replace` removed. Raises `PageStoreError`.
    """
    source, target = arguments.place(archive, "archive"), arguments.place(path, "path")
    return restore_backup(source, target, replace=replace, progress=progress)


async def backup(
    components: Components,
    to: str | Path,
    *,
    all_spaces: bool,
    replace: bool,
    progress: Progress | None,
) -> BackedUp:
    """One file of the logs of a store, or of one space; see `write_backup`."""
    if components.opening.place.url is not None:
        raise InvalidInput(
            "`backup` does not copy a database yet: use `pg_dump`, which keeps everything of it; "
            "`export` writes the dialogue"
        )
    if components.directory is None:
        raise InvalidInput("a memory without a directory cannot be backed up; `export` writes its dialogue")
    store, spaces = components.directory, None if all_spaces else [components.ledger.space]

    def write() -> BackedUp:
        saved = write_backup(store, to, spaces=spaces, replace=replace, progress=progress)
        return BackedUp(file=Path(to), bytes=Path(to).stat().st_size, spaces=saved)

    return await to_thread.run_sync(write)


async def export(
    components: Components,
    to: str | Path | IO[bytes],
    *,
    session: SessionId | None,
    overwrite: bool,
    progress: Progress | None,
    sees: Visibility = EVERYTHING_SEEN,
) -> Exported:
    """Write the dialogue of a space, or of one session, as JSON lines, session after session.

    Raises `InvalidInput` for a file in the store itself, and for what takes text in place of bytes.
    """
    if isinstance(to, str | Path):
        if components.directory is not None and lies_in(to, components.directory):
            raise InvalidInput(f"{str(to)!r} lies in the store: an export is kept elsewhere")
    elif isinstance(cast("object", to), TextIOBase):
        raise InvalidInput("to must take bytes, like a file opened with mode 'wb', and this takes text")
    ledger = components.ledger
    with new_file(to, replace=overwrite) if isinstance(to, str | Path) else nullcontext(to) as out:
        return await _write(ledger, out, session, progress, sees)


async def _write(
    ledger: Ledger, out: IO[bytes], session: SessionId | None, progress: Progress | None, sees: Visibility
) -> Exported:
    infos: tuple[PageInfo | OpenInfo, ...] = (*await ledger.pages(session), *await ledger.filling())
    there = list(filter(sees.page, infos))
    spoke = {info.session for info in there}
    names = [name for name in await ledger.sessions() if session in (None, name) and name in spoke]
    if session is not None and not names:
        raise InvalidInput(f"space {ledger.space!r} has no session {session!r}")
    total = sum(session in (None, info.session) for info in there)
    read = erased = 0
    found: Counter[SessionId] = Counter()
    stamped = 0
    for name in names:
        parts: list[str] = []
        async for page in _pages(ledger, name, sees):
            lines = []
            for line in page.lines:
                if line.turn is None:
                    erased += line.part == line.parts
                    continue
                parts.append(line.turn.text)
                if line.part == line.parts:
                    lines.append(line_of(name, replace(line.turn, text="".join(parts))))
                    stamped += line.turn.trust is not None or line.turn.agent is not None
                    parts = []
            found[name] += len(lines)
            read += 1
            await to_thread.run_sync(out.write, b"".join(lines))
            if progress is not None:
                progress(min(read, total), total)
    return Exported(
        space=ledger.space,
        sessions=sum(turns > 0 for turns in found.values()),
        turns=found.total(),
        erased=erased,
        stamped=stamped,
    )


async def _pages(ledger: Ledger, session: SessionId, sees: Visibility) -> AsyncIterator[Page]:
    """The pages of a session in order, open ones last, by agent. One that seals meanwhile comes once."""
    filling = list(filter(sees.page, await ledger.open_pages(session)))
    sealed = sorted(filter(sees.page, await ledger.pages(session)), key=lambda info: info.agent or "")
    known = {(info.agent, info.number) for info in sealed}
    for info in sealed:
        yield await ledger.page(info.id)
    for page in filling:
        if (page.agent, page.number) not in known:
            yield page

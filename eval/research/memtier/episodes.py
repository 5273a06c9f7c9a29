"""MemTier's episodes: JSON lines of one agent's day, written from a memory and read back.

A line has `id`, `timestamp`, `session_id`, `project`, `content`, `tokens`, `promoted` and `cognitive_weight`.
The speaker is named in brackets in front of the content. The weight that a line gives is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pagestore import Page, PageLine, SpaceId, Turn
from pagestore.files import RealFiles, create_file
from pagestore.line import one_line
from pagestore.rendering import as_rendered
from pagestore.store import directory_name
from tiermem import Memory, SummaryUnit
from tiermem.dialogue import DialogueSession
from tiermem.dialogue.turns_file import group_sessions, json_lines
from tiermem.errors import InvalidInput
from tiermem.llm.tokens import token_counter

_ROLES: Final = ("system", "user", "assistant", "tool")
_HEAD: Final = re.compile(r"\[([^\[\]\n]{1,80})\] ")


def write_episodes(memory: Memory, folder: Path) -> int:
    """Write what the memory may see as `<agent>/<day>.jsonl` in a new folder; returns how many turns.

    What is of no agent lies in `(none)`. Raises `InvalidInput` for a folder that is not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidInput(f"{str(folder)!r} is there already: episodes are written to a folder of their own")
    units = memory.units()
    weights = {unit.id: memory.signals(unit.id).weight for unit in units}
    sealed: list[Page] = [memory.page(info.id) for info in memory.pages()]
    files: dict[Path, list[bytes]] = {}
    for page in sorted((*sealed, *memory.open_pages()), key=lambda page: page.session):
        whose = "(none)" if page.agent is None else directory_name(SpaceId(page.agent))
        for line in page.lines:
            if line.turn is not None:
                at = _time(line, line.turn)
                day = "undated" if at is None else at.date().isoformat()
                rests = [weights[unit.id] for unit in units if _rests_on(unit, page, line)]
                episode = _episode(page, line, line.turn, space=memory.space, weights=rests)
                files.setdefault(folder / whose / f"{day}.jsonl", []).append(episode)
    for file, lines in files.items():
        RealFiles().make_directory(str(file.parent))
        with create_file(file) as out:
            out.write(b"".join(lines))
    return sum(map(len, files.values()))


def _time(line: PageLine, turn: Turn) -> datetime | None:
    return turn.said_at or line.recorded_at


def _rests_on(unit: SummaryUnit, page: Page, line: PageLine) -> bool:
    return any(span.page_id == page.id and line.touches(span) for span in unit.spans)


def _episode(page: Page, line: PageLine, turn: Turn, *, space: str, weights: list[float]) -> bytes:
    """A turn, or one part of a long one, with the mean weight of the units that rest on it.

    A turn of the role `system` begins with `[system]`, whatever its speaker.
    """
    speaker = "system" if turn.role == "system" else as_rendered(turn).speaker
    at = _time(line, turn)
    number = f"-{line.part}" if line.parts > 1 else ""
    fields = {
        "id": (turn.turn_id or f"{space}-{line.seq}") + number,
        "timestamp": None if at is None else at.isoformat(),
        "session_id": page.session,
        "project": space,
        "content": f"[{speaker}] {turn.text}",
        "tokens": token_counter().count(turn.text),
        "promoted": bool(weights),
        "cognitive_weight": sum(weights) / len(weights) if weights else 0.0,
    }
    return one_line(fields) + b"\n"


def read_episodes(text: str, *, session: str = "default") -> Iterable[DialogueSession]:
    """The sessions of a file of episodes; turns that name no session are of `session`."""
    return group_sessions(json_lines(text, _message), session)


def _message(entry: object) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("content"), str):
        raise InvalidInput("an episode without a content")
    content, head = entry["content"], _HEAD.match(entry["content"])
    speaker = head[1] if head is not None else "user"
    return {
        "session": entry.get("session_id"),
        "id": entry.get("id"),
        "said_at": entry.get("timestamp"),
        "speaker": speaker,
        "role": speaker if speaker in _ROLES else None,
        "text": content[head.end() :] if head is not None else content,
    }

"""An agent's turns as MemTier's episodes: one a line, in JSON; `dialogue.formats.memtier` reads them back."""

from __future__ import annotations

from datetime import datetime

from pagestore import Turn
from pagestore.line import one_line
from pagestore.rendering import as_rendered


def episode_of(
    turn: Turn,
    *,
    id_: str,
    at: datetime | None,
    session: str,
    project: str,
    tokens: int,
    promoted: bool,
    weight: float,
) -> bytes:
    """The line of one turn, its end included. A turn of the role `system` begins with `[system]`, whatever
    its speaker.
    """
    speaker = "system" if turn.role == "system" else as_rendered(turn).speaker
    fields = {
        "id": id_,
        "timestamp": None if at is None else at.isoformat(),
        "session_id": session,
        "project": project,
        "content": f"[{speaker}] {turn.text}",
        "tokens": tokens,
        "promoted": promoted,
        "cognitive_weight": weight,
    }
    return one_line(fields) + b"\n"

"""Turns as `read_dialogue` reads them back: one a line, in JSON, with everything that is known of each."""

from __future__ import annotations

from pagestore import Turn
from pagestore.line import one_line


def line_of(session: str, turn: Turn) -> bytes:
    """The line of one turn, its end included. What is unknown is left out, and so are an id without a letter
    and a blank session, which `read_dialogue` names.
    """
    fields = {
        "session": session if session.strip() else None,
        "id": turn.turn_id or None,
        "said_at": None if turn.said_at is None else turn.said_at.isoformat(),
        "speaker": turn.speaker,
        "role": turn.role,
        "trust": turn.trust,
        "text": turn.text,
        "metadata": dict(turn.metadata) or None,
        "importance": turn.importance,
        "of_agent": turn.agent,
    }
    return one_line({name: value for name, value in fields.items() if value is not None}) + b"\n"

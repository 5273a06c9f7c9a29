"""Names sessions for people: by the newest title of the chat, with the id."""

from __future__ import annotations

from collections.abc import Mapping

import tiermem
from tiermem.text.unicode import show_controls


def titles_by_session(memory: tiermem.Memory) -> dict[str, str]:
    """The titles of the sessions that have one."""
    return {one.session: one.title for one in memory.sessions() if one.title is not None}


def title_suffix(session: str | None, titles: Mapping[str, str], *, separator: str) -> str:
    """The title of a session behind a separator; "" without a title."""
    title = None if session is None else titles.get(session)
    return "" if title is None else f"{separator}{show_controls(title)}"


def session_label(session: str, titles: Mapping[str, str]) -> str:
    """The title of a session and its id; the id alone without a title."""
    return f"{titles[session]} ({session})" if session in titles else session

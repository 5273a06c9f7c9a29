"""The plug-in of OpenCode: a JavaScript file of its own, which runs the hook when an agent stops."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

EVENTS: Final = (
    "session.idle",
    "session.execution.succeeded",
    "session.execution.failed",
    "session.execution.interrupted",
)
"""The events at which the hook is run: the first is of version 1, the others are of version 2."""
_TEXT: Final = Path(__file__).with_suffix(".js")
_FIRST_LINE: Final = "// Written by `tiermem hook install opencode`"
"""By what a plug-in of ours is known."""


def write_plugin(command: Sequence[str]) -> str:
    """Return the text of the plug-in which runs this command."""
    text = _TEXT.read_text("utf-8").replace("EVENTS", json.dumps(EVENTS))
    return text.replace("COMMAND", json.dumps(list(command)))


def is_plugin(text: str) -> bool:
    """Whether the text of a file is a plug-in of ours."""
    return text.startswith(_FIRST_LINE)

"""The terminal: the two consoles, times, how this program is called.

Words from memory are data: control characters in them are shown as symbols and never reach the terminal
(`tiermem.text.unicode.show_controls`), one symbol a character, so that offsets into a page stay true.
"""

from __future__ import annotations

import io
import shlex
import shutil
import sys
from datetime import datetime
from pathlib import Path

from rich.console import Console


def out() -> Console:
    """The console for results. Colours follow the terminal and NO_COLOR."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot write a character gets its escape, not a traceback.
        sys.stdout.reconfigure(errors="backslashreplace")
    return Console(highlight=False, markup=False, emoji=False)


def err() -> Console:
    """The console for progress and remarks, on stderr, so that results can be piped."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def when(moment: datetime | None) -> str:
    """A moment for people: to the minute, without the time where it is midnight sharp."""
    if moment is None:
        return "time unknown"
    return f"{moment:%Y-%m-%d}" if moment.time().isoformat() == "00:00:00" else f"{moment:%Y-%m-%d %H:%M}"


def program() -> str:
    """How this command line is called here: by its name where that is found, else by where it lies."""
    script = Path(sys.prefix) / "bin" / "tiermem"
    if shutil.which("tiermem") is not None or not script.exists():
        return "tiermem"
    here = Path.cwd()
    return shlex.quote(str(script.relative_to(here) if script.is_relative_to(here) else script))

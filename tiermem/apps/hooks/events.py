"""The spool of a store: events of coding agents, each a file, written by `tiermem_hook`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tiermem_hook import FAILURES, SPOOL

_LAST_DRAIN = "last-drain"
"""The file in a spool with how the last drain ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """What an agent said at an event: which one, when, of which session, and where the transcript is.

    `prompt` is what the person typed, of the event that has it.
    """

    file: Path
    at: datetime
    agent: str
    name: str
    session: str
    transcripts: tuple[str, ...] = ()
    directory: str | None = None
    prompt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastDrain:
    """When a drain last ended, how many prompts it left for their transcripts, and what it could not do.

    The problems have no words of sessions.
    """

    at: datetime
    prompts_left: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spool:
    """The events that wait, the oldest first, the files that are none, and what hooks could not do.

    `last_drain` is `None` where none has ended yet.
    """

    events: tuple[HookEvent, ...]
    unreadable: tuple[Path, ...]
    failures: tuple[str, ...]
    last_drain: LastDrain | None


def spool_folder(store: Path) -> Path:
    """The folder of the events of a store."""
    return store / SPOOL


def newest_event(store: Path) -> str:
    """The name of the newest event that waits; "" where none does."""
    return max((file.name for file in spool_folder(store).glob("*.json")), default="")


def read_spool(store: Path) -> Spool:
    """Read the spool of a store; a store without one has an empty one."""
    events: list[HookEvent] = []
    unreadable: list[Path] = []
    for file in sorted(spool_folder(store).glob("*.json")):
        try:
            events.append(_read_event(file))
        except FileNotFoundError:
            continue  # another process drained it meanwhile
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            unreadable.append(file)
    last_drain = None
    try:
        last_drain = _read_last_drain(spool_folder(store) / _LAST_DRAIN)
    except (OSError, ValueError, KeyError, TypeError):
        unreadable.append(spool_folder(store) / _LAST_DRAIN)
    return Spool(
        events=tuple(events),
        unreadable=tuple(unreadable),
        failures=tuple(_failures(store)),
        last_drain=last_drain,
    )


def keep_last_drain(store: Path, last: LastDrain) -> None:
    """Write down how a drain ended, in place of the one before; the spool must be there."""
    file = spool_folder(store) / _LAST_DRAIN
    temporary = file.with_suffix(".part")
    content = {"at": last.at.isoformat(), "prompts_left": last.prompts_left, "problems": last.problems}
    temporary.write_text(json.dumps(content), encoding="utf-8")
    temporary.replace(file)


def _read_last_drain(file: Path) -> LastDrain | None:
    if not file.is_file():
        return None
    content = json.loads(file.read_text("utf-8"))
    return LastDrain(
        at=datetime.fromisoformat(content["at"]),
        prompts_left=int(content["prompts_left"]),
        problems=tuple(map(str, content["problems"])),
    )


def _read_event(file: Path) -> HookEvent:
    content = json.loads(file.read_text("utf-8"))
    payload = content["payload"]
    paths = (payload.get("transcript_path"), payload.get("agent_transcript_path"))
    return HookEvent(
        file=file,
        at=datetime.fromisoformat(content["at"]),
        agent=str(content["agent"]),
        name=str(payload.get("hook_event_name") or ""),
        session=str(payload.get("session_id") or ""),
        transcripts=tuple(path for path in paths if isinstance(path, str) and path),
        directory=_text(payload.get("cwd")),
        prompt=_text(payload.get("prompt")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _failures(store: Path) -> Sequence[str]:
    file = spool_folder(store) / FAILURES
    return file.read_text("utf-8", errors="replace").splitlines() if file.is_file() else ()

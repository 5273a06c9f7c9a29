"""The spool of a store: events of coding agents, each a file, written by `tiermem_hook`, and statements."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tiermem_hook import FAILURES, SPOOL, write_durably

_STATEMENT, _REFUSED = "statement", "refused"
"""How the names of files with a statement end, and of those with one that cannot be stored."""
_ARGUMENTS = frozenset({"fact", "session", "sources", "speaker", "role", "said_at", "trust"})
"""What a statement may have for `Memory.remember`."""
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
class Statement:
    """A fact that was given to a process which may not write: for which space, of which agent of TierMem.

    `arguments` are those of `Memory.remember`.
    """

    file: Path
    space: str
    agent: str | None
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentActivity:
    """What drains took in of an agent so far: its last event, how many events, and how many turns were new.

    `untested` says which versions wrote transcripts that are newer than the newest one that was tested.
    """

    agent: str
    event: str
    at: datetime
    events: int = 0
    turns: int = 0
    untested: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LastDrain:
    """When a drain last ended, how many prompts it left for their transcripts, and what it could not do.

    The problems have no words of sessions. `agents` are those of whom this and earlier drains took events in.
    """

    at: datetime
    prompts_left: int
    problems: tuple[str, ...]
    agents: tuple[AgentActivity, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spool:
    """The events and statements that wait, the oldest first, the files that are none or were refused, and
    what hooks could not do.

    `last_drain` is `None` where none has ended yet.
    """

    events: tuple[HookEvent, ...]
    statements: tuple[Statement, ...]
    unreadable: tuple[Path, ...]
    failures: tuple[str, ...]
    last_drain: LastDrain | None


def spool_folder(store: Path) -> Path:
    """The folder of the events of a store."""
    return store / SPOOL


def newest_name(store: Path) -> str:
    """The name of the newest event or statement that waits; "" where none does."""
    folder = spool_folder(store)
    files = (*folder.glob("*.json"), *folder.glob(f"*.{_STATEMENT}"))
    return max((file.name for file in files), default="")


def keep_statement(store: Path, space: str, agent: str | None, arguments: Mapping[str, Any]) -> Path:
    """Write a fact into the spool, durably, for the process that writes its space."""
    content: dict[str, object] = {"space": space, "agent": agent, "arguments": arguments}
    return write_durably(spool_folder(store), content, suffix=_STATEMENT)


def refuse_statement(statement: Statement) -> None:
    """Keep a statement that cannot be stored under a name under which it is tried no more."""
    statement.file.rename(statement.file.with_suffix(f".{_REFUSED}"))


def is_refused(statement: Statement) -> bool:
    """Whether a statement was refused."""
    return statement.file.with_suffix(f".{_REFUSED}").exists()


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
    statements: list[Statement] = []
    for file in sorted(spool_folder(store).glob(f"*.{_STATEMENT}")):
        try:
            statements.append(_read_statement(file))
        except FileNotFoundError:
            continue  # as above
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            unreadable.append(file)
    unreadable += sorted(spool_folder(store).glob(f"*.{_REFUSED}"))
    last_drain = None
    try:
        last_drain = _read_last_drain(spool_folder(store) / _LAST_DRAIN)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        unreadable.append(spool_folder(store) / _LAST_DRAIN)
    return Spool(
        events=tuple(events),
        statements=tuple(statements),
        unreadable=tuple(unreadable),
        failures=tuple(_failures(store)),
        last_drain=last_drain,
    )


def keep_last_drain(store: Path, last: LastDrain) -> None:
    """Write down how a drain ended, in place of the one before; the spool must be there."""
    file = spool_folder(store) / _LAST_DRAIN
    temporary = file.with_suffix(".part")
    content = {
        "at": last.at.isoformat(),
        "prompts_left": last.prompts_left,
        "problems": last.problems,
        "agents": [{**asdict(one), "at": one.at.isoformat()} for one in last.agents],
    }
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
        agents=tuple(map(_read_activity, content.get("agents", ()))),
    )


def _read_activity(content: Mapping[str, Any]) -> AgentActivity:
    return AgentActivity(
        agent=str(content["agent"]),
        event=str(content["event"]),
        at=datetime.fromisoformat(content["at"]),
        events=int(content["events"]),
        turns=int(content["turns"]),
        untested=tuple(map(str, content["untested"])),
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


def _read_statement(file: Path) -> Statement:
    content = json.loads(file.read_text("utf-8"))
    if not content["arguments"].keys() <= _ARGUMENTS:
        raise ValueError("a statement with arguments that are not known")
    return Statement(
        file=file,
        space=str(content["space"]),
        agent=_text(content["agent"]),
        arguments={str(name): value for name, value in content["arguments"].items() if value is not None},
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _failures(store: Path) -> Sequence[str]:
    file = spool_folder(store) / FAILURES
    return file.read_text("utf-8", errors="replace").splitlines() if file.is_file() else ()

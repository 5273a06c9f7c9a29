"""One neutral turn for transcripts of coding agents, and the sessions that readers of them give.

Who speaks is decided by the reader of a format, from what its records say, never from a role alone: most
records with the role "user" are written by programs.
"""

from __future__ import annotations

import io
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any, Literal

from pagestore import SessionId, Turn
from tiermem.dialogue.error_location import record
from tiermem.dialogue.formats.source import DialogueSource
from tiermem.dialogue.ignored_paths import find_ignored_paths
from tiermem.dialogue.interface import Conversation, DialogueSession, Format
from tiermem.dialogue.messages import THINKING
from tiermem.dialogue.repository import repository_of
from tiermem.dialogue.times import parse_time
from tiermem.dialogue.turns_file import load_json
from tiermem.errors import InvalidInput
from tiermem.text.own_context import without_marked_blocks

Author = Literal["person", "agent", "program", "sub-agent"]
"""Who wrote a turn. A program is a tool, the shell or the agent's own machinery."""

Kind = Literal[
    "prompt",
    "command",
    "queued_prompt",
    "rejection",
    "answer",
    "reply",
    "plan",
    "tool_call",
    "tool_result",
    "summary",
]
"""What a turn is.

A command is a line for the agent's shell or menu (`/compact`, `! ls`), a queued prompt was typed while the
agent worked and is in no other record, a rejection has the words with which a tool call was refused, an
answer is one to a question of the agent, a plan is one that the agent hands to itself, a summary is that of a
compaction.
"""

NO_OUTPUT = "[no output]"
"""The text of a tool's result that has none."""

_VERSION = re.compile(r"\d{1,6}(?:\.\d{1,6}){0,5}(?=[-+ ]|\Z)", re.ASCII)
_TEXTS = ("text", "thinking", "question", "path")
"""The fields of a turn that have words."""

_SPEAKERS: Mapping[Author, tuple[str, str]] = {
    "person": ("user", "user"),
    "agent": ("assistant", "assistant"),
    "sub-agent": ("sub-agent", "assistant"),
    "program": ("tool", "tool"),
}
"""The speaker and the role of each author."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOrigin:
    """Where and by what a turn was made, as far as its record says: `None` where it does not."""

    agent: str
    agent_version: str | None = None
    model: str | None = None
    directory: str | None = None
    branch: str | None = None
    remote: str | None = None
    sub_agent: str | None = None
    parent_session: str | None = None

    def metadata(self) -> dict[str, Any]:
        """Return what is known, with the id of the repository."""
        return {
            "agent": self.agent,
            "agent_version": self.agent_version,
            "model": self.model,
            "repository": repository_of(self.directory, self.remote),
            "branch": self.branch,
            "directory": self.directory,
            "sub_agent": self.sub_agent,
            "parent_session": self.parent_session,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTurn:
    """One turn of a transcript. `record` and `block` identify it within its session, whatever its words are.

    `failed` is whether the result of a tool is an error, `path` the file that a call is about, `question`
    what was asked where the turn is an answer, `abandoned` whether a rewind left the turn on a branch that
    the session did not follow.
    """

    record: str
    block: int = 0
    author: Author
    kind: Kind
    text: str
    said_at: datetime | None
    place: TurnOrigin
    tool: str | None = None
    call_id: str | None = None
    exit_code: int | None = None
    failed: bool | None = None
    path: str | None = None
    question: str | None = None
    abandoned: bool = False
    thinking: str | None = None

    def turn(self) -> Turn:
        """Return the turn as it is stored."""
        speaker, role = _SPEAKERS[self.author]
        known = {
            "author": self.author,
            "kind": self.kind,
            "tool": self.tool,
            "call_id": self.call_id,
            "exit_code": self.exit_code,
            "failed": self.failed,
            "path": self.path,
            "question": self.question,
            "abandoned": self.abandoned or None,
            "record": self.record,
            THINKING: self.thinking,
            **self.place.metadata(),
        }
        return Turn(
            speaker=speaker,
            text=self.text,
            said_at=self.said_at,
            role=role,
            turn_id=f"{self.record}/{self.block}",
            metadata={key: value for key, value in known.items() if value is not None},
        )


@dataclass(slots=True)
class Transcript:
    """What a reader found: turns by session in the order of the file, titles, and what is no turn.

    `left_out` counts by kind what is not stored, `unknown` types of records that the reader does not know.
    """

    turns: dict[str, list[AgentTurn]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def add(self, session: str, turn: AgentTurn) -> None:
        """Add a turn, unless it has no words."""
        if turn.text.strip():
            self.turns.setdefault(session, []).append(turn)

    def conversations(self, form: Format, source: DialogueSource) -> tuple[Conversation, ...]:
        """Return one conversation with a session for each that has turns.

        It is without secrets, without what is about paths that are ignored and without what a hook of ours
        gave; its `left_out` counts each.
        """
        secrets = source.secrets
        self._remove_own_blocks()
        turns_with_paths = [turn for turns in self.turns.values() for turn in turns if turn.path is not None]
        paths = {turn: _absolute_path(turn) for turn in turns_with_paths}
        ignored = find_ignored_paths({*paths.values()}, source.skip_paths)
        about = frozenset(turn for turn, path in paths.items() if path in ignored.paths)
        self.notes.extend(ignored.problems)
        for name, turns in self.turns.items():
            kept = _without_calls(turns, about)
            self.left_out["call about an ignored path, or its result"] += len(turns) - len(kept)
            self.turns[name] = kept
        redacted: Counter[str] = Counter()

        def redact(text: str) -> str:
            text, counts = secrets.redact(text)
            redacted.update(counts)
            return text

        sessions = tuple(
            DialogueSession(
                session=SessionId(f"{form}:{name}"),
                turns=tuple(_with_own_ids([without_secrets(turn, redact) for turn in turns])),
                title=redact(title) if (title := self.titles.get(name)) is not None else None,
                has_records=True,
            )
            for name, turns in self.turns.items()
        )
        left_out = +self.left_out + Counter({f"secret: {name}": count for name, count in redacted.items()})
        notes = list(self.notes)
        if self.unknown:
            kinds = ", ".join(f"{kind} ({number})" for kind, number in sorted(self.unknown.items()))
            notes.append(f"records of types that are not known were left out: {kinds}")
        return (
            Conversation(space_hint=None, sessions=sessions, notes=tuple(notes), left_out=dict(left_out)),
        )

    def _remove_own_blocks(self) -> None:
        """Remove what a hook of ours gave to the agent; a turn of nothing else is none."""
        for name, turns in self.turns.items():
            rest = [replace(turn, text=without_marked_blocks(turn.text)) for turn in turns]
            changed = sum(one.text != other.text for one, other in zip(rest, turns, strict=True))
            self.left_out["memory that a hook gave"] += changed
            self.turns[name] = [turn for turn in rest if turn.text.strip()]

    def note_version(self, version: str | None, newest: tuple[int, ...]) -> None:
        """Note a version of the agent that is newer than the newest one that was tested, once."""
        parts = version_parts(version)
        if parts and parts > newest:
            tested = ".".join(map(str, newest))
            note = f"written by version {version}, newer than {tested}, {_UNTESTED}"
            if note not in self.notes:
                self.notes.append(note)


_UNTESTED = "the newest that was tested"


def untested_version(note: str) -> str | None:
    """What a note of a conversation says of a version that was not tested; `None` of any other note."""
    return note.rpartition(": ")[2] if note.endswith(_UNTESTED) else None


def _without_calls(turns: Sequence[AgentTurn], about: Collection[AgentTurn]) -> list[AgentTurn]:
    """The turns without some calls and their results; a reply that makes such a call keeps its words."""
    calls = {turn.call_id for turn in turns if turn in about} - {None}
    kept: list[AgentTurn] = []
    for turn in turns:
        if turn.kind == "reply" and turn in about:
            words = turn.text.rpartition("\n[calls ")[0]
            kept.append(replace(turn, text=words, tool=None, call_id=None, path=None))
        elif turn not in about and not (turn.kind == "tool_result" and turn.call_id in calls):
            kept.append(turn)
    return kept


def _absolute_path(turn: AgentTurn) -> str:
    """The path of a call, seen from where the agent was."""
    return posixpath.normpath(posixpath.join(turn.place.directory or "", turn.path or ""))


def without_secrets(turn: AgentTurn, redact: Callable[[str], str]) -> AgentTurn:
    """Return the turn with what `redact` leaves of its texts; its record and block stay."""
    texts: dict[str, Any] = {name: getattr(turn, name) for name in _TEXTS}
    changed: dict[str, Any] = {name: redact(text) for name, text in texts.items() if text is not None}
    return replace(turn, **changed)


def version_parts(version: str | None) -> tuple[int, ...]:
    """The numbers of a version, `2.1.33` as (2, 1, 33); empty where it has none."""
    found = _VERSION.match(version or "")
    return tuple(map(int, found[0].split("."))) if found is not None else ()


def _with_own_ids(turns: Sequence[AgentTurn]) -> Iterator[Turn]:
    """The turns as they are stored; a record that is in the file twice is one."""
    seen: set[tuple[str, int]] = set()
    for turn in turns:
        if (turn.record, turn.block) not in seen:
            seen.add((turn.record, turn.block))
            yield turn.turn()


def transcript_lines(
    source: DialogueSource, transcript: Transcript
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each JSON object of a transcript with the number of its line; what is none is skipped as unreadable.

    A last line without an end is still being written, or was cut off: it is noted and not skipped.
    """
    lines = source.text.split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if number == len(lines) and not _is_json(line):
            transcript.notes.append(f"line {number}, the last one, is cut off and was left out")
            continue
        values: list[Mapping[str, Any]] = []
        with record(f"line {number}"):
            value = load_json(line)
            if not isinstance(value, Mapping):
                raise InvalidInput("not a JSON object")
            values.append(value)
        yield from ((number, value) for value in values)


def _is_json(line: str) -> bool:
    try:
        load_json(line)
    except InvalidInput:
        return False
    return True


_FIRST_LINES = 40
"""Lines from the start among which a record that tells the format must be."""


def first_records(source: DialogueSource) -> Iterator[Mapping[str, Any]]:
    """The JSON objects among the first lines of a source that is lines of JSON, or begins with an object."""
    if source.ending not in (".jsonl", ".ndjson") and not source.text.lstrip().startswith("{"):
        return
    for line in islice(io.StringIO(source.text), _FIRST_LINES):
        try:
            value = load_json(line) if line.startswith("{") else None
        except InvalidInput:
            continue
        if isinstance(value, Mapping):
            yield value


def text_in(value: object) -> str | None:
    """A text that is not empty; `None` for anything else."""
    return value if isinstance(value, str) and value else None


def time_in(value: object) -> datetime | None:
    """The moment that a record names; `None` where it names none that can be read."""
    try:
        return parse_time(value)
    except InvalidInput:
        return None


def mapping_in(value: object) -> Mapping[str, Any]:
    """A mapping; an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def objects_in(value: object) -> list[Mapping[str, Any]]:
    """The mappings of a list; an empty list for anything else."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def mark_abandoned(turns: Sequence[AgentTurn], abandoned: frozenset[str]) -> list[AgentTurn]:
    """The turns, marked where their record is on a branch that a rewind left."""
    return [replace(turn, abandoned=True) if turn.record in abandoned else turn for turn in turns]

"""Transcripts of Claude Code (`~/.claude/projects/…/<session>.jsonl`): a session each, sub-agents apart.

Most records with the role "user" are no words of the person: results of tools, notices, summaries, prompts to
sub-agents. And words of the person are in other records: in the result of a tool call that they rejected, in
answers to questions, in records of the queue. See `docs/guide/coding-agents.md`.
"""

from __future__ import annotations

import bisect
import re
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from tiermem.dialogue.error_location import record
from tiermem.dialogue.formats.agent_turns import (
    NO_OUTPUT,
    AgentTurn,
    Author,
    Kind,
    Transcript,
    TurnOrigin,
    first_records,
    mapping_in,
    mark_abandoned,
    text_in,
    time_in,
    transcript_lines,
)
from tiermem.dialogue.formats.claude_code_texts import (
    answers_in,
    command_in,
    is_answered,
    is_plan,
    is_summary,
    own_words,
    program_text,
    shell_input,
    shell_output,
    words_of_refusal,
)
from tiermem.dialogue.formats.source import DialogueSource, FormatReader
from tiermem.dialogue.interface import Conversation, line_id
from tiermem.dialogue.messages import words_of

AGENT: Final = "claude-code"
_NEWEST_TESTED = (2, 1, 221)
"""The newest version whose records were tested."""

_MESSAGES = ("user", "assistant")
_WITHOUT_WORDS = frozenset(
    {
        "agent-name",
        "ai-title",
        "atis-latch",
        "attachment",
        "bridge-session",
        "custom-title",
        "file-history-snapshot",
        "frame-link",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "relocated",
        "result",
        "started",
        "summary",
        "system",
        "worktree-state",
    }
)
"""Types of records that hold no turn, but for a title, a command or a queued prompt."""
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle"}
"""Records with the title of a session, the one that counts most first."""


_PERSON = (None, "human", "cli")
"""The values of `origin.kind` of words of the person; records before 2.1.193 have none."""
_BLOCKS = 1_000
_ASKS = "AskUserQuestion"
_EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,9})\b")
_PATHS = ("file_path", "notebook_path", "path")


def _knows(source: DialogueSource) -> bool:
    return any(map(_is_of_claude_code, first_records(source)))


def _is_of_claude_code(entry: Mapping[str, Any]) -> bool:
    kind = entry.get("type")
    if kind in _MESSAGES:
        return isinstance(entry.get("sessionId"), str) and isinstance(entry.get("message"), Mapping)
    if kind == "summary":
        return isinstance(entry.get("leafUuid"), str)
    if kind == "file-history-snapshot":
        return isinstance(entry.get("snapshot"), Mapping)
    return isinstance(kind, str) and isinstance(entry.get("sessionId"), str)


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    reading = _Reading(source=source)
    for number, entry in transcript_lines(source, reading.transcript):
        with record(f"line {number}"):
            _read_entry(reading, number, entry)
    _add_queued_prompts(reading)
    transcript = reading.transcript
    abandoned = _abandoned_records(reading)
    for name, turns in transcript.turns.items():
        transcript.turns[name] = mark_abandoned(turns, abandoned)
    transcript.titles = {
        name: titles[kind]
        for name, titles in reading.titles.items()
        for kind in reversed(_TITLES)
        if kind in titles
    }
    return transcript.conversations(AGENT, source)


@dataclass(slots=True, kw_only=True)
class _QueuedPrompt:
    """A prompt that was typed while the agent worked: the lines where it entered the queue and left it.

    `position` is how many turns its session had then, `source_record` the record that it names as its own.
    """

    start: int
    line: int
    session: str
    position: int
    turn: AgentTurn
    is_attachment: bool
    source_record: str | None


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What was read so far.

    `tools` are the names of tools by the ids of calls, `prompts` the words of the person with their lines,
    `parents` the parent of each record, `waiting` the queue of each session, `queued` what left it.
    """

    source: DialogueSource
    transcript: Transcript = field(default_factory=Transcript)
    titles: dict[str, dict[str, str]] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    prompts: list[tuple[int, str]] = field(default_factory=list)
    prompt_parents: list[tuple[str, str]] = field(default_factory=list)
    parents: dict[str, str] = field(default_factory=dict)
    waiting: dict[str, deque[tuple[int, str]]] = field(default_factory=dict)
    queued: list[_QueuedPrompt] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)


def _read_entry(reading: _Reading, number: int, entry: Mapping[str, Any]) -> None:
    kind, uuid = text_in(entry.get("type")), text_in(entry.get("uuid"))
    if uuid is not None and (parent := text_in(entry.get("parentUuid"))) is not None:
        reading.parents.setdefault(uuid, parent)
    match kind:
        case "user" | "assistant":
            reading.transcript.note_version(text_in(entry.get("version")), _NEWEST_TESTED)
            _Record.from_entry(reading, number, entry).read()
        case "queue-operation":
            _read_queue(reading, number, entry)
        case "attachment" if mapping_in(entry.get("attachment")).get("type") == "queued_command":
            _read_queued_command(reading, number, entry)
        case "system" if entry.get("subtype") == "local_command":
            _Record.from_entry(reading, number, entry).read_text(text_in(entry.get("content")) or "", 0)
        case "custom-title" | "ai-title":
            title, session = text_in(entry.get(_TITLES[kind])), text_in(entry.get("sessionId"))
            if title is not None and session is not None:
                reading.titles.setdefault(session, {})[kind] = title
        case _ if kind not in _WITHOUT_WORDS:
            reading.transcript.unknown[str(kind)] += 1


@dataclass(slots=True, kw_only=True)
class _Record:
    """A record with words, and what is known of all of its turns."""

    reading: _Reading
    number: int
    entry: Mapping[str, Any]
    session: str
    uuid: str
    said_at: datetime | None
    place: TurnOrigin

    @classmethod
    def from_entry(cls, reading: _Reading, number: int, entry: Mapping[str, Any]) -> _Record:
        own = text_in(entry.get("sessionId")) or reading.source.session
        is_apart = entry.get("isSidechain") is True
        agent_id = text_in(entry.get("agentId")) if is_apart else None
        has_parent = agent_id is not None and not own.endswith(agent_id)
        model = text_in(mapping_in(entry.get("message")).get("model"))
        return cls(
            reading=reading,
            number=number,
            entry=entry,
            session=f"{own}/agent-{agent_id}" if has_parent else own,
            uuid=text_in(entry.get("uuid")) or line_id(number),
            said_at=time_in(entry.get("timestamp")),
            place=TurnOrigin(
                agent=AGENT,
                agent_version=text_in(entry.get("version")),
                model=model,
                directory=text_in(entry.get("cwd")),
                branch=text_in(entry.get("gitBranch")),
                sub_agent=(text_in(entry.get("attributionAgent")) or agent_id) if is_apart else None,
                parent_session=f"{AGENT}:{own}" if has_parent else None,
            ),
        )

    @property
    def is_of_sub_agent(self) -> bool:
        return self.entry.get("isSidechain") is True

    def leave_out(self, why: str) -> None:
        """Count a part that is no turn."""
        self.reading.transcript.left_out[why] += 1

    def turn(self, author: Author, kind: Kind, text: str, block: int, **known: Any) -> AgentTurn:
        """Return a turn of this record."""
        return AgentTurn(
            record=self.uuid,
            block=block,
            author=author,
            kind=kind,
            text=text,
            said_at=self.said_at,
            place=self.place,
            **known,
        )

    def add(self, turn: AgentTurn) -> None:
        """Add a turn of this record; words of the person are remembered, to know queued prompts again."""
        self.reading.transcript.add(self.session, turn)
        if turn.author == "person":
            self.reading.prompts.append((self.number, turn.text.strip()))
            parent = text_in(self.entry.get("parentUuid"))
            if turn.kind == "prompt" and parent is not None:
                self.reading.prompt_parents.append((parent, self.uuid))

    def read(self) -> None:
        """Add the turns of the record."""
        content = mapping_in(self.entry.get("message")).get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        parts = [part for part in blocks if isinstance(part, Mapping)] if isinstance(blocks, list) else []
        if self.entry["type"] == "assistant":
            self._read_reply(parts)
            return
        for block, part in enumerate(parts):
            if part.get("type") == "tool_result":
                self._read_result(part, block)
        said = [(block, part) for block, part in enumerate(parts) if part.get("type") != "tool_result"]
        if said:
            self._read_said([part for _, part in said], said[0][0])

    # The agent

    def _read_reply(self, parts: Sequence[Mapping[str, Any]]) -> None:
        if mapping_in(self.entry.get("message")).get("model") == "<synthetic>":
            self.leave_out("text of the program in place of a reply")
            return
        author: Author = "sub-agent" if self.is_of_sub_agent else "agent"
        said: list[str] = []
        start = 0
        for block, part in enumerate(parts):
            kind = part.get("type")
            if kind in ("thinking", "redacted_thinking"):
                self.leave_out("hidden reasoning")
                if thought := text_in(part.get("thinking")):
                    self.reading.thoughts.append(thought)
            elif kind in ("tool_use", "server_tool_use"):
                self._add_reply(author, said, start, call=part)
                said, start = [], block + 1
            elif kind != "text":
                said.append(words_of(part))
            elif (text := text_in(part.get("text"))) is not None and text.strip() != "(no content)":
                said.append(text)
        self._add_reply(author, said, start, call=None)

    def _add_reply(
        self, author: Author, said: Sequence[str], block: int, *, call: Mapping[str, Any] | None
    ) -> None:
        """Add a turn of what was said and the call after it."""
        known: dict[str, Any] = {}
        if call is not None:
            given = mapping_in(call.get("input"))
            known = {
                "tool": text_in(call.get("name")),
                "call_id": text_in(call.get("id")),
                "path": next((path for key in _PATHS if (path := text_in(given.get(key)))), None),
            }
            if known["tool"] and known["call_id"]:
                self.reading.tools[known["call_id"]] = known["tool"]
            said = [*said, words_of(call)]
        if not said:
            return
        if self.reading.source.keep_thinking and self.reading.thoughts:
            known["thinking"] = "\n".join(self.reading.thoughts)
        self.reading.thoughts.clear()
        kind: Kind = "reply" if call is None or len(said) > 1 else "tool_call"
        self.add(self.turn(author, kind, "\n".join(said), block, **known))

    # Results of tools

    def _read_result(self, part: Mapping[str, Any], block: int) -> None:
        content = part.get("content")
        text = words_of(content) if isinstance(content, str | list) else ""
        call_id = text_in(part.get("tool_use_id")) or text_in(self.entry.get("sourceToolUseID"))
        known: dict[str, Any] = {"tool": self.reading.tools.get(call_id or ""), "call_id": call_id}
        is_error = part.get("is_error")
        refused = words_of_refusal(text) if is_error is True else None
        asked = known["tool"] == _ASKS or (known["tool"] is None and is_answered(text))
        answers = answers_in(text, mapping_in(self.entry.get("toolUseResult"))) if asked else ()
        count = 0
        for count, (question, answer) in enumerate(answers, start=1):
            # A second answer takes a number behind those of the blocks, which are few.
            place = block + _BLOCKS * (count - 1)
            self.add(self.turn("person", "answer", answer, place, question=question, **known))
        if refused:
            self.add(self.turn("person", "rejection", refused, block, failed=True, **known))
        if refused or count:
            return
        code = _EXIT.match(text.lstrip()) if is_error is True else None
        self.add(
            self.turn(
                "program",
                "tool_result",
                text if text.strip() else NO_OUTPUT,
                block,
                exit_code=int(code[1]) if code is not None else None,
                failed=is_error if isinstance(is_error, bool) else None,
                **known,
            )
        )

    # Texts under the role "user"

    def _read_said(self, parts: Sequence[Mapping[str, Any]], block: int) -> None:
        texts = [part for part in parts if part.get("type") == "text"]
        text = "\n".join(text for part in texts if (text := own_words(text_in(part.get("text")) or "")))
        if len(texts) < len(parts):
            others = [words_of(part) for part in parts if part.get("type") != "text"]
            text = "\n".join(one for one in (text, *others) if one)
        if not text.strip():
            self.leave_out("context of the editor or the program")
        elif self.entry.get("isCompactSummary") is True or is_summary(text):
            self.add(self.turn("agent", "summary", text, block))
        elif self.entry.get("isMeta") is True:
            self.leave_out("text of the program to the agent")
        elif self.is_of_sub_agent:
            self.add(self.turn("agent", "prompt", text, block))
        else:
            self.read_text(text, block)

    def read_text(self, text: str, block: int) -> None:
        """Add what a text is that the record gives as the person's."""
        origin = mapping_in(self.entry.get("origin")).get("kind")
        is_of_tool = "sourceToolUseID" in self.entry and text.lstrip().startswith("<command-")
        if (why := program_text(text)) is not None:
            self.leave_out(why)
        elif self.entry.get("promptSource") == "system" or is_of_tool:
            self.leave_out("text of the program to the agent")
        elif origin not in _PERSON:
            self.add(self.turn("program", "prompt", text, block))
        elif (command := command_in(text)) is not None:
            self.add(self.turn("person", "command", command, block))
        elif (shell := shell_input(text)) is not None:
            self.add(self.turn("person", "command", shell, block, tool="shell"))
        elif outputs := shell_output(text):
            self.add(self.turn("program", "tool_result", outputs, block, tool="shell"))
        elif is_plan(text):
            self.add(self.turn("agent", "plan", text, block))
        elif self.entry["type"] == "system":
            self.leave_out("output of a command of the agent")
        else:
            self.add(self.turn("person", "prompt", text, block))


# The queue


def _read_queue(reading: _Reading, number: int, entry: Mapping[str, Any]) -> None:
    """Follow the queue: what was removed went to the agent in the middle of its turn.

    What was dequeued is a prompt of its own further on, and what was taken back was not sent.
    """
    session = text_in(entry.get("sessionId")) or reading.source.session
    waiting = reading.waiting.setdefault(session, deque())
    content, operation = text_in(entry.get("content")), entry.get("operation")
    if operation == "enqueue" and content is not None:
        waiting.append((number, content))
    elif operation == "popAll":
        waiting.clear()
    elif operation in ("dequeue", "remove"):
        start, text = _leave_queue(waiting, number, content)
        if operation == "remove" and entry.get("reason") in (None, "absorbed_mid_turn") and text:
            _queue(_Record.from_entry(reading, number, entry), text, start=start)


def _leave_queue(waiting: deque[tuple[int, str]], number: int, content: str | None) -> tuple[int, str | None]:
    """The line and words of what leaves the queue: the first, or the first with these words."""
    if content is None:
        return waiting.popleft() if waiting else (number, None)
    found = next((one for one in waiting if one[1] == content), None)
    if found is None:
        return number, content
    waiting.remove(found)
    return found


def _read_queued_command(reading: _Reading, number: int, entry: Mapping[str, Any]) -> None:
    """A prompt that went to the agent in the middle of its turn, as newer versions record it."""
    attachment = mapping_in(entry.get("attachment"))
    origin = mapping_in(attachment.get("origin")).get("kind")
    is_of_person = attachment.get("commandMode") in (None, "prompt", "bash") and origin in _PERSON
    prompt = attachment.get("prompt")
    if not is_of_person or attachment.get("isMeta") is True or entry.get("isSidechain") is True:
        reading.transcript.left_out["prompt of a program (queue)"] += 1
    elif isinstance(prompt, str | list):
        source = text_in(attachment.get("source_uuid"))
        _queue(_Record.from_entry(reading, number, entry), words_of(prompt), start=number, source=source)


def _queue(said: _Record, text: str, *, start: int, source: str | None = None) -> None:
    """Keep a queued prompt until all prompts are known; `start` is the line where it entered the queue."""
    reading, entry, words = said.reading, said.entry, own_words(text)
    if (why := program_text(words)) is not None:
        said.leave_out(why)
        return
    uuid = text_in(entry.get("uuid"))
    reading.queued.append(
        _QueuedPrompt(
            start=start,
            line=said.number,
            session=said.session,
            position=len(reading.transcript.turns.get(said.session, [])),
            turn=replace(
                said.turn("person", "queued_prompt", words, 0),
                record=uuid or f"queue-{entry.get('timestamp') or said.number}",
            ),
            is_attachment=uuid is not None,
            source_record=source,
        )
    )


def _add_queued_prompts(reading: _Reading) -> None:
    """Add the queued prompts that are in no other record, where they went to the agent."""
    records = {turn.record for turns in reading.transcript.turns.values() for turn in turns}
    prompts = sorted(reading.prompts)
    queued_words = {one.turn.text.strip() for one in reading.queued}
    kept: list[_QueuedPrompt] = []
    blocks: Counter[str] = Counter()
    for one in sorted(reading.queued, key=lambda queued: not queued.is_attachment):
        words = one.turn.text.strip()
        same = _same_prompt(one, prompts, queued_words)
        if same is not None and same[1] == words:
            del prompts[bisect.bisect_left(prompts, same)]
        if same is None and one.source_record not in records:
            kept.append(replace(one, turn=replace(one.turn, block=blocks[one.turn.record])))
            blocks[one.turn.record] += 1
            if one.is_attachment:
                bisect.insort(prompts, (one.line, words))
    for one in sorted(kept, key=lambda one: (one.position, one.line), reverse=True):
        reading.transcript.turns.setdefault(one.session, []).insert(one.position, one.turn)
    waiting = sum(len(queue) for queue in reading.waiting.values())
    if waiting:
        reading.transcript.left_out["prompt that waits in the queue"] += waiting


def _same_prompt(
    queued: _QueuedPrompt, prompts: Sequence[tuple[int, str]], others: Collection[str]
) -> tuple[int, str] | None:
    """The prompt that a queued one became, with its line; `None` if it is in no other record.

    Looked for between where it entered the queue and the first prompt after it left it that was not queued:
    the same words may be typed again later.
    """
    words = queued.turn.text.strip()
    for at in range(bisect.bisect_left(prompts, (queued.start, "")), len(prompts)):
        line, prompt = prompts[at]
        if prompt == words or f"\n{words}\n" in f"\n{prompt}\n":
            return line, prompt
        if line > queued.line and prompt not in others:
            return None
    return None


# Branches


def _abandoned_records(reading: _Reading) -> frozenset[str]:
    """The records on branches that a rewind left: below all but the last of prompts with one parent."""
    last: dict[str, str] = {}
    left: set[str] = set()
    for parent, uuid in reading.prompt_parents:
        if parent in last and last[parent] != uuid:
            left.add(last[parent])
        last[parent] = uuid
    if not left:
        return frozenset()
    is_left = dict.fromkeys(left, True)
    for uuid in reading.parents:
        path: list[str] = []
        at: str | None = uuid
        while at is not None and at not in is_left:
            is_left[at] = False  # until it is known; parents may run in a circle
            path.append(at)
            at = reading.parents.get(at)
        if at is not None and is_left[at]:
            is_left.update(dict.fromkeys(path, True))
    return frozenset(uuid for uuid in reading.parents if is_left[uuid])


READER = FormatReader(name=AGENT, knows=_knows, read=_read)

"""What texts in transcripts of Codex are: words of the person, context of the program, results of tools."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tiermem.dialogue.formats.agent_turns import mapping_in, text_in
from tiermem.dialogue.formats.tags import text_in_tag
from tiermem.dialogue.messages import words_of

_OF_PROGRAMS = {
    "<environment_context>": "context of the editor or the program",
    "# AGENTS.md instructions": "instructions to the agent",
    "<INSTRUCTIONS>": "instructions to the agent",
    "<user_instructions>": "instructions to the agent",
    "<permissions": "instructions to the agent",
    "<collaboration_mode>": "instructions to the agent",
    "<personality_spec>": "instructions to the agent",
    "<apps_instructions>": "instructions to the agent",
    "<skills_instructions>": "instructions to the agent",
    "<plugins_instructions>": "instructions to the agent",
    "<model_switch>": "instructions to the agent",
    "<skill>": "instructions to the agent",
    "<turn_aborted>": "mark of an interruption",
    "<subagent_notification>": "notice of a sub-agent",
    "<goal_context>": "context of the editor or the program",
    "<codex_internal_context": "context of the editor or the program",
    "<hook_prompt": "text of a hook",
    "<hook_context": "text of a hook",
    "<heartbeat>": "prompt of an automation",
    "<EXTERNAL SESSION IMPORTED>": "turn imported from another agent",
    "Another language model started to solve this problem": "summary of a compaction, repeated",
}
"""How texts of programs begin, and what they are."""
_CONTEXT = ("# ", "<")
"""How context of an editor begins."""
_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n?", re.MULTILINE)
_IMAGE_TAG = re.compile(r"\A</?image(?: [^>]*)?>")
_IMPORT = "external-import-turn-"
_IMPORTED = "<EXTERNAL SESSION IMPORTED>"
_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (\d{1,9})[ \t\r]*$", re.MULTILINE)
_OUTPUT = re.compile(r"^Output:", re.MULTILINE)


def program_text(text: str) -> str | None:
    """What a text of a program is; `None` for any other."""
    opening = text.lstrip()
    return next((why for start, why in _OF_PROGRAMS.items() if opening.startswith(start)), None)


def words_of_prompt(text: str) -> str:
    """The words of the person in a prompt: what is below the heading of the request, after the context."""
    found = _REQUEST.search(text) if text.lstrip().startswith(_CONTEXT) else None
    return text if found is None else text[found.end() :].strip()


def without_blanks(text: str) -> str:
    """A text without blanks and line breaks: records join the parts of a message in different ways."""
    return "".join(text.split())


def shell_command(text: str) -> str | None:
    """The command that the person ran in the shell of the agent; `None` for any other text."""
    inside = text.lstrip().removeprefix("<user_shell_command>").lstrip()
    is_command = text.lstrip() != inside and inside.startswith("<command>")
    return text_in_tag(inside, "command") if is_command else None


def is_of_import(turn_id: object) -> bool:
    """Whether a turn was copied from another agent, by the id that the importer gives it."""
    return isinstance(turn_id, str) and turn_id.startswith(_IMPORT)


def is_marker_of_import(text: str) -> bool:
    """Whether a reply is the mark of the importer, below what it copied."""
    return text.strip() == _IMPORTED


def parts_of_prompt(message: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], Counter[str]]:
    """The parts of a message that are the person's, and what the others are, with how often.

    Newer versions name the kind of each part; in older ones texts of the program are known by how they begin.
    """
    content = message.get("content")
    parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
    parts = [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
    known = mapping_in(message.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
    kinds = known if isinstance(known, list) and len(known) == len(parts) else [None] * len(parts)
    if isinstance(known, list) and known and len(known) != len(parts):
        kinds = ["user.text" if all(map(_is_of_user, known)) else "other"] * len(parts)
    said: list[Mapping[str, Any]] = []
    left_out: Counter[str] = Counter()
    for part, kind in zip(parts, kinds, strict=True):
        text = text_in(part.get("text")) or ""
        why = None if kind is None or _is_of_user(kind) else "context of the editor or the program"
        why = why or program_text(text)
        if why is not None:
            left_out[why] += 1
        elif not _IMAGE_TAG.fullmatch(text.strip()):
            said.append(part)
    return said, left_out


def _is_of_user(kind: object) -> bool:
    return isinstance(kind, str) and kind.startswith("user.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a tool. `failed` and `exit_code` are `None` where it does not state them."""

    text: str
    exit_code: int | None = None
    failed: bool | None = None


def read_result(payload: Mapping[str, Any]) -> Result:
    """The result of a tool, without the JSON that older versions put around its text."""
    output = payload.get("output", payload.get("result"))
    wrapped = _wrapped_text(output)
    success = mapping_in(output).get("success")
    failed = not success if isinstance(success, bool) else None
    if wrapped is not None:
        text, code = wrapped
        return Result(text=text, exit_code=code, failed=failed)
    if isinstance(output, Mapping):
        output = output.get("content", output)
    text = output if isinstance(output, str) else _texts(output)
    head = text[: found.start()] if (found := _OUTPUT.search(text)) is not None else ""
    stated = _CODE.search(head)
    return Result(text=text, exit_code=None if stated is None else int(stated[1]), failed=failed)


def _wrapped_text(output: object) -> tuple[str, int | None] | None:
    """The text and exit code of `{"output": …, "metadata": …}`, also as text; `None` for any other."""
    if isinstance(output, str) and output.startswith("{"):
        try:
            output = json.loads(output)
        except ValueError:
            return None
    if not isinstance(output, Mapping):
        return None
    if isinstance(output.get("output"), str) and isinstance(output.get("metadata"), Mapping):
        code = output["metadata"].get("exit_code")
        return output["output"], code if isinstance(code, int) else None
    if isinstance(output.get("stdout"), str) and isinstance(output.get("exitCode"), int):
        said: Sequence[str] = (output["stdout"], text_in(output.get("stderr")) or "")
        return "\n".join(one for one in said if one), output["exitCode"]
    return None


def _texts(output: object) -> str:
    if output is None:
        return ""
    return words_of(output) if isinstance(output, list | Mapping) else str(output)

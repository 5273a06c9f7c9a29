"""The hooks in the settings of coding agents: what is added to a file, and what is taken out of it again.

Hooks of others are left as they are. Claude Code and Codex have the same form of hooks, in different files:
https://docs.claude.com/en/docs/claude-code/hooks and https://developers.openai.com/codex/hooks.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pagestore.files import new_file
from tiermem.errors import InvalidInput

HookedAgent = Literal["claude-code", "codex"]
"""The agents whose hooks are known."""
EVENTS: Final = ("SessionStart", "UserPromptSubmit", "SubagentStop", "PreCompact", "Stop", "SessionEnd")
"""The events at which the hook is run."""
_PROGRAMS: Final = ("tiermem_hook", "tiermem-hook")
"""By what a hook of ours is known in the settings."""
_SECONDS: Final = 10
"""How long an agent waits for the hook, which takes some hundredths of a second."""


_MODE: Final = 0o644
"""Who may read a file of settings that is new: everybody, as the agents' own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """Where an agent has its hooks: a file in a directory of its own, in the home directory or a project.

    `variable` names the environment variable that moves the former. `advice` is what a person must do once.
    """

    directory: str
    file: str
    variable: str
    advice: str = ""

    def path(self, project: Path | None) -> Path:
        """The file of a project, or that of the person."""
        if project is not None:
            return project / self.directory / self.file
        home = os.environ.get(self.variable)
        return (Path(home) if home else Path.home() / self.directory) / self.file


AGENTS: Final[Mapping[HookedAgent, AgentSettings]] = {
    "claude-code": AgentSettings(directory=".claude", file="settings.json", variable="CLAUDE_CONFIG_DIR"),
    "codex": AgentSettings(
        directory=".codex",
        file="hooks.json",
        variable="CODEX_HOME",
        advice="Codex runs a new hook only once you trust it: type /hooks there",
    ),
}


def read_file(file: Path) -> str:
    """The text of a file of settings; "" where there is none. Raises `InvalidInput` where it is no UTF-8."""
    try:
        return file.read_text("utf-8") if file.is_file() else ""
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{str(file)!r} is no UTF-8 text: {error}; repair it first") from error


def write_file(file: Path, text: str, *, mode_of: Path) -> None:
    """Make a file hold a text, or leave it as it was, also when the power goes. A link stays a link.

    Who may read it is as with `mode_of`, where that is there. Raises what the file system refuses.
    """
    target = file.resolve()
    mode = stat.S_IMODE(mode_of.stat().st_mode) if mode_of.is_file() else _MODE
    target.parent.mkdir(parents=True, exist_ok=True)
    with new_file(target, replace=True) as out:
        os.fchmod(out.fileno(), mode)
        out.write(text.encode())


def add_hooks(text: str, command: str) -> str:
    """The text of a file of settings with the hook at each event, in place of one that was installed before.

    It is as it was where that is the same. Raises `InvalidInput` where the text is no JSON object, or its
    hooks are none that are known.
    """
    if set(installed_events(text)) == set(EVENTS) and _commands(text) == {command}:
        return text
    settings = _without(text)
    hooks = settings.setdefault("hooks", {})
    for event in EVENTS:
        entry = {"type": "command", "command": command, "timeout": _SECONDS}
        hooks.setdefault(event, []).append({"hooks": [entry]})
    return _written(settings)


def remove_hooks(text: str) -> str:
    """The text without our hooks; as it is where there are none. Raises as `add_hooks` does."""
    return _written(_without(text)) if installed_events(text) else text


def installed_events(text: str) -> tuple[str, ...]:
    """The events at which a hook of ours is run. Raises as `add_hooks` does."""
    hooks = _hooks_in(_settings(text))
    return tuple(event for event, groups in hooks.items() if any(map(_is_ours, _handlers(groups))))


def _commands(text: str) -> set[str]:
    """The commands of our hooks."""
    groups = [group for one in _hooks_in(_settings(text)).values() for group in one]
    return {one["command"] for one in _handlers(groups) if _is_ours(one)}


def _settings(text: str) -> dict[str, Any]:
    try:
        settings = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise InvalidInput(f"these settings are no JSON: {error}; repair them first") from error
    if not isinstance(settings, dict):
        raise InvalidInput("these settings are no JSON object; repair them first")
    return settings


def _hooks_in(settings: Mapping[str, Any]) -> dict[str, Any]:
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise InvalidInput('the "hooks" of these settings are not lists by event; repair them first')
    return hooks


def _without(text: str) -> dict[str, Any]:
    """The settings without our hooks, and without groups and events that held nothing else."""
    settings = _settings(text)
    hooks = _hooks_in(settings)
    for event in list(hooks):
        groups = []
        for group in hooks[event]:
            handlers = _handlers([group])
            left = [one for one in handlers if not _is_ours(one)]
            if len(left) == len(handlers):
                groups.append(group)
            elif left:
                groups.append({**group, "hooks": left})
        if groups or not hooks[event]:
            hooks[event] = groups
        else:
            del hooks[event]
    if not hooks and "hooks" in settings:
        del settings["hooks"]
    return settings


def _handlers(groups: list[Any]) -> list[Any]:
    lists = [group.get("hooks") for group in groups if isinstance(group, dict)]
    return [handler for one in lists if isinstance(one, list) for handler in one]


def _is_ours(handler: Any) -> bool:
    command = handler.get("command") if isinstance(handler, dict) else None
    return isinstance(command, str) and any(program in command for program in _PROGRAMS)


def _written(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"

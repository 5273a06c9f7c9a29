"""The hooks in the settings of coding agents: what is added to a file, and what is taken out of it again.

Hooks of others are left as they are. Claude Code and Codex have the same form of hooks, in different files:
https://docs.claude.com/en/docs/claude-code/hooks and https://developers.openai.com/codex/hooks. Cursor has a
flat one: https://cursor.com/docs/agent/hooks. OpenCode loads a file of ours: https://opencode.ai/docs/plugins.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pagestore.files import new_file
from tiermem.apps.hooks import opencode_plugin
from tiermem.errors import InvalidInput

HookedAgent = Literal["claude-code", "codex", "cursor", "opencode"]
"""The agents whose hooks are known."""
EVENTS: Final = ("SessionStart", "UserPromptSubmit", "SubagentStop", "PreCompact", "Stop", "SessionEnd")
"""The events at which the hook is run, by the names of Claude Code and Codex."""
_EVENTS_OF_CURSOR: Final = (
    "sessionStart",
    "beforeSubmitPrompt",
    "subagentStop",
    "preCompact",
    "stop",
    "sessionEnd",
)
"""The same events by the names of Cursor."""
_VERSION: Final = 1
"""The version of the hooks of Cursor that is known."""
_PROGRAMS: Final = ("tiermem_hook", "tiermem-hook")
"""By what a hook of ours is known in the settings."""
_SECONDS: Final = 10
"""How long an agent waits for the hook, which takes some hundredths of a second."""


_MODE: Final = 0o644
"""Who may read a file of settings that is new: everybody, as the agents' own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """Where an agent has its hooks: a file in a directory of the home directory, or a file in a project.

    `variable` names the environment variable that moves the former. `events` are those at which the hook is
    run, and `form` says how the file has them: JSON in groups of hooks or without, or a plug-in, which is all
    of the file. `advice` is what a person must do once.
    """

    directory: str
    file: str
    project_file: str
    variable: str | None = None
    events: tuple[str, ...] = EVENTS
    form: Literal["groups", "flat", "plugin"] = "groups"
    advice: str = ""

    def path(self, project: Path | None) -> Path:
        """The file of a project, or that of the person."""
        if project is not None:
            return project / self.project_file
        home = os.environ.get(self.variable) if self.variable is not None else None
        return (Path(home) if home else Path.home() / self.directory) / self.file


AGENTS: Final[Mapping[HookedAgent, AgentSettings]] = {
    "claude-code": AgentSettings(
        directory=".claude",
        file="settings.json",
        project_file=".claude/settings.json",
        variable="CLAUDE_CONFIG_DIR",
    ),
    "codex": AgentSettings(
        directory=".codex",
        file="hooks.json",
        project_file=".codex/hooks.json",
        variable="CODEX_HOME",
        advice="Codex runs a new hook only once you trust it: type /hooks there",
    ),
    "cursor": AgentSettings(
        directory=".cursor",
        file="hooks.json",
        project_file=".cursor/hooks.json",
        events=_EVENTS_OF_CURSOR,
        form="flat",
    ),
    "opencode": AgentSettings(
        directory=".config",
        file="opencode/plugins/tiermem.js",
        project_file=".opencode/plugins/tiermem.js",
        variable="XDG_CONFIG_HOME",
        events=opencode_plugin.EVENTS,
        form="plugin",
        advice="OpenCode loads the plug-in when it starts the next time",
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


def hook_command(agent: HookedAgent, store: Path) -> list[str]:
    """The command of the hook of an agent, which writes to a store."""
    # -P: an agent runs it in the folder of a project, whose modules are none of ours.
    return [sys.executable, "-P", "-m", "tiermem_hook", agent, str(store.resolve())]


def add_hooks(agent: AgentSettings, text: str, command: Sequence[str]) -> str:
    """The text of a file of settings with the hook at each event, in place of one that was installed before.

    It is as it was where that is the same. Raises `InvalidInput` where the text is no JSON object, its hooks
    are none that are known, or it is a plug-in of others.
    """
    if agent.form == "plugin":
        if text.strip() and not opencode_plugin.is_plugin(text):
            raise InvalidInput("a plug-in that is not of TierMem has the name of ours; rename it first")
        return opencode_plugin.write_plugin(command)
    line = shlex.join(command)
    if set(installed_events(agent, text)) == set(agent.events) and _commands(text) == {line}:
        return text
    settings = _without(text)
    if agent.form == "flat" and settings.setdefault("version", _VERSION) != _VERSION:
        raise InvalidInput(f"these hooks are of version {settings['version']!r}; {_VERSION} is known")
    hooks = settings.setdefault("hooks", {})
    for event in agent.events:
        entry = {"command": line, "timeout": _SECONDS}
        grouped = {"hooks": [{"type": "command", **entry}]}
        hooks.setdefault(event, []).append(entry if agent.form == "flat" else grouped)
    return _written(settings)


def remove_hooks(agent: AgentSettings, text: str) -> str:
    """The text without our hooks, "" of our plug-in; as it is where there are none. Raises as `add_hooks`."""
    if not installed_events(agent, text):
        return text
    return "" if agent.form == "plugin" else _written(_without(text))


def installed_events(agent: AgentSettings, text: str) -> tuple[str, ...]:
    """The events at which a hook of ours is run. Raises as `add_hooks` does, but for a plug-in of others."""
    if agent.form == "plugin":
        return agent.events if opencode_plugin.is_plugin(text) else ()
    hooks = _hooks_in(_settings(text))
    return tuple(event for event, entries in hooks.items() if any(map(_is_ours, _handlers(entries))))


def untrusted_events(file: Path, text: str, config: str) -> tuple[str, ...]:
    """The events of our hooks in a file of Codex of which its `config.toml` has no record of trust.

    A hook that was turned off there counts too. Whether the record is of the hook as it is now, Codex alone
    knows: it has a hash of it. Raises `InvalidInput` where the configuration is no TOML.
    """
    try:
        known = tomllib.loads(config)
    except ValueError as error:
        raise InvalidInput(f"the configuration of Codex is no TOML: {error}") from error
    hooks = known.get("hooks")
    states = hooks.get("state") if isinstance(hooks, dict) else None
    return tuple(
        event
        for event, groups in _hooks_in(_settings(text)).items()
        for number, group in enumerate(groups)
        for place, handler in enumerate(_handlers([group]))
        if _is_ours(handler) and not _is_trusted(states, f"{file}:{_snake_case(event)}:{number}:{place}")
    )


def _is_trusted(states: Any, key: str) -> bool:
    state = states.get(key) if isinstance(states, dict) else None
    return isinstance(state, dict) and bool(state.get("trusted_hash")) and state.get("enabled") is not False


def _snake_case(event: str) -> str:
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in event).removeprefix("_")


def _commands(text: str) -> set[str]:
    """The commands of our hooks."""
    entries = [entry for one in _hooks_in(_settings(text)).values() for entry in one]
    return {one["command"] for one in _handlers(entries) if _is_ours(one)}


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
        left = [entry for one in hooks[event] for entry in _without_ours(one)]
        if left or not hooks[event]:
            hooks[event] = left
        else:
            del hooks[event]
    if not hooks and "hooks" in settings:
        del settings["hooks"]
    return settings


def _without_ours(entry: Any) -> list[Any]:
    """A handler or a group of them: as it is, the group with those of others, or nothing."""
    handlers = _handlers([entry])
    left = [one for one in handlers if not _is_ours(one)]
    if len(left) == len(handlers):
        return [entry]
    return [{**entry, "hooks": left}] if left else []


def _handlers(entries: list[Any]) -> list[Any]:
    """The handlers of an event, which are entries themselves, or in the groups that the entries are."""
    handlers: list[Any] = []
    for entry in entries:
        group = entry.get("hooks") if isinstance(entry, dict) else None
        handlers.extend(group if isinstance(group, list) else [entry])
    return handlers


def _is_ours(handler: Any) -> bool:
    command = handler.get("command") if isinstance(handler, dict) else None
    return isinstance(command, str) and any(program in command for program in _PROGRAMS)


def _written(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"

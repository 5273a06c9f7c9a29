"""Writes a plug-in of Claude Code: `python -m tiermem.apps.hooks.claude_code_plugin FOLDER STORE`.

It has the hooks that `tiermem hook install claude-code` adds to settings, an MCP server of the space of the
repository, and a skill. It runs this Python, so it is for this machine.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import tiermem
from tiermem.apps.hooks import settings

_SKILL = Path(__file__).with_name("SKILL.md")


def write_plugin_files(store: Path) -> dict[str, str]:
    """Return the texts of the files of the plug-in for a store, by their paths in its folder."""
    manifest = {
        "name": "tiermem",
        "version": tiermem.__version__,
        "description": "Keeps sessions in memory, word for word, and reads them again.",
    }
    server = {
        "command": sys.executable,
        "args": ["-P", "-m", "tiermem", "mcp", "--repository", "--store", str(store.resolve())],
    }
    command = settings.hook_command("claude-code", store)
    return {
        ".claude-plugin/plugin.json": _as_text(manifest),
        "hooks/hooks.json": settings.add_hooks(settings.AGENTS["claude-code"], "", command),
        ".mcp.json": _as_text({"mcpServers": {"tiermem": server}}),
        "skills/memory/SKILL.md": _SKILL.read_text("utf-8"),
    }


def _as_text(value: Mapping[str, object]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the plug-in into a folder."""
    _, folder, store = sys.argv
    for name, text in write_plugin_files(Path(store).expanduser()).items():
        file = Path(folder, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

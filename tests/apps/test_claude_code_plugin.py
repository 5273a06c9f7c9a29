"""The plug-in of Claude Code: the hooks that `hook install` writes, a server that starts, and a skill."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

import tiermem
from tests.apps.test_commands import as_json
from tests.apps.test_hooks import repository

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of a store that is not there yet, with a blank in its name."""
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    return tmp_path / "my memory"


@pytest.fixture
def plugin(store: Path, tmp_path: Path) -> Path:
    """The folder of a plug-in."""
    command = [sys.executable, "-m", "tiermem.apps.hooks.claude_code_plugin", "plugin", store.name]
    for _ in range(2):
        subprocess.run(command, check=True, cwd=tmp_path)
    return tmp_path / "plugin"


def read_json(file: Path) -> Any:
    return json.loads(file.read_text())


def test_the_plugin_has_the_files_of_one(plugin: Path) -> None:
    files = {str(file.relative_to(plugin)) for file in plugin.rglob("*") if file.is_file()}
    assert files == {".claude-plugin/plugin.json", "hooks/hooks.json", ".mcp.json", "skills/memory/SKILL.md"}
    manifest = read_json(plugin / ".claude-plugin" / "plugin.json")
    assert (manifest["name"], manifest["version"]) == ("tiermem", tiermem.__version__)


def test_its_hooks_are_those_that_an_installation_writes(plugin: Path, store: Path, tmp_path: Path) -> None:
    (tmp_path / "loom").mkdir()
    as_json(store, "hook", "install", "claude-code", "--project", str(tmp_path / "loom"))
    installed = read_json(tmp_path / "loom" / ".claude" / "settings.json")
    assert read_json(plugin / "hooks" / "hooks.json") == installed
    assert str(store) in json.dumps(installed)


@pytest.mark.anyio
async def test_its_server_makes_the_space_of_the_repository_and_has_the_tools_of_the_skill(
    plugin: Path, store: Path, tmp_path: Path
) -> None:
    (server,) = read_json(plugin / ".mcp.json")["mcpServers"].values()
    loom = repository(tmp_path / "loom")
    (loom / "json.py").write_text("raise SystemExit('a module of the project')")
    given = StdioServerParameters(
        command=server["command"], args=server["args"], env=dict(os.environ), cwd=loom
    )
    async with Client(stdio_client(given)) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
    assert [name for name in tiermem.spaces(store) if name.startswith("loom-")]
    _, front, text = (plugin / "skills" / "memory" / "SKILL.md").read_text().split("---\n", 2)
    assert re.match(r"name: memory\ndescription: .{40,1000}\n$", front)
    assert set(re.findall(r"`(\w+)`", text)) - {"tiermem", "sources"} <= tools


def test_make_writes_it_into_the_build_folder() -> None:
    command = [
        "make",
        "--no-print-directory",
        "--dry-run",
        "--old-file=.venv/.installed",
        "plugin",
        "STORE=/my memory",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    module = "tiermem.apps.hooks.claude_code_plugin"
    assert done.stdout.splitlines()[-1].endswith(f"-m {module} build/claude-code-plugin '/my memory'")

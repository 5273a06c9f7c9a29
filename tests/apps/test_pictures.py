"""What the pictures of the guide show is what is printed: `python docs/images/ways.py` draws them.

Those of the frameworks are held to by `tests/adapters` (`make test-adapters`).
"""

import json
import re
import runpy
import shlex
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from typer.testing import CliRunner

import tiermem
from tests.pictures import in_picture, words
from tiermem.apps.cli.app import app
from tiermem.apps.http.app import application
from tiermem.apps.http.keys import Keys
from tiermem.apps.http.service import Service

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs/images"


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The script that draws."""
    monkeypatch.setattr(sys, "path", [str(IMAGES), *sys.path])
    return runpy.run_path(str(IMAGES / "ways.py"))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "92")


def typed(command: str, _folder: Path) -> str:
    """What a command of ours prints."""
    done = CliRunner().invoke(app, shlex.split(command)[1:], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def posted(command: str, folder: Path) -> str:
    """What curl and jq print of a request: the fields that are picked out of the answer."""
    request, _, picked = command.partition(" | jq ")
    _, _, address, *_, body = shlex.split(request)
    path = address.removeprefix(":8000")

    async def answer() -> Any:
        served = application(Service(folder / "memory", keys=Keys(folder / "keys.json"), engine="local"))
        transport = httpx.ASGITransport(served)
        async with (
            served.router.lifespan_context(served),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
        ):
            return (await client.post(path, json=json.loads(body))).json()

    given = anyio.run(answer)
    lines = []
    for path in shlex.split(picked)[0].split(", "):
        found = given
        for step in re.findall(r"\w+", path):
            found = found[int(step) if step.isdigit() else step]
        lines.append(json.dumps(found, ensure_ascii=False))
    return "\n".join(lines)


def called(command: str, folder: Path) -> str:
    """What the example of an agent over MCP prints, with its server in this process."""
    from mcp import Client

    from tiermem.apps.mcp.server import server

    _, script, store, said = shlex.split(command)
    agent = runpy.run_path(str(ROOT / script))

    async def run() -> str:
        async with (
            await tiermem.AsyncMemory.open(folder / store, engine="local") as memory,
            Client(server(memory, as_user=True)) as client,
        ):
            return str(await agent["converse"](client, agent["by_rules"], said))

    return anyio.run(run)


@pytest.mark.parametrize(
    ("name", "run"), [("ask", typed), ("moving", typed), ("serve", posted), ("mcp", called)]
)
def test_a_picture_shows_what_is_printed(ways: dict[str, Any], tmp_path: Path, name: str, run: Any) -> None:
    shown = ways["shown"](ways["WAYS"][name], run, tmp_path)
    assert words(in_picture((IMAGES / f"{name}.svg").read_text())) == words(shown)


def test_every_way_in_has_a_picture_that_a_page_shows(ways: dict[str, Any]) -> None:
    pages = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    assert [name for name in ways["WAYS"] if f"images/{name}.svg)" not in pages] == []
    assert [name for name in ways["WAYS"] if not (IMAGES / f"{name}.svg").exists()] == []

"""Makes the pictures of the guide's ways into a memory: each what a terminal showed when it was run.

python docs/images/ways.py [NAME…], with what it needs: a framework for `with_…`, curl and jq for `serve`
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen

from terminal import WIDTH, draw

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SAID = "My dog Biscuit is allergic to chicken."
ASKED = "What is Biscuit allergic to?"
MEM0 = {"id": "1", "memory": "User's dog Biscuit is allergic to chicken", "user_id": "ann"}
SECONDS = 300

PASTES = dict(
    re.findall(
        r"^```python (\w+)[\w.]*\n(.*?)^```",
        (ROOT / "docs/guide/frameworks.md").read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
)
"""The guide's paste for each framework, by the package it needs."""
EXAMPLES = ("llm", "opentelemetry")
"""Those whose paste is no program, or prints what is other each time: their example is run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Commands as somebody types them, one after the other in one folder, and files that lie there.

    `server` runs meanwhile.
    """

    commands: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()
    server: str = ""


def _post(operation: str, **given: str) -> str:
    body = shlex.quote(json.dumps(given))
    return f"curl -s :8000/v1/{operation} -H 'Content-Type: application/json' -d {body}"


WAYS = {
    "ask": Way(
        commands=("tiermem ingest chat.jsonl", f"tiermem ask {shlex.quote(ASKED)}"),
        files=(
            ("chat.jsonl", json.dumps({"speaker": "Ann", "text": SAID, "timestamp": "2024-05-08T13:56"})),
        ),
    ),
    "moving": Way(
        commands=("tiermem ingest memories.json", f"tiermem ask {shlex.quote(ASKED)}"),
        files=(("memories.json", json.dumps({"results": [MEM0]})),),
    ),
    "mcp": Way(
        commands=(
            f"python examples/mcp_agent.py memory {shlex.quote(SAID)}",
            f"python examples/mcp_agent.py memory {shlex.quote(ASKED)}",
        )
    ),
    "serve": Way(
        commands=(
            _post("remember", fact=SAID, speaker="Ann") + " | jq .unit.text",
            _post("ask", question=ASKED) + " | jq '.text, .support, .citations[0].quote'",
        ),
        server="tiermem serve",
    ),
    **{
        f"with_{name}": Way(
            commands=("python paste.py", "tiermem search Biscuit --kind turns --limit 2"),
            files=(("paste.py", paste),),
        )
        for name, paste in PASTES.items()
        if name not in EXAMPLES
    },
    **{f"with_{name}": Way(commands=(f"python examples/with_{name}.py",)) for name in EXAMPLES},
}


def shown(way: Way, run: Callable[[str, Path], str], folder: Path) -> str:
    """What a terminal shows of it, where `run` gives what a command prints in a folder."""
    for name, text in way.files:
        (folder / name).write_text(text, encoding="utf-8")
    typed = [f"\033[1m$ {way.server} &\033[0m\n"] if way.server else []
    typed += [f"\033[1m$ {one}\033[0m\n{run(one, folder).strip()}\n" for one in way.commands]
    return "\n".join(typed)


def in_shell(command: str, folder: Path) -> str:
    """What a command prints, run as it is typed; `python` and `tiermem` are of this environment."""
    typed = command.replace("examples/", f"{ROOT}/examples/")
    typed = typed.replace("curl -s :8000", "curl -s http://127.0.0.1:8000")
    done = subprocess.run(  # noqa: S602  # our own commands
        typed,
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env=_environment(),
        timeout=SECONDS,
    )
    return done.stdout


def _environment() -> dict[str, str]:
    known = {name: value for name, value in os.environ.items() if not name.startswith("TIERMEM_")}
    return known | {
        "COLUMNS": str(WIDTH),
        "FORCE_COLOR": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{known.get('PATH', '')}",
        "PYTHONPATH": str(ROOT),
    }


@contextmanager
def _serving(way: Way, folder: Path) -> Iterator[None]:
    """Inside, the server of a way answers, where it has one."""
    if not way.server:
        yield
        return
    command = [sys.executable, "-m", *way.server.split()]
    with subprocess.Popen(command, cwd=folder, env=_environment()) as server:  # noqa: S603
        try:
            for _ in range(SECONDS):
                try:
                    urlopen("http://127.0.0.1:8000/ready").close()
                    break
                except URLError:
                    time.sleep(1)
            yield
        finally:
            server.terminate()


def main(names: Iterable[str]) -> None:
    """Draw those that are named."""
    for name in names:
        with TemporaryDirectory() as folder, _serving(WAYS[name], Path(folder)):
            picture = draw(shown(WAYS[name], in_shell, Path(folder)), name)
        (HERE / f"{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or WAYS)

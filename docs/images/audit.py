"""Makes `audit.svg` beside it: what `tiermem audit` prints of a question of the demo.

python docs/images/audit.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from terminal import WIDTH, draw

PICTURE = Path(__file__).with_suffix(".svg")
QUESTION = "What is Mila allergic to?"


def printed() -> str:
    """What the command prints, with its colours."""
    with TemporaryDirectory() as folder:
        store = ["--store", str(Path(folder, "memory"))]
        _run("demo", *store, "--engine", "local")
        answers = json.loads(_run("answers", *store, "--space", "demo", "--json"))
        (answer,) = (one["id"] for one in answers["answers"] if one["question"] == QUESTION)
        return _run("audit", answer, *store, "--space", "demo", FORCE_COLOR="1")


def _run(*arguments: str, **environment: str) -> str:
    known = {name: value for name, value in os.environ.items() if not name.startswith("TIERMEM_")}
    known |= {"COLUMNS": str(WIDTH), **environment}
    command = [sys.executable, "-m", "tiermem", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=known).stdout  # noqa: S603


if __name__ == "__main__":
    PICTURE.write_text(draw(printed(), "audit"), encoding="utf-8")

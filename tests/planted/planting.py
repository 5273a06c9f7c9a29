"""Plants a bug in a copy of the repository and runs the tests that should find it."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.planted.bug import Bug

ROOT = Path(__file__).resolve().parents[2]
_LEFT_OUT = (".*", "__pycache__", "runs", "build", "dist", "*.egg-info")
_PATIENCE = 600.0
"""Seconds after which tests that do not end have found the bug: it hangs."""

_TESTS_FAILED = 1
_NO_TESTS = 5
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+::.+?)(?: - |$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a planted bug: the test that found it, or why none can be said to have."""

    found_by: str = ""
    survived: str = ""


def copy(to: Path) -> Path:
    """A copy of the repository in the new folder `to`, as bugs are planted in; nothing of it is shared."""
    shutil.copytree(ROOT, to, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    return to


def verdict(bug: Bug, tree: Path, *, quick: bool = False) -> Verdict:
    """Plant the bug in the copy, run the tests that should find it, and take it out again.

    `quick` runs the first of these tests alone, in the quick tier.

    A test has found it when it fails with the bug and passes without. Both times `ast.unparse` has formatted
    the file, so a test that fails because of the format has not found the bug.
    """
    file = tree / bug.file
    code = file.read_text(encoding="utf-8")
    tests = ("--quick", bug.found_by[0]) if quick else bug.found_by
    with _replaced(file, bug.planted(code)):
        ran = _pytest(tree, "-x", *tests)
    if ran is None:
        return Verdict(found_by="tests that never end")
    if ran.returncode in (0, _NO_TESTS):
        return Verdict(survived="all tests pass" if ran.returncode == 0 else "no tests ran")
    failed = _FAILED.search(ran.stdout)
    if ran.returncode != _TESTS_FAILED or failed is None:
        return Verdict(survived=f"the tests could not be run: {ran.stdout.strip()[-200:]}")
    with _replaced(file, ast.unparse(ast.parse(code))):
        again = _pytest(tree, *tests[:1] if quick else (), failed[1])
    if again is None or again.returncode != 0:
        return Verdict(survived=f"{failed[1]} fails without the bug too")
    return Verdict(found_by=failed[1])


@contextmanager
def _replaced(file: Path, code: str) -> Iterator[None]:
    before = file.read_text(encoding="utf-8")
    _write(file, code)
    try:
        yield
    finally:
        _write(file, before)


def _write(file: Path, code: str) -> None:
    """Write code that is newer than the file was, so that Python uses no compiled file of before."""
    newer = file.stat().st_mtime + 10
    file.write_text(code, encoding="utf-8")
    os.utime(file, (newer, newer))


def _pytest(tree: Path, *asked: str) -> subprocess.CompletedProcess[str] | None:
    """The tests as they ran; None where they did not end."""
    command = [sys.executable, "-m", "pytest", "--no-header", "-rfE", "-p", "no:xdist", *asked]
    changed = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": str(tree), "COLUMNS": "500"}
    try:
        return subprocess.run(
            command,
            cwd=tree,
            env={**os.environ, **changed},
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None

"""A program that never closes its memory ends all the same, and keeps what was acknowledged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tiermem

OPENED = """
import sys, tiermem
memory = tiermem.open(sys.argv[1], engine="local", distil=sys.argv[2])
memory.add([f"Ann: The boat has {n} sails." for n in range(30)], session="s1")
"""


def run_to_end(address: Path | str, *, distil: str, then: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", OPENED + then, str(address), distil],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("distil", ["inline", "background", "deferred"])
def test_a_memory_never_closed_does_not_keep_the_program_alive(address: Path | str, distil: str) -> None:
    found = run_to_end(address, distil=distil, then="memory.ask('How many sails?')")
    assert (found.returncode, found.stderr) == (0, "")
    with tiermem.open(address, create=False, engine="local") as memory:
        assert memory.stats().turns == 30
        assert memory.verify().ok


def test_an_error_nobody_caught_ends_the_program_with_that_error(address: Path | str) -> None:
    found = run_to_end(address, distil="background", then="raise ValueError('of the caller')")
    assert found.returncode == 1
    assert found.stderr.splitlines()[-1] == "ValueError: of the caller"


def test_a_memory_that_was_closed_has_nothing_left_to_do_at_the_end(address: Path | str) -> None:
    found = run_to_end(address, distil="inline", then="memory.close(); memory.close()")
    assert (found.returncode, found.stderr) == (0, "")

"""A row on real small file systems: a memory used where the disk is nearly full, in a process of its own.

A file system is mounted in a namespace of the child alone, so nothing stays behind and no right is needed
beyond that of making one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from tempfile import TemporaryDirectory

from tests.torture.harness import Missing, Outcome, Row, Share

PLACES = (
    *((size, None) for size in (300, 700, 80_000, 140_000)),
    *((400_000, left) for left in (20, 60, 100, 1_000, 40_000)),
)
"""The size of a file system in kB, and how much of it a memory that was filled finds left: all at first."""

USE = """
import faulthandler
import os
import sys
from pathlib import Path
import tiermem
from pagestore.errors import PageStoreError
from tiermem.errors import TierMemError
from tiermem.embedding.hashed import HashEmbedder

faulthandler.enable()  # says where, on the error output
place, left = Path(sys.argv[1]), int(sys.argv[2])

def said(n):
    return {"speaker": "Ann", "text": f"We moved the chair {n} to shed {n + 7}.", "id": f"t{n}"}

def used():
    try:
        opened = tiermem.open(place / "store", engine="local", embedder=HashEmbedder(), page_tokens=200)
        with opened as memory:
            for step in (
                lambda: [memory.add(said(n)) for n in range(40)],
                memory.flush,
                lambda: memory.ask("Where did Ann move the chair 3?"),
                lambda: memory.erase(turn="t3", session="main", reason="asked to"),
                memory.stats,
            ):
                try:
                    step()
                except TierMemError:
                    pass
    except TierMemError:
        pass

used()
if left >= 0:
    disk = os.statvfs(place)
    with open(place / "filler", "wb") as filler:
        filler.write(bytes(disk.f_bavail * disk.f_frsize - left * 1024))
    used()
    used()
print("done")
"""


@cache
def can_mount() -> bool:
    """Whether a process may mount a file system of its own here."""
    if shutil.which("unshare") is None:
        return False
    with TemporaryDirectory() as place:
        return subprocess.run(_mounted(place, 300, "true"), capture_output=True, check=False).returncode == 0


def on_a_small_disk(*, kilobytes: int, left: int | None) -> str:
    """What a memory says at the end of its use there; the number of the signal where one ended it."""
    with TemporaryDirectory() as place:
        use = [sys.executable, "-c", USE, place, "-1" if left is None else str(left)]
        ran = subprocess.run(_mounted(place, kilobytes, *use), capture_output=True, text=True, check=False)
        return ran.stdout.strip() if ran.returncode == 0 else f"ended by {ran.returncode}: {ran.stderr[:600]}"


def _mounted(place: str, kilobytes: int, *command: str) -> list[str]:
    script = f'mount -t tmpfs -o size={kilobytes}k none "$0" && exec "$@"'
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", script, place, *command]


def nearly_full(share: Share) -> Outcome:
    """A memory opened, used, erased from and reopened there; every error of a known kind, no signal."""
    if not can_mount():
        raise Missing("nobody may mount a file system here")
    outcome = Outcome()
    for case in share.cases:
        outcome.count += 1
        kilobytes, left = PLACES[case % len(PLACES)]
        ended = on_a_small_disk(kilobytes=kilobytes, left=left)
        outcome.demand(ended == "done", f"of {kilobytes} kB {left or 'all'} left: {ended}")
    return outcome


ROWS = (
    Row(
        name="small-disks",
        failure="a disk that is nearly full, under the embedded index",
        done="a memory opened, used, erased from and reopened on file systems of 300 kB to 140 MB, and of "
        "400 MB with 20, 60, 100, 1,000, 40,000 kB left; each in a process of its own, which no signal ends",
        unit="lives",
        count=90,
        share=9,
        work=nearly_full,
    ),
)

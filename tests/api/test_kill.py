"""kill -9 at any moment of an ingest: open again, ingest again, and everything is there once."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tiermem
from tiermem.embedding.hashed import HashEmbedder

TURNS = 120
INGEST = f"""
import sys, tiermem
from tiermem.embedding.hashed import HashEmbedder
with tiermem.open(sys.argv[1], engine="local", embedder=HashEmbedder(), page_tokens=60) as memory:
    print("open", flush=True)
    for n in range({TURNS}):
        text = f"On day {{n}} I counted {{n * 7}} geese by the Elbe."
        turn = {{"speaker": "Ann", "text": text, "id": f"t{{n}}"}}
        memory.add(turn, session=f"s{{n % 3}}")
        print(n, flush=True)
    memory.flush()
    print("done", flush=True)
"""


@pytest.mark.timeout(300)
def test_a_killed_ingest_loses_and_doubles_nothing(address: Path | str) -> None:
    chance = random.Random(0)
    acknowledged = -1
    for _ in range(4):
        acknowledged = max(acknowledged, killed_while_ingesting(address, after=chance.randrange(TURNS // 3)))
    with open_memory(address) as memory:
        kept = told(memory)
        assert set(range(acknowledged + 1)) <= set(kept)
    subprocess.run([sys.executable, "-c", INGEST, str(address)], check=True, stdout=subprocess.DEVNULL)
    with open_memory(address) as memory:
        assert told(memory) == list(range(TURNS))
        assert memory.verify().ok
        assert memory.stats().pages_pending == 0
        for info in memory.pages():
            on_page = [u for u in memory.units() if u.spans[0].page_id == info.id]
            assert len(on_page) == info.turns
            assert len({unit.text for unit in on_page}) == info.turns
        for unit in chance.sample(memory.units(), 10):
            assert memory.search(unit.text, kind="units", limit=1)[0].unit_id == unit.id


def open_memory(address: Path | str) -> tiermem.Memory:
    return tiermem.open(address, engine="local", embedder=HashEmbedder(), page_tokens=60)


def told(memory: tiermem.Memory) -> list[int]:
    """The number of every turn the memory holds, in order."""
    pages = [memory.page(info.id) for info in memory.pages()] + list(memory.open_pages())
    turns = [line.turn for page in pages for line in page.lines]
    return sorted(int(turn.turn_id[1:]) for turn in turns if turn is not None and turn.turn_id)


def killed_while_ingesting(address: Path | str, *, after: int) -> int:
    """Kill an ingest that said that so many turns were stored; the last turn it said was stored."""
    with subprocess.Popen(
        [sys.executable, "-c", INGEST, str(address)], stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "open\n"
        lines = [run.stdout.readline() for _ in range(after)]
        os.kill(run.pid, signal.SIGKILL)
        lines += run.stdout.read().splitlines()
    numbers = [int(line) for line in lines if line.strip().isdigit()]
    return max(numbers, default=-1)

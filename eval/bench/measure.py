"""Measures one engine with one number of turns, each phase in a process of its own.

`python -m eval.bench.measure PHASE ENGINE TURNS FOLDER` is such a process; it prints its figures as JSON.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from eval.bench.data import make_questions, make_turns
from eval.bench.engines import ENGINES, Engine

QUESTIONS = 40


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Processor time in milliseconds, memory and disk in megabytes, and `recall`: the share of the questions
    whose turn is among the first five found.
    """

    engine: str
    turns: int
    add: float
    """A turn."""
    open: float
    first: float
    """The first question after opening."""
    search: float
    context: float
    erase: float
    recall: float
    resident: float
    disk: float
    files: int


def measure(engine: str, turns: int) -> Measured:
    """Fill a folder, then open and use it in another process."""
    with TemporaryDirectory() as place:
        filled = _run("fill", engine, turns, place)
        files = [file for file in Path(place).rglob("*") if file.is_file()]
        disk = sum(file.stat().st_blocks * 512 for file in files) / 1e6
        used = _run("use", engine, turns, place)
    return Measured(engine=engine, turns=turns, disk=disk, files=len(files), **filled, **used)


def _run(phase: str, engine: str, turns: int, place: str) -> dict[str, float]:
    command = [sys.executable, "-m", "eval.bench.measure", phase, engine, str(turns), place]
    ran = subprocess.run(  # noqa: S603  # this interpreter
        command, stdout=subprocess.PIPE, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    measured: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return measured


def _fill(engine: Engine, turns: list[str], folder: Path) -> dict[str, float]:
    engine.open(folder)
    taken = _timed(lambda: engine.add(turns)) / len(turns)
    engine.close()
    return {"add": taken}


def _use(engine: Engine, turns: list[str], folder: Path) -> dict[str, float]:
    questions = make_questions(turns, QUESTIONS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    opened = _timed(lambda: engine.open(folder))
    first = _timed(lambda: engine.search(questions[0].text))
    taken: list[float] = []
    found: list[int] = []
    for question in questions:
        started = time.process_time()
        texts = engine.search(question.text)
        taken.append(1000 * (time.process_time() - started))
        found += [question.turn] if turns[question.turn] in texts else []
    contexts = [_timed(partial(engine.context, question.text)) for question in questions]
    resident = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
    erased = _timed(lambda: engine.erase(found[0]))
    engine.close()
    return {
        "open": opened,
        "first": first,
        "search": statistics.median(taken),
        "context": statistics.median(contexts),
        "erase": erased,
        "recall": len(found) / len(questions),
        "resident": resident,
    }


def _timed(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return 1000 * (time.process_time() - started)


def main(phase: str, engine: str, turns: str, place: str) -> None:
    """Print what a phase measured."""
    made = list(make_turns(int(turns)))
    work = _fill if phase == "fill" else _use
    print(json.dumps(work(ENGINES[engine](), made, Path(place))))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])

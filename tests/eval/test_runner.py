"""Runs that are cut off: nothing is lost, nothing is counted twice, and the report is the same again."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from eval.arrange import write_reports
from eval.folder import RunFolder
from eval.judge import ByWords
from eval.records import Begun, Epoch, Retrieved
from eval.runner import Participant, qa, replay, retrieval
from eval.systems import candidates
from eval.types import CaseId, Reply, Result, Session, System
from pagestore import Page
from tests.engines import quoting_engine
from tests.eval import tiny
from tiermem.errors import InvalidInput, TierMemError
from tiermem.model import Claim

pytestmark = pytest.mark.anyio


def asked(folder: RunFolder) -> Counter[tuple[str, str, int]]:
    return Counter((r.system, r.question, r.epoch) for r in folder.records() if isinstance(r, Result))


async def test_every_question_is_ranked_once_by_every_system(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "retrieval", ["bm25", "tiermem"])
    observer = tiny.Quiet()
    await retrieval(tiny.plan(folder, ["bm25", "tiermem"], observer=observer))
    ranked = Counter((r.system, r.question) for r in folder.records() if isinstance(r, Retrieved))
    assert set(ranked.values()) == {1}
    assert len(ranked) == observer.total == len(observer.steps) == 2 * 2 * 4


async def test_memories_are_cleared_away_when_their_case_is_done(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa", ["tiermem", "tiermem:raw"])
    await qa(tiny.plan(folder, ["tiermem", "tiermem:raw"]), ByWords())
    assert not list(folder.scratch.iterdir())


class Fails:
    """A system that gives out after so many answers."""

    name = "bm25"

    def __init__(self, after: int) -> None:
        self._left = after

    async def observe(self, sessions: Sequence[Session]) -> None:
        """Whatever."""

    async def ask(self, question: str, *, asked_at: object = None) -> Reply:
        self._left -= 1
        if self._left < 0:
            raise TierMemError("out of luck")
        return Reply(text="Biscuit")

    async def close(self) -> None:
        """Nothing to close."""


def failing(after: int) -> Participant:
    async def opened(case: CaseId, where: Path) -> System:
        return Fails(after)

    return Participant(name="bm25", home="bm25", open=opened)


async def test_a_case_cut_short_is_finished_at_the_question_it_stopped_at(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa")
    with pytest.raises(ExceptionGroup):
        await qa(tiny.plan(folder, taking_part=[failing(after=2)]), ByWords())
    assert 0 < asked(folder).total() < 8
    before = list(folder.records())
    resumed = RunFolder.resume(folder.path, folder.manifest)
    observer = tiny.Quiet()
    await qa(tiny.plan(resumed, observer=observer), ByWords())
    assert list(folder.records())[: len(before)] == before
    assert set(asked(folder).values()) == {1}
    assert asked(folder).total() == 8
    assert observer.total == len(observer.steps) < 8


async def test_a_run_that_is_done_does_nothing_when_resumed(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa")
    await qa(tiny.plan(folder), ByWords())
    before = (folder.path / "results.jsonl").read_bytes()
    await qa(tiny.plan(RunFolder.resume(folder.path, folder.manifest)), ByWords())
    assert (folder.path / "results.jsonl").read_bytes() == before


KILLED = """
import os, signal, sys
from pathlib import Path
import anyio
from eval.folder import RunFolder
from eval.judge import ByWords
from eval.runner import qa, replay
from tests.eval import tiny

class Deadly(tiny.Quiet):
    def step(self, system, case):
        super().step(system, case)
        if len(self.steps) == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)

folder = RunFolder.open(Path(sys.argv[1]))
plan = tiny.plan(folder, folder.manifest.systems, observer=Deadly())
if folder.manifest.kind == "qa":
    anyio.run(qa, plan, ByWords())
else:
    anyio.run(lambda: replay(plan, ByWords(), epochs=2))
"""


def kill_after(folder: RunFolder, answers: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder.path), str(answers)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


async def test_a_killed_run_loses_no_answer_it_recorded(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa", ["tiermem"])
    kill_after(folder, 3)
    recorded = [r for r in folder.records() if isinstance(r, Result)]
    assert len(recorded) == 3
    await qa(tiny.plan(RunFolder.resume(folder.path, folder.manifest), ["tiermem"]), ByWords())
    finished = [r for r in folder.records() if isinstance(r, Result)]
    assert finished[:3] == recorded
    assert set(asked(folder).values()) == {1}
    assert asked(folder).total() == 8


async def test_a_killed_replay_begins_the_case_again_and_counts_only_that(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "replay", ["tiermem"])
    kill_after(folder, 6)  # the first case is in its second epoch
    resumed = RunFolder.resume(folder.path, folder.manifest)
    await replay(tiny.plan(resumed, ["tiermem"]), ByWords(), epochs=2)
    assert [(r.case, r.attempt) for r in folder.records() if isinstance(r, Begun)] == [
        ("one", 1),
        ("one", 2),
        ("two", 1),
    ]
    whole = tiny.new_folder(tmp_path / "whole", "replay", ["tiermem"])
    await replay(tiny.plan(whole, ["tiermem"]), ByWords(), epochs=2)
    assert without_times(folder) == without_times(whole)


def without_times(folder: RunFolder) -> list[str]:
    """What counts of a replay, less what differs from run to run."""
    from eval.report.epochs import newest_attempts

    kept = []
    for record in newest_attempts(list(folder.records())):
        if isinstance(record, Result):
            # Units of equal rank come in the order of their ids, which a second memory draws anew:
            # which of them are read may differ.
            quiet = replace(record.reply, usage=Reply(text="").usage, steps=(), reads={}, answer_id=None)
            kept.append(repr(replace(record, seconds=0.0, attempt=0, reply=quiet)))
        elif isinstance(record, Epoch):
            kept.append(repr(replace(record, seconds=0.0, attempt=0, usage=Reply(text="").usage)))
    return sorted(kept)


async def test_a_torn_last_line_is_cut_off_and_its_question_asked_again(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa")
    await qa(tiny.plan(folder), ByWords())
    results = folder.path / "results.jsonl"
    results.write_bytes(results.read_bytes()[:-20])
    assert asked(folder).total() == 7
    await qa(tiny.plan(RunFolder.resume(folder.path, folder.manifest)), ByWords())
    assert asked(folder).total() == 8
    assert all(json.loads(line) for line in results.read_bytes().splitlines())


async def test_damage_in_the_middle_of_the_results_is_named_and_not_skipped(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa")
    await qa(tiny.plan(folder), ByWords())
    results = folder.path / "results.jsonl"
    lines = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(b"".join([lines[0], b'{"kind":"answer","half\n', *lines[2:]]))
    with pytest.raises(InvalidInput, match="line 2"):
        list(folder.records())


def test_a_folder_of_another_run_is_refused_and_the_difference_named(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa")
    other = replace(folder.manifest, checksum="1" * 64, machine="another machine")
    with pytest.raises(InvalidInput, match="checksum"):
        RunFolder.resume(folder.path, other)
    with pytest.raises(InvalidInput, match="--resume"):
        RunFolder.create(folder.path, folder.manifest)
    with pytest.raises(InvalidInput, match="no run"):
        RunFolder.open(tmp_path)
    assert RunFolder.resume(folder.path, replace(folder.manifest, machine="another")).path == folder.path


@pytest.mark.parametrize("kind", ["retrieval", "qa", "replay"])
async def test_a_second_report_from_the_folder_is_the_same_to_the_byte(tmp_path: Path, kind: str) -> None:
    folder = tiny.new_folder(tmp_path / "run", kind, ["tiermem"])  # type: ignore[arg-type]  # one of the three
    match kind:
        case "retrieval":
            await retrieval(tiny.plan(folder, ["tiermem"]))
        case "qa":
            await qa(tiny.plan(folder, ["tiermem"]), ByWords())
        case _:
            await replay(tiny.plan(folder, ["tiermem"]), ByWords(), epochs=2)
    first = [path.read_bytes() for path in write_reports([folder], tmp_path / "a")]
    second = [path.read_bytes() for path in write_reports([RunFolder.open(folder.path)], tmp_path / "b")]
    assert first == second


async def test_tier_1_stands_still_within_an_epoch_and_grows_between(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "replay", ["tiermem:no-recall"])
    await replay(tiny.plan(folder, ["tiermem:no-recall"], dataset=tiny.Tiny("one")), ByWords(), epochs=2)
    first, second = [r for r in folder.records() if isinstance(r, Epoch)]
    assert second.before == first.consolidated.units
    assert first.before + first.consolidated.added == first.consolidated.units
    assert first.consolidated.updated == 0
    assert first.consolidated.pending == 0


async def test_a_system_whose_tier_1_moves_within_an_epoch_is_found_out(tmp_path: Path) -> None:
    async def keep_nothing(pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
        """Every fact of the dialogue is left for write-back to add."""
        return ()

    engine = replace(quoting_engine(), distil=keep_nothing)
    given = replace(tiny.setup(lambda _: engine), settings={"write_back": "inline", "router": "always"})
    folder = tiny.new_folder(tmp_path / "run", "replay", ["tiermem:no-recall"])
    moving = tiny.plan(folder, ["tiermem:no-recall"], given=given)
    with pytest.raises(ExceptionGroup) as failure:
        await replay(moving, ByWords(), epochs=1)
    assert failure.group_contains(TierMemError, match="changed within epoch 1")


async def test_a_system_that_learns_nothing_cannot_be_replayed(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "replay")
    with pytest.raises(ExceptionGroup) as failure:
        await replay(tiny.plan(folder), ByWords(), epochs=1)
    assert failure.group_contains(InvalidInput, match="use qa")


async def test_several_questions_are_asked_at_once_and_each_is_recorded_once(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa", ["tiermem", "bm25"])
    many = tiny.Tiny(*(f"case{n}" for n in range(5)))
    await qa(tiny.plan(folder, ["tiermem", "bm25"], dataset=many, concurrency=4), ByWords())
    assert asked(folder).total() == 2 * 5 * 4
    assert set(asked(folder).values()) == {1}


async def test_what_a_system_is_handed_says_nothing_about_the_answers(tmp_path: Path) -> None:
    seen: list[Session] = []

    class Nosy(Fails):
        async def observe(self, sessions: Sequence[Session]) -> None:
            seen.extend(sessions)

    async def opened(case: CaseId, where: Path) -> System:
        return Nosy(after=99)

    folder = tiny.new_folder(tmp_path / "run", "qa")
    await qa(tiny.plan(folder, taking_part=[Participant(name="bm25", home="b", open=opened)]), ByWords())
    assert {session.id for session in seen} == {"s001", "s002", "s003", "s004"}
    assert all(turn.turn_id is None for session in seen for turn in session.turns)


def test_candidates_keep_the_order_they_were_named_in() -> None:
    assert [c.name for c in candidates(["bm25", "tiermem", "bm25"], tiny.setup())] == ["bm25", "tiermem"]

"""Any order of what a client and a machine can do to a log, beside a model of what it must then hold."""

from random import Random

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pagestore import Checkpoint, DiskLog, LogOptions, SessionId, SpaceId, Turn
from pagestore.errors import Conflict
from pagestore.log import Log
from pagestore.testing import proves
from tests.pagestore.faults.mutants import Mutant, acknowledge_before_sync, never_sync
from tests.pagestore.faults.simfiles import LOSSES, Crash, Loss, SimFiles
from tests.pagestore.faults.workload import Letters, found_in

SESSIONS = st.sampled_from([SessionId("a"), SessionId("b")])
TEXTS = st.sampled_from(["", "word", "w" * 90, "two\n[x] Eve: lines", "\ud800", "x" * 700])


OPTIONS = LogOptions(page_tokens=200, hard_limit=2, segment_bytes=2_500, counter=Letters())


class AnyLogMachine(RuleBasedStateMachine):
    """One log, wherever it is kept. `said` and `notes` are what it must hold."""

    checkpoints = Bundle("checkpoints")
    log: Log

    @initialize()
    def begin(self) -> None:
        self.said: list[tuple[SessionId, Turn | None]] = []
        self.notes: list[int] = []
        self.numbers = 0
        self.open()

    def open(self) -> None:
        """Open the log as `log`; the first time, an empty one."""
        raise NotImplementedError

    def stored(self) -> bytes:
        """What is stored of the log."""
        raise NotImplementedError

    @rule(session=SESSIONS, texts=st.lists(TEXTS, min_size=1, max_size=4))
    def append(self, session: SessionId, texts: list[str]) -> None:
        turns = [self._turn(text) for text in texts]
        appended = self.log.append(session, turns)
        assert appended.new == len(turns)
        self.said += [(session, turn) for turn in turns]

    @precondition(lambda self: self.said)
    @rule(which=st.integers(0, 50))
    def append_again(self, which: int) -> None:
        session, turn = self.said[which % len(self.said)]
        if turn is None:
            return
        head = self.log.head
        assert self.log.append(session, [turn]).new == 0
        assert self.log.head == head
        other = Turn(speaker=turn.speaker, text=turn.text + "!", turn_id=turn.turn_id)
        try:
            self.log.append(session, [self._turn("new"), other])
        except Conflict:
            assert self.log.head == head
        else:
            raise AssertionError("other words under a known id were taken")

    @rule(session=st.none() | SESSIONS)
    def seal(self, session: SessionId | None) -> None:
        self.log.seal(session)
        assert all(self.log.open_page(one) is None for one in self.log.sessions() if session in (None, one))

    @rule()
    def record(self) -> None:
        self.notes.append(self._number())
        self.log.record("note", {"number": self.notes[-1]})

    @rule(target=checkpoints)
    def checkpoint(self) -> Checkpoint:
        made = self.log.checkpoint()
        for info in self.log.pages():
            assert proves(self.log.prove(info.id, made), made)
        return made

    @precondition(lambda self: self.said)
    @rule(which=st.integers(0, 50))
    def erase(self, which: int) -> None:
        at = which % len(self.said)
        found = found_in(self.log)[at]
        session, turn = self.said[at]
        self.log.erase(found.page, found.seq, "asked to")
        self.said[at] = (session, None)
        if turn is not None:
            assert self._canary(turn) not in self.stored()

    @rule()
    def reopen(self) -> None:
        self.log.close()
        self.open()

    @invariant()
    def holds_what_was_said(self) -> None:
        if not hasattr(self, "log"):
            return
        found = found_in(self.log)
        assert [(turn.spoken.session, turn.spoken.turn) if turn.spoken else None for turn in found] == [
            (session, turn) if turn is not None else None for session, turn in self.said
        ]
        assert [r.body["number"] for r in self.log.records(kinds=frozenset({"note"}))] == self.notes

    @rule(checkpoint=checkpoints)
    def is_what_the_checkpoint_committed_to(self, checkpoint: Checkpoint) -> None:
        report = self.log.verify(checkpoint)
        assert report.ok, report.damage

    def _number(self) -> int:
        self.numbers += 1
        return self.numbers

    def _turn(self, text: str) -> Turn:
        number = self._number()
        return Turn(speaker="Ann", text=f"<t{number}>{text}", turn_id=f"k{number}")

    def _canary(self, turn: Turn) -> bytes:
        return turn.text[: turn.text.index(">") + 1].encode()


class LogMachine(AnyLogMachine):
    """A log on a disk that can lose its power."""

    def __init__(self) -> None:
        super().__init__()
        self.files = SimFiles()

    def open(self) -> None:
        self.log = DiskLog("/log", SpaceId("space"), options=OPTIONS, files=self.files)

    def stored(self) -> bytes:
        return b"".join(self.files.contents().values())

    @rule(loss=st.sampled_from(LOSSES), chance=st.randoms(use_true_random=False))
    def power_cut(self, loss: Loss, chance: Random) -> None:
        self.files = SimFiles(self.files.image(loss, chance))
        self.open()

    @rule(
        session=SESSIONS,
        text=TEXTS,
        operations=st.integers(1, 6),
        loss=st.sampled_from(LOSSES),
        chance=st.randoms(use_true_random=False),
    )
    def crash_while_appending(
        self, session: SessionId, text: str, operations: int, loss: Loss, chance: Random
    ) -> None:
        """The turn may be there or not; the client sends it again."""
        turn = self._turn(text)
        self.files.crash_at, self.files.tear = self.files.operations + operations, chance.randrange(500)
        try:
            self.log.append(session, [turn])
        except Crash:
            self.files = SimFiles(self.files.image(loss, chance))
            self.open()
            assert self.log.append(session, [turn]).new in (0, 1)
        self.files.crash_at = None
        self.said.append((session, turn))


TestLogMachine = LogMachine.TestCase
TestLogMachine.settings = settings(max_examples=40, stateful_step_count=25)


@pytest.mark.parametrize("mutant", [never_sync, acknowledge_before_sync])
def test_the_machine_finds_a_log_that_is_wrong(mutant: Mutant) -> None:
    tried = settings(
        max_examples=200, stateful_step_count=25, phases=[Phase.generate], database=None, derandomize=True
    )
    with mutant(), pytest.raises(Exception, match=r".*"):
        run_state_machine_as_test(LogMachine, settings=tried)

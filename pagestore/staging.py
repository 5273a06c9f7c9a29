"""Lines to be added to the log: numbered as they will be there, pages formed as turns arrive.

The rule: a page is sealed before the turn that no longer fits on it, in the same commit. Whatever part of
a commit survives a crash, the turns left waiting fit on one page or seal at the next opening.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pagestore.codec import Part, encode_record, encode_turn, page_id, times_of, turn_fields
from pagestore.errors import Conflict
from pagestore.line import Fields, Line, encode, line_of
from pagestore.measuring import MeasuredTurn, Words
from pagestore.options import LogOptions
from pagestore.pager import full_page
from pagestore.state import OpenTurn, State, Thread, runs_of
from pagestore.values import PageId, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn:
    """A turn already in the log: its number and, unless it was erased, its speaker and words."""

    seq: int
    words: Words | None


class Batch:
    """The lines of one commit, in order. Nothing is stored until `Journal.commit`."""

    def __init__(
        self,
        state: State,
        options: LogOptions,
        *,
        stored: Callable[[bytes], StoredTurn | None],
    ) -> None:
        self.lines: list[Line] = []
        self.raw: list[bytes] = []
        self._state = state
        self._options = options
        self._stored = stored
        self._staged: dict[bytes, StoredTurn | None] = {}
        self._threads: dict[Thread, tuple[list[OpenTurn], int]] = {}

    def add(self, kind: str, fields: Fields) -> Line:
        """Put one record at the end."""
        numbered = self._with_numbers(kind, fields)
        return self._stage(encode(numbered), numbered)

    def add_record(self, fields: Fields) -> Line:
        """Put one of the caller's records at the end. Its salt keeps anyone from guessing what was erased."""
        numbered = self._with_numbers("rec", {**fields, "z": self._options.salt(16).hex()})
        return self._stage(*encode_record(numbered))

    def add_turns(
        self, session: SessionId, turns: tuple[MeasuredTurn, ...]
    ) -> tuple[list[int], int, list[PageId]]:
        """Put turns at the end, sealing pages as they fill; those already stored are left out.

        Returns the number of every turn, how many are new, and the pages sealed. `Conflict` adds nothing.
        """
        self._refuse_conflicts(session, turns)
        seqs: list[int] = []
        sealed: list[PageId] = []
        new = 0
        for measured in turns:
            known = self._find(measured)
            if known is None:
                seq, pages = self._add_turn((session, measured.turn.agent), measured)
                known = StoredTurn(seq=seq, words=measured.words)
                sealed += pages
                new += 1
            if measured.key is not None:
                self._staged[measured.key] = known
            seqs.append(known.seq)
        return seqs, new, sealed

    def seal(self, thread: Thread) -> list[PageId]:
        """Seal every turn of the thread that waits."""
        sealed = self.seal_full(thread)
        waiting, _ = self._thread(thread)
        return [*sealed, self._seal(thread, len(waiting))] if waiting else sealed

    def seal_full(self, thread: Thread) -> list[PageId]:
        """Seal the pages that take no more turns."""
        sealed = []
        waiting, _ = self._thread(thread)
        while taken := full_page((turn.tokens for turn in waiting), self._options.page_tokens):
            sealed.append(self._seal(thread, taken))
        return sealed

    @property
    def _next_seq(self) -> int:
        return self._state.head + 1 + len(self.lines)

    def _with_numbers(self, kind: str, fields: Fields) -> Fields:
        return {"q": self._next_seq, "d": self._state.head, "t": kind, **fields}

    def _stage(self, raw: bytes, fields: Fields) -> Line:
        line = line_of(raw, fields)
        self.lines.append(line)
        self.raw.append(raw)
        return line

    def _thread(self, thread: Thread) -> tuple[list[OpenTurn], int]:
        """The turns waiting once this batch is stored, and the number of the page they are on."""
        if thread not in self._threads:
            known = self._state.sessions.get(thread)
            self._threads[thread] = (list(known.waiting), known.next_number) if known else ([], 1)
        return self._threads[thread]

    def _refuse_conflicts(self, session: SessionId, turns: tuple[MeasuredTurn, ...]) -> None:
        given: dict[bytes, Words] = {}
        for measured in turns:
            if measured.key is None:
                continue
            known = self._find(measured)
            before = given.setdefault(measured.key, measured.words)
            if before != measured.words or (known and known.words not in (None, measured.words)):
                raise Conflict(
                    f"turn {measured.turn.turn_id!r} of session {session!r} has other words in the log: give "
                    "the new words another id, or leave the words as they were"
                )

    def _find(self, measured: MeasuredTurn) -> StoredTurn | None:
        if measured.key is None:
            return None
        if measured.key not in self._staged:
            self._staged[measured.key] = self._stored(measured.key)
        return self._staged[measured.key]

    def _add_turn(self, thread: Thread, measured: MeasuredTurn) -> tuple[int, list[PageId]]:
        waiting, _ = self._thread(thread)
        sealed = []
        size = sum(turn.tokens for turn in waiting)
        if waiting and size + measured.parts[0].tokens > self._options.page_tokens:
            sealed.append(self._seal(thread, len(waiting)))
        seq = self._next_seq
        waiting += [self._put_turn(thread[0], part) for part in measured.parts]
        return seq, sealed + self.seal_full(thread)

    def _put_turn(self, session: SessionId, part: Part) -> OpenTurn:
        at, salt = self._options.clock(), self._options.salt(16).hex()
        raw, fields = encode_turn(self._with_numbers("turn", turn_fields(session, part, at, salt)))
        line = self._stage(raw, fields)
        return OpenTurn(line.seq, part.tokens, line.digest, times_of(fields))

    def _seal(self, thread: Thread, count: int) -> PageId:
        session, agent = thread
        waiting, number = self._thread(thread)
        turns = waiting[:count]
        sealed = page_id(self._state.space, session, number, (turn.digest for turn in turns))
        fields: Fields = {
            "id": sealed,
            "s": session,
            "p": number,
            "u": runs_of(turns),
            "w": sum(turn.tokens for turn in turns),
            "m": self._options.counter.name,
            "at": self._options.clock().isoformat(),
        }
        if agent is not None:
            fields["g"] = agent
        self.add("page", fields)
        del waiting[:count]
        self._threads[thread] = (waiting, number + 1)
        return sealed

"""Proofs for people who do not have the log: of records, of pages with their turns, of growth.

The rule: nothing is proved from a damaged log, and nothing against a checkpoint this log does not bear out.
"""

from __future__ import annotations

from pagestore.errors import Corrupt, PageNotFound, RecordNotFound
from pagestore.line import Line, decode
from pagestore.lines.interface import Lines
from pagestore.merkle import leaf_hash
from pagestore.reader import LogReader, rendered_length
from pagestore.state import State
from pagestore.values import (
    Checkpoint,
    GrowthProof,
    InclusionProof,
    PageId,
    PageInfo,
    ProvedPage,
    ProvedRecord,
    TurnLine,
)


class Prover:
    """Makes proofs from one log. The caller holds the lock under which `state` changes."""

    def __init__(self, lines: Lines, state: State, reader: LogReader) -> None:
        self._lines = lines
        self._state = state
        self._reader = reader

    def current_checkpoint(self) -> Checkpoint:
        """What a checkpoint would commit to now."""
        return self._state.current_checkpoint()

    def seal(self, page_id: PageId, checkpoint: Checkpoint) -> InclusionProof:
        """That the seal of a page is in the tree of `checkpoint`."""
        self._check(checkpoint)
        return self._inclusion(self._info(page_id, checkpoint).seq, checkpoint)

    def record(self, seq: int, checkpoint: Checkpoint) -> ProvedRecord:
        """Any record but a turn; `RecordNotFound` when there is none in the tree of `checkpoint`."""
        self._check(checkpoint)
        if self._state.records.row(seq) is None or seq >= checkpoint.size:
            raise RecordNotFound(f"record {seq} was not in the log before the checkpoint")
        return self._prove(seq, checkpoint)

    def page(self, page_id: PageId, checkpoint: Checkpoint) -> ProvedPage:
        """A page with the lines of its turns."""
        self._check(checkpoint)
        info = self._info(page_id, checkpoint)
        return ProvedPage(
            id=info.id,
            seal=self._prove(info.seq, checkpoint),
            turns=tuple(self._turn(line) for line in self._reader.lines_of(info)),
        )

    def growth(self, old: Checkpoint, new: Checkpoint) -> GrowthProof:
        """That the tree of `old` is the beginning of the tree of `new`."""
        self._check(old)
        self._check(new)
        if old.size > new.size:
            raise Corrupt(f"a log only grows: {old!r} is not older than {new!r}")
        path = tuple(node.hex() for node in self._state.tree.consistency(old.size, new.size))
        return GrowthProof(old=old, new=new, path=path)

    def _check(self, checkpoint: Checkpoint) -> None:
        tree = self._state.tree
        if checkpoint.space != self._state.space or not 0 <= checkpoint.size <= len(tree):
            raise Corrupt(f"{checkpoint!r} is not of this log; run `verify` with it")
        if tree.root(checkpoint.size).hex() != checkpoint.root:
            raise Corrupt(f"this log does not begin with {checkpoint!r}; run `verify` with it")

    def _info(self, page_id: PageId, checkpoint: Checkpoint) -> PageInfo:
        state = self._state
        info = state.pages.get(state.sealed_as.get(page_id, page_id))
        if info is None or info.seq >= checkpoint.size:
            raise PageNotFound(f"page {page_id!r} was not sealed before the checkpoint")
        return info

    def _prove(self, seq: int, checkpoint: Checkpoint) -> ProvedRecord:
        (raw,) = self._lines.read(seq)
        if b'"t":"void"' in raw and (fields := decode(raw)) is not None and fields["t"] == "void":
            raise RecordNotFound(f"record {fields['q']} was erased: its hash is left, its words are not")
        if leaf_hash(raw) != self._state.tree.leaf(seq):
            where = self._lines.where(seq)
            raise Corrupt(f"{where}: the record there is not the one that was written; run `verify`")
        return ProvedRecord(line=as_text(raw), proof=self._inclusion(seq, checkpoint))

    def _inclusion(self, seq: int, checkpoint: Checkpoint) -> InclusionProof:
        if seq >= checkpoint.size:
            raise RecordNotFound(f"record {seq} was not in the log before the checkpoint")
        tree, size = self._state.tree, checkpoint.size
        path = tuple(node.hex() for node in tree.inclusion(seq, size))
        return InclusionProof(leaf_hash=tree.leaf(seq).hex(), index=seq, size=size, path=path)

    def _turn(self, line: Line) -> TurnLine:
        length = rendered_length(line)
        if line.kind == "gone":
            return TurnLine(digest=line.digest.hex(), length=length, erased=True)
        (raw,) = self._lines.read(line.seq)
        return TurnLine(digest=line.digest.hex(), length=length, line=as_text(raw))


def as_text(raw: bytes) -> str:
    """A line of the log as text, without its line break; `as_bytes` gives back the very same bytes."""
    return raw.removesuffix(b"\n").decode("utf-8", "surrogatepass")


def as_bytes(line: str) -> bytes:
    """The bytes of a line of the log."""
    return line.encode("utf-8", "surrogatepass") + b"\n"

"""What a memory reports: what was stored and what was summarised."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pagestore import PageId, SessionId, SpaceId
from pagestore.backup import SavedSpace
from tiermem.api.leftovers import LEFT_TO_THE_OWNER, LeftoverScan
from tiermem.ledger import Tier1, Visibility
from tiermem.model import CitedSentence
from tiermem.writing import Erasure


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What `add` stored: turns given, how many of them were new, pages that sealed, of idle sessions too.

    Not stored were those that were `known`, that were `erased` before, and that were `empty`, without words.
    What was erased stays away: to have it back, give it another `turn_id`, or its file another session.
    Of those that are new, `edited` are later versions of messages that are stored already.
    """

    turns: int
    new: int
    sealed: tuple[PageId, ...]
    erased: int = 0
    empty: int = 0
    edited: int = 0

    @property
    def known(self) -> int:
        """How many were stored already."""
        return self.turns - self.new - self.erased - self.empty


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """A session, with the newest title that an import brought of its chat; `None` without one."""

    session: SessionId
    title: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flushed:
    """What `flush` and `index_pending` did. `pending` pages wait for the next run; `problems` says why.

    It says too which pages the index goes on without.
    """

    sealed: tuple[PageId, ...]
    distilled: int
    units: int
    rejected: int
    pending: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexed:
    """How many entries the rebuilt index holds."""

    units: int
    pages: int


NOT_REACHED = (
    "bundles, exports, copies and backups made before still hold what was erased, and so do the logs of a "
    "model's endpoint and of programs that were shown it"
)


NOT_REACHED_OF_A_DATABASE = (
    f"{NOT_REACHED}; the database keeps it in dead rows until VACUUM FULL of the tables in the schemas "
    "tiermem, tiermem_rows and tiermem_index, in its write-ahead log and the archive of that, and in dumps "
    "and replicas: these are its operator's"
)


REMAINS = (
    "the log keeps the names of sessions and agents (its proofs need them), the reason, and the numbers, "
    "times and hashes of what was erased"
)


NOT_LOOKED_FOR = (
    'names and numbers of fewer than four characters ("Bo", "b7"), other single words, years, and what turns '
    "that stay say too"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What an erasure took, and what a look through every file of the store for its words found.

    `recorded_calls` are calls destroyed in the recording of a `RecordingModel`. `remains` says what stays
    in the log: that turns and records were there (numbers, times, hashes), names of sessions and agents, and
    `reason`.
    `not_reached` says where else the words are: bundles, exports, copies and backups are to be destroyed by
    those who made them. `not_looked_for` says which words neither `leftovers` nor `erasure.also_said` is
    about.

    `proposed`: nothing was done. It lists what would go now, and no file was looked through;
    `recorded_calls` is `None` where the model cannot tell. `words` are the turns that would go, with who said
    them and when, of a long turn each part. A receipt of what was done has no words.
    """

    space: SpaceId
    reason: str
    erasure: Erasure
    recorded_calls: int | None
    leftovers: LeftoverScan
    remains: str = REMAINS
    not_reached: str = NOT_REACHED
    not_looked_for: str = NOT_LOOKED_FOR
    proposed: bool = False
    words: tuple[CitedSentence, ...] = ()


def redact_receipt(receipt: Receipt, before: Tier1, sees: Visibility) -> Receipt:
    """A receipt as an agent gets it: without what others had made of the words, or had said as well."""
    taken = receipt.erasure
    units = {unit.id for unit in before.all_units() if sees.unit(unit)}
    erasure = replace(
        taken,
        records=0,
        stripped=0,
        units=tuple(one for one in taken.units if one in units),
        narrowed=tuple(one for one in taken.narrowed if one in units),
        returned=tuple(one for one in taken.returned if one in units),
        findings=(),
        answers=tuple(one for one in taken.answers if sees.answer(before.answers[one])),
        also_said=(),
    )
    return replace(receipt, erasure=erasure, recorded_calls=0, leftovers=LEFT_TO_THE_OWNER)


KEEPS_ERASED = (
    "this copy keeps what is erased from the memory later: when you erase, destroy the copy or make it again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """A backup that was written: the file, its length, and what it holds of which space.

    `keeps` says what a copy means for what is erased later.
    """

    file: Path
    bytes: int
    spaces: tuple[SavedSpace, ...]
    keeps: str = KEEPS_ERASED


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """Dialogue that was written as JSON lines; what was erased is not in it.

    `stamped` are turns with a level of trust or an agent of their own: `tiermem ingest --stamps` reads these
    back too.
    """

    space: SpaceId
    sessions: int
    turns: int
    erased: int
    stamped: int
    keeps: str = KEEPS_ERASED

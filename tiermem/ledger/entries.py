"""What the ledger writes down, as typed entries, and their one form in the records of the log.

The rule: an entry is durable before anything that follows from it is done, and its form may only
grow. Fields that a newer version added are ignored, kinds that it added are skipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from pagestore import PageId, Record, SessionId
from pagestore.errors import Corrupt
from tiermem.ledger.older import in_todays_form
from tiermem.model import Answer, AnswerId, Finding, Rejected, SummaryUnit, UnitId, Usage, WriteBack

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True, kw_only=True)
class Distilled:
    """What became of one sealed page: units that link to it, claims that do not, literals no unit kept.

    `literals` is how many there were to keep; `None` in entries of before they were counted. `worded` is how
    many claims could not be confirmed: of these the words are units, and the wording is not kept. What was
    rejected, how many were worded, and the usage of pages that were read in one call stand in the first.
    `beside` are the other pages of that call; `None` in entries of before they were kept.
    """

    page_id: PageId
    units: tuple[SummaryUnit, ...]
    rejected: tuple[Rejected, ...]
    omissions: tuple[str, ...]
    made_by: str
    prompts: tuple[str, ...]
    usage: Usage
    literals: int | None = None
    worded: int = 0
    beside: tuple[PageId, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Redistilled:
    """What another look at a distilled page added, told what it had lost (`hints`). It takes nothing away.

    `omissions` are the literals that the page's units do not keep even now.
    """

    page_id: PageId
    units: tuple[SummaryUnit, ...]
    rejected: tuple[Rejected, ...]
    hints: tuple[str, ...]
    omissions: tuple[str, ...]
    literals: int
    made_by: str
    prompts: tuple[str, ...]
    usage: Usage
    worded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer with its trace, and the findings it leaves pending."""

    answer: Answer
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WroteBack:
    """The decision on one finding. `unit` is the added or the merged one (same id, next revision).

    What findings cost together (verifying those of one answer) stands in the first of them. `shown` are the
    units that whoever decided was shown beside the fact; `None` in entries of before they were kept.
    """

    write_back: WriteBack
    unit: SummaryUnit | None = None
    usage: Usage = field(default_factory=Usage)
    shown: tuple[UnitId, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """Units that no longer hold, say because their words were erased; what they superseded returns."""

    unit_ids: tuple[UnitId, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reinstated:
    """Units that were retired and hold again, why ever; what they supersede no longer does."""

    unit_ids: tuple[UnitId, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A unit that somebody stated as it stands, in a turn of its own, and the units that it corrects.

    Of what is corrected the words are no evidence any more; of what is superseded by newer words they are.
    """

    unit: SummaryUnit
    corrects: tuple[UnitId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was paid for work that left no other entry: it failed, or it only looked."""

    step: str
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """A step raised something unexpected on a page, and goes on without it; the newest of a step counts.

    `reason` tells error, place and message; `None` when the page went through after all, or is to be tried
    again. `step` is `distil`, `index` or `ask`.
    """

    page_id: PageId
    step: str
    reason: str | None

    def __str__(self) -> str:
        return f"page {self.page_id} is set aside ({self.step}): {self.reason}; `flush` tries it again"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAt:
    """A turn by the page it stands on (`o1:` while that is open) and its record number."""

    page_id: PageId
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasing:
    """These turns, and all that rests on them, are to go. Written before the first of it does.

    `whole_sessions` go with what was asked of them, `whole_space` with everything.
    """

    turns: tuple[TurnAt, ...]
    reason: str
    whole_sessions: tuple[SessionId, ...] = ()
    whole_space: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """The erasing that record `intent` announced is done, in the index as well.

    It counts; of answers alone it keeps the ids, which tell nothing, so that an audit can say what happened.
    """

    intent: int
    turns: int
    units: int
    findings: int
    answers: tuple[AnswerId, ...]


Entry = (
    Distilled
    | Answered
    | WroteBack
    | Retired
    | Reinstated
    | Stated
    | Redistilled
    | Spent
    | Erasing
    | Erased
    | SetAside
)

KINDS: Mapping[str, type[Entry]] = {
    "distilled": Distilled,
    "answered": Answered,
    "wrote-back": WroteBack,
    "retired": Retired,
    "reinstated": Reinstated,
    "stated": Stated,
    "redistilled": Redistilled,
    "spent": Spent,
    "erasing": Erasing,
    "erased": Erased,
    "set-aside": SetAside,
}
_KIND_OF = {entry_type: kind for kind, entry_type in KINDS.items()}


def kind_of(entry: Entry) -> str:
    """The record kind an entry is written as."""
    return _KIND_OF[type(entry)]


def encode(entry: Entry) -> dict[str, Any]:
    """The body of the record: survives JSON unchanged, lone surrogates included."""
    body: dict[str, Any] = _adapter(kind_of(entry)).dump_python(entry, mode="json")
    if isinstance(entry, Answered):
        decision = body["answer"]["trace"]["decision"]
        decision["confidence"] = decision["score"]
    return body


def decode(record: Record) -> Entry | None:
    """The entry a record holds, `None` for a kind this version does not know; raises `Corrupt`."""
    return decode_body(record.kind, record.body, seq=record.seq)


def decode_body(kind: str, body: Mapping[str, Any], *, seq: int) -> Entry | None:
    """The entry of a kind and a body, which record `seq` holds; see `decode`."""
    from pydantic import ValidationError

    if kind not in KINDS:
        return None
    try:
        return _adapter(kind).validate_python(in_todays_form(body))
    except ValidationError as error:
        raise Corrupt(f"record {seq} does not read as {kind!r}: {error}") from error


@cache
def _adapter(kind: str) -> TypeAdapter[Entry]:
    """Built once and late: importing pydantic is most of what importing TierMem would cost."""
    from pydantic import TypeAdapter

    return TypeAdapter(KINDS[kind])

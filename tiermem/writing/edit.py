"""What an operation on a proved fact does to Tier 1: pure, and in no case more than the evidence allows.

The engine proposes, this file decides. It may name only units it was shown. A merged text must be supported
by the quotes of its two sides, and must keep the content words of the unit and the literals of the fact;
otherwise the fact is added by itself, or its quotes to a unit with the same text.
A fact supersedes only what was said no later, and nothing that somebody trusted more has said. Units
of different trust are not merged: the lower would gain words it did not prove, the higher lose its standing.
Nor are those of different agents: they are not shown together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pagestore import Page, SessionId, Span
from tiermem.ledger import WroteBack
from tiermem.model import FindingId, LinkedFact, Op, SummaryUnit, UnitId, WriteBack
from tiermem.proof import CONTENT_FREE, grade
from tiermem.reasoning.interface import Operation
from tiermem.text import Source, fold_text, is_negated, stems, unsupported_literals
from tiermem.text.instructions import ASSISTANT, instruction_like
from tiermem.text.readings import speech
from tiermem.text.words import STOP_WORDS, stem, words
from tiermem.trust import DEFAULT_TRUST, TrustLevels
from tiermem.writing.importance import importance_of

_LONGEST_TEXT = 1_000
"""Characters of a merged text at most, as of any claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What spans hold: the words with speaker and time, when the last were said, the lowest trust, and the
    pages they are of.
    """

    sources: tuple[Source, ...]
    said_at: datetime | None
    trust: int
    level: str
    pages: tuple[Page, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedFact:
    """A finding whose fact was linked again, and what its spans hold."""

    finding_id: FindingId
    fact: LinkedFact
    session: SessionId
    grounds: Grounds
    agents: tuple[str, ...] = ()
    """To whom it belongs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A unit that was shown with the fact, and what its spans hold."""

    unit: SummaryUnit
    grounds: Grounds


def grounds_of(
    spans: Sequence[Span],
    pages: Sequence[Page],
    trust: TrustLevels = DEFAULT_TRUST,
    *,
    at_most: int | None = None,
) -> Grounds:
    """What these spans of these pages amount to, trusted no more than `at_most`."""
    by_id = {page.id: page for page in pages}
    sources: list[Source] = []
    ranks = [] if at_most is None else [at_most]
    for span in spans:
        page = by_id[span.page_id]
        turn = page.line_at(span.start).turn
        if turn is not None:
            sources.append(Source(page.words(span), turn.said_at, turn.speaker))
            ranks.append(trust.rank_of(turn))
    rank = min(ranks) if sources else 0
    return Grounds(
        sources=tuple(sources),
        said_at=latest(source.said_at for source in sources),
        trust=rank,
        level=trust.names[rank],
        pages=tuple(pages),
    )


def neighbour_of(unit: SummaryUnit, pages: Sequence[Page], trust: TrustLevels) -> Neighbour:
    """A unit with what its spans on these pages hold, trusted no more than the unit."""
    rank = trust.rank(unit.trust) if unit.trust is not None else None
    return Neighbour(unit=unit, grounds=grounds_of(unit.spans, pages, trust, at_most=rank))


def skip(finding_id: FindingId, reason: str) -> WroteBack:
    """The decision to write nothing."""
    return WroteBack(write_back=WriteBack(finding_id=finding_id, op="SKIP", reason=reason), shown=())


def settle(
    proposed: Operation,
    proved: ProvedFact,
    neighbours: Mapping[UnitId, Neighbour],
    *,
    unit_id: UnitId,
    made_by: str,
) -> WroteBack:
    """The entry for what was proposed, so far as the evidence allows; a malformed proposal is a SKIP."""
    malformed = _malformation(proposed, neighbours)
    if malformed:
        return skip(proved.finding_id, f"malformed decision: {malformed}")
    if proposed.op == "SKIP" and not _is_known_by_less_trusted(proposed, proved, neighbours):
        return skip(proved.finding_id, proposed.reason)
    superseded = _allowed_supersessions(proposed, proved, neighbours)
    older = _with_all_before(superseded, neighbours)
    notes = [proposed.reason]
    if len(superseded) < len(set(proposed.supersedes)):
        notes.append("what was said later, or by somebody trusted more, is not superseded")
    if proposed.op == "UPDATE" and proposed.target is not None:
        target = neighbours[proposed.target]
        text = (proposed.text or "").strip()
        refusal = why_not_one(text, target, proved.fact.claim, proved.grounds) or _why_not_verified(
            text, target, proved.grounds
        )
        if refusal is None:
            unit = _merge_unit(target, proved, text, older, made_by)
            return _wrote("UPDATE", proved, unit, superseded, notes)
        notes.append(f"merge refused: {refusal}")
        same = _find_same_text(proved, neighbours, superseded)
        if same is not None:
            notes.append(f"its quotes are added to unit {same.unit.id}, which has the same text")
            merged = _merge_unit(same, proved, same.unit.text, older, same.unit.made_by)
            unit = replace(merged, paraphrase=same.unit.paraphrase, support=same.unit.support)
            return _wrote("UPDATE", proved, unit, superseded, notes)
    return _wrote("ADD", proved, _new_unit(proved, unit_id, older, made_by), superseded, notes)


def _is_known_by_less_trusted(
    proposed: Operation, proved: ProvedFact, neighbours: Mapping[UnitId, Neighbour]
) -> bool:
    """Whether all that says the fact already is trusted less than the fact."""
    target = neighbours.get(proposed.target) if proposed.target is not None else None
    saying = [target] if target is not None else neighbours.values()
    return bool(neighbours) and all(each.grounds.trust < proved.grounds.trust for each in saying)


def _malformation(proposed: Operation, neighbours: Mapping[UnitId, Neighbour]) -> str | None:
    if proposed.op not in ("ADD", "UPDATE", "SKIP"):
        return f"unknown operation {proposed.op!r}"
    unknown = [unit_id for unit_id in proposed.supersedes if unit_id not in neighbours]
    if unknown:
        return f"supersedes {unknown[0]!r}, which was not shown"
    if proposed.op == "UPDATE" and proposed.target not in neighbours:
        return f"target {proposed.target!r} was not shown"
    if proposed.op == "UPDATE" and not (proposed.text or "").strip():
        return "UPDATE without a text"
    return None


def _allowed_supersessions(
    proposed: Operation, proved: ProvedFact, neighbours: Mapping[UnitId, Neighbour]
) -> tuple[UnitId, ...]:
    return tuple(
        unit_id
        for unit_id in dict.fromkeys(proposed.supersedes)
        if unit_id != proposed.target and _may_supersede(proved.grounds, neighbours[unit_id].grounds)
    )


def _with_all_before(
    superseded: Iterable[UnitId], neighbours: Mapping[UnitId, Neighbour]
) -> tuple[UnitId, ...]:
    """These units and what they had superseded: whichever of them goes, the rest stays superseded."""
    return tuple(
        dict.fromkeys(
            older for unit_id in superseded for older in (unit_id, *neighbours[unit_id].unit.supersedes)
        )
    )


def _may_supersede(newer: Grounds, older: Grounds) -> bool:
    if newer.trust < older.trust:
        return False
    if newer.said_at is None or older.said_at is None:
        return True
    return latest([older.said_at, newer.said_at]) == newer.said_at


def why_not_one(text: str, target: Neighbour, new: str, grounds: Grounds) -> str | None:
    """Why a merged text may not replace the text of a unit and a new fact; `None` when it may."""
    known = target.unit.text
    if len(text) > _LONGEST_TEXT:
        return "it is too long"
    if text.encode(errors="replace").decode() != text:
        return "it is not valid text"
    if instruction_like(text, speaker=ASSISTANT):
        return "it reads like an instruction"
    if grounds.trust < target.grounds.trust:
        return "its source is trusted less"
    if grounds.trust > target.grounds.trust:
        return "its source is trusted more"
    if not is_negated(known) == is_negated(new) == is_negated(text):
        return "a denial and an assertion are not merged"
    lost = unsupported_literals(f"{known}\n{new}", [text])
    return f"it forgets {lost[0]!r}" if lost else None


def _why_not_verified(text: str, target: Neighbour, grounds: Grounds) -> str | None:
    """Why a merged text may not replace that of a unit; `None` if the quotes of both sides support it."""
    kept = CONTENT_FREE.union(stems(text))
    known = (word for word in words(target.unit.text) if word not in STOP_WORDS)
    forgotten = [word for word in known if stem(word) not in kept]
    if forgotten:
        return f"it forgets {forgotten[0]!r}"
    sources = (*target.grounds.sources, *grounds.sources)
    own = speech(text)
    if own is None or all(own.speaker != source.speaker for source in sources):
        found = grade(text, sources)
        cautions = [str(caution) for caution in found.cautions if caution.code != "topic"]
    else:
        found = grade(own.said, [source for source in sources if source.speaker == own.speaker])
        cautions = []  # one's own words need no subject, and may deny or plan
    if found.unsupported or not found.sentences:
        return f"not in the quoted words of either side: {', '.join(found.unsupported) or 'any word'}"
    return "; ".join(cautions) or None


def _find_same_text(
    proved: ProvedFact, neighbours: Mapping[UnitId, Neighbour], superseded: Sequence[UnitId]
) -> Neighbour | None:
    """The unit shown that has the text of the fact, and the same trust."""
    wanted = fold_text(proved.fact.claim)
    return next(
        (
            neighbour
            for neighbour in neighbours.values()
            if fold_text(neighbour.unit.text) == wanted
            and neighbour.grounds.trust == proved.grounds.trust
            and neighbour.unit.id not in superseded
        ),
        None,
    )


def _merge_unit(
    target: Neighbour, proved: ProvedFact, text: str, superseded: tuple[UnitId, ...], made_by: str
) -> SummaryUnit:
    unit, fact = target.unit, proved.fact
    return replace(
        unit,
        text=text,
        paraphrase=None,
        spans=tuple(dict.fromkeys((*unit.spans, *fact.spans))),
        said_at=latest((unit.said_at, proved.grounds.said_at)),
        event_at=unit.event_at or fact.event_at,
        scene=unit.scene or fact.scene,
        importance=max(unit.importance, _importance(proved)),
        made_by=made_by,
        revision=unit.revision + 1,
        supersedes=tuple(dict.fromkeys((*unit.supersedes, *superseded))),
        trust=target.grounds.level,
        support="worded",
        derivations=tuple(dict.fromkeys((*unit.derivations, *fact.derivations))),
    )


def _new_unit(
    proved: ProvedFact, unit_id: UnitId, superseded: tuple[UnitId, ...], made_by: str
) -> SummaryUnit:
    fact = proved.fact
    return SummaryUnit(
        id=unit_id,
        text=fact.claim,
        spans=fact.spans,
        kind="finding",
        session=proved.session,
        said_at=proved.grounds.said_at,
        event_at=fact.event_at,
        scene=fact.scene,
        importance=_importance(proved),
        made_by=made_by,
        supersedes=superseded,
        trust=proved.grounds.level,
        support=fact.support,
        derivations=fact.derivations,
        agents=proved.agents,
    )


def _importance(proved: ProvedFact) -> float:
    return importance_of(proved.fact.importance, proved.fact.spans, proved.grounds.pages)


def _wrote(
    op: Op, proved: ProvedFact, unit: SummaryUnit, superseded: tuple[UnitId, ...], notes: Sequence[str]
) -> WroteBack:
    decision = WriteBack(
        finding_id=proved.finding_id,
        op=op,
        reason="; ".join(note for note in notes if note),
        unit_id=unit.id,
        superseded=superseded,
    )
    return WroteBack(write_back=decision, unit=unit, shown=())


def latest(times: Iterable[datetime | None]) -> datetime | None:
    """The latest time that is known. Where one side has no zone, clocks are compared as they read."""
    known = [time for time in times if time is not None]
    if any(time.tzinfo is None for time in known):
        return max(known, key=lambda time: time.replace(tzinfo=None))
    return max(known, default=None)

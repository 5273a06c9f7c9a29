"""What a person states directly, as a unit in its own words: proved by the turn that says it, like any other.

The rule: nothing is stored that could not become a unit, and a correction takes the place of nothing that
somebody trusted more has said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pagestore import Page, PageId, PageLine, SessionId, SpaceId, Turn
from pagestore.rendering import TurnPart, render_page
from tiermem.errors import InvalidInput
from tiermem.ledger import Tier1, summary_unit_id
from tiermem.model import Claim, LinkedFact, SummaryUnit, UnitId, merge_owners
from tiermem.proof import link, proof_rank
from tiermem.proof.link import NOT_FOUND
from tiermem.text.withheld import withheld
from tiermem.trust import TrustLevels
from tiermem.writing.importance import UNKNOWN


def check_statement(turn: Turn) -> None:
    """Raise `InvalidInput`, with the reason, for a turn whose words cannot become a unit unchanged."""
    text, lines = render_page([TurnPart(seq=0, turn=turn)])
    page = Page(
        id=PageId("p1:"), space=SpaceId(""), session=SessionId(""), number=1, text=text, lines=lines,
        tokens=0, token_counter="", sealed_at=None,
    )  # fmt: skip
    _fact(turn, page, lines[0])


def check_correction(tier1: Tier1, unit: SummaryUnit, turn: Turn, trust: TrustLevels) -> None:
    """Raise `InvalidInput` for a unit that no longer holds, or that is trusted more than its correction."""
    newer = tier1.superseded_by(unit.id)
    if tier1.retired_because(unit.id) is not None:
        raise InvalidInput(f"unit {unit.id!r} was withdrawn: `remember` what holds, or `reinstate` it first")
    if newer:
        raise InvalidInput(f"unit {unit.id!r} holds no longer, {newer[-1]!r} does: correct that one")
    if unit.trust is not None and trust.rank_of(turn) < trust.rank(unit.trust):
        raise InvalidInput(
            f"unit {unit.id!r} is trusted {unit.trust!r} and this correction {trust.of(turn)!r}: give it the "
            "trust it deserves, or `withdraw` the unit"
        )


def stated_unit(page: Page, seq: int, trust: TrustLevels, supersedes: Sequence[UnitId] = ()) -> SummaryUnit:
    """The unit of a turn of this page; raises `InvalidInput` where its words do not prove it."""
    line = next(line for line in page.lines if line.seq == seq)
    if line.turn is None:
        raise InvalidInput("the turn was erased before it became a unit")
    alone = withheld(page, lambda other: other.seq == seq)
    fact = _fact(line.turn, alone, line)
    claim = Claim(text=fact.claim, quotes=fact.quotes)
    rank = proof_rank(claim, fact.spans, (alone,), trust.rank_of)
    return SummaryUnit(
        id=summary_unit_id(page.space, page.id, fact.claim, fact.spans),
        text=fact.claim,
        spans=fact.spans,
        kind="stated",
        session=page.session,
        said_at=line.turn.said_at,
        made_by="stated",
        trust=trust.names[rank],
        support=fact.support,
        derivations=fact.derivations,
        supersedes=tuple(supersedes),
        agents=merge_owners([page.agent]),
        importance=UNKNOWN if line.turn.importance is None else line.turn.importance,
    )


def same_statements(
    tier1: Tier1, session: SessionId, turn: Turn, trust: TrustLevels
) -> Iterator[SummaryUnit]:
    """The units of a session that were stated in the words of a turn, hold, and are trusted as much."""
    text, owners = " ".join(turn.text.split()), merge_owners([turn.agent])
    for unit in tier1.units(session):
        if unit.kind != "stated" or unit.agents != owners or not unit.text.endswith(text):
            continue
        if unit.trust is None or trust.rank(unit.trust) >= trust.rank_of(turn):
            yield unit


def is_same_turn(page: Page, unit: SummaryUnit, turn: Turn, *, is_dated: bool) -> bool:
    """Whether the turn of a stated unit says what another turn says: words, speaker, role and metadata.

    With `is_dated` the time is compared too. Importance is compared where the other turn has it.
    """
    said = next((line.turn for line in page.lines if line.touches(unit.spans[0])), None)
    if said is None or said.text.split() != turn.text.split():
        return False
    is_same_time = not is_dated or said.said_at == turn.said_at
    is_as_important = turn.importance is None or said.importance == turn.importance
    who = (turn.speaker, turn.role, turn.metadata)
    return is_same_time and is_as_important and (said.speaker, said.role, said.metadata) == who


def _fact(turn: Turn, page: Page, line: PageLine) -> LinkedFact:
    """The turn's words as a fact; with the teller's name before them where a colon names somebody."""
    text, quote = " ".join(turn.text.split()), page.text[line.body : line.end]
    for claim in (text, f"{turn.speaker}: {text}"):
        fact = link(Claim(text=claim, quotes=(quote,)), (page,))
        if isinstance(fact, LinkedFact) and fact.is_supported:
            return fact
    reason = "it has too few words to be known by" if fact.reason == NOT_FOUND else fact.reason
    raise InvalidInput(f"this cannot be remembered word for word: {reason}; say it otherwise, or `add` it")

"""What stays of the decision on a finding when turns are erased."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import pytest

from pagestore import PageId, SessionId, Span
from tests.ledger import building
from tiermem.ledger import WroteBack
from tiermem.ledger.kind import Past
from tiermem.ledger.kinds.wrote_back import KIND
from tiermem.model import FindingId, SummaryUnit, UnitId


class OtherTurns:
    """Turns that go and have nothing to do with the decision by themselves."""

    everything = False
    sessions: Collection[SessionId] = ()
    pages: Collection[PageId] = ()

    def has_turns_left(self, chat: str, agent: str | None) -> bool:
        return True

    def touches(self, span: Span) -> bool:
        return False

    def repeated_in(self, texts: Iterable[str | None]) -> bool:
        return False

    def unit_left(self, unit: SummaryUnit, *, shown: bool) -> SummaryUnit | None:
        return unit

    def lost_on(self, page_id: PageId, texts: Sequence[str]) -> tuple[tuple[str, ...], int]:
        return (), 0


GONE, THERE = UnitId("u1:gone"), UnitId("u1:there")


@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        ((THERE,), "because"),
        ((), "because"),
        ((THERE, GONE), ""),  # it was weighed against what goes
    ],
)
def test_a_reason_goes_with_a_unit_that_the_finding_was_weighed_against(
    shown: tuple[UnitId, ...], reason: str
) -> None:
    finding = FindingId("f1:one")
    past = Past(changed={GONE}, erased={GONE}, findings_left={finding})
    left = KIND.may_stay(replace(building.wrote_back("f1:one", "SKIP"), shown=shown), OtherTurns(), past)
    assert isinstance(left, WroteBack)
    assert left.write_back.reason == reason
    assert left.shown == tuple(one for one in shown if one != GONE)

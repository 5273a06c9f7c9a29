"""Who may see what, as one value made of the log."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from pagestore import PageId, SessionId, Span, Turn
from tiermem.ledger import ALL, EVERYTHING_SEEN, Tier1, Visibility, owner_of
from tiermem.model import SummaryUnit, UnitId, merge_owners

NOW = datetime(2024, 5, 8, tzinfo=UTC)
AGENTS = st.sampled_from(["ann", "ben", "cat"])
groups = st.lists(AGENTS, max_size=3).map(merge_owners)


def unit(*agents: str, name: str = "u") -> SummaryUnit:
    span = Span(page_id=PageId("p"), start=0, end=1)
    return SummaryUnit(
        id=UnitId(name),
        text="x",
        spans=(span,),
        kind="summary",
        support="quoted",
        session=SessionId("s"),
        agents=agents,
    )


def test_an_agent_sees_its_own_what_is_nobodys_and_of_several_only_where_it_may_see_all() -> None:
    tier1 = Tier1()
    for agents in ((), ("ann",), ("ann", "ben")):
        tier1.put_unit(unit(*agents, name=f"u{agents}"), 1)
    sees = tier1.sees("ann")
    assert [sees.unit(one) for one in tier1.all_units()] == [True, True, False]
    assert [tier1.sees("ben").unit(one) for one in tier1.all_units()] == [True, False, False]
    assert all(map(tier1.sees(None).unit, tier1.all_units()))
    tier1.grant("ann", "ben", NOW)
    assert all(map(tier1.sees("ann").unit, tier1.all_units()))
    assert tier1.sees("ann").owners == frozenset(map(owner_of, (["ann"], ["ben"], ["ben", "ann"])))
    assert not tier1.sees("ann").owns(("ann", "ben"))
    tier1.revoke("ann", "ben")
    assert tier1.sees("ann").owners == frozenset((owner_of(["ann"]),))
    tier1.grant("ann", ALL, NOW)
    assert tier1.sees("ann").owners is None
    assert not tier1.sees("ann").all


@given(agents=groups, granted=groups)
def test_an_index_is_asked_for_just_what_may_be_seen(
    agents: tuple[str, ...], granted: tuple[str, ...]
) -> None:
    tier1 = Tier1()
    tier1.put_unit(unit(*agents), 1)
    for other in granted:
        tier1.grant("ann", other, NOW)
    sees = tier1.sees("ann")
    assert sees.unit(unit(*agents)) == set(agents).issubset({"ann", *granted})
    owners = sees.owners
    assert owners is not None
    assert sees.unit(unit(*agents)) == (not agents or owner_of(agents) in owners)


def test_a_shared_unit_is_everybodys_and_a_turn_is_not() -> None:
    tier1 = Tier1()
    tier1.put_unit(unit("ann"), 1)
    tier1.share_units([UnitId("u")], "asked to", 2)
    assert tier1.sees("ben").unit(unit("ann"))
    assert [one.id for one in tier1.changed_since(1)] == ["u"], "an index is told"
    assert not tier1.sees("ben").turn(Turn(speaker="Ann", text="x", agent="ann"))
    tier1.unshare_units([UnitId("u")], 3)
    assert not tier1.sees("ben").unit(unit("ann"))
    assert Visibility(agent="ben", agents=frozenset(["ben"]), all_units=True).unit(unit("ann"))
    assert EVERYTHING_SEEN.turn(replace(Turn(speaker="Ann", text="x"), agent="ann"))


def test_names_that_look_like_several_are_one() -> None:
    names = ['a", "b', "a", "b", "", '["a"]', "a,b"]
    assert len({owner_of([name]) for name in names} | {owner_of(["a", "b"])}) == len(names) + 1
    assert owner_of(["b", "a", "b"]) == owner_of(["a", "b"])

"""Hot and cold units: a fold of the log, so that whoever reads knows what an index of limited size holds."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ledger.building import UNITS, answered, distilled, entries, unit
from tests.ledger.test_tier1 import folded, records
from tiermem.ledger import BoundedEntry, LedgerEntry, ReinstatedEntry, RetiredEntry, Tier1
from tiermem.model import UnitId


def distilled_units(number: int, **importance: float) -> list[LedgerEntry]:
    """So many units, u0 and on, each of a page of its own."""
    return [distilled(f"p{n}", unit(f"u{n}", importance=importance.get(f"u{n}", 0.5))) for n in range(number)]


def cold(*log: LedgerEntry) -> list[str]:
    return [*folded(*log).cold]


def test_without_a_limit_every_unit_is_hot() -> None:
    tier1 = folded(*distilled_units(9))
    assert (tier1.hot_units, [*tier1.cold], tier1.moved_since(-1)) == (None, [], ())


def test_what_matters_least_goes_cold_the_oldest_first_and_the_newest_is_hot() -> None:
    log = [BoundedEntry(hot_units=4), *distilled_units(7, u0=0.9, u2=0.1)]
    assert cold(*log) == ["u2", "u1", "u3"]
    assert folded(*log).hot_units == 4


def test_a_limit_may_come_late_grow_and_shrink() -> None:
    units = distilled_units(7, u0=0.9, u2=0.1)
    assert cold(*units, BoundedEntry(hot_units=4)) == ["u2", "u1", "u3"]
    assert cold(*units, BoundedEntry(hot_units=4), BoundedEntry(hot_units=6)) == ["u2"]
    assert cold(*units, BoundedEntry(hot_units=6), BoundedEntry(hot_units=4)) == ["u2", "u1", "u3"]
    assert cold(*units, BoundedEntry(hot_units=4), BoundedEntry(hot_units=100)) == []


def test_a_cold_unit_that_an_answer_cites_is_hot_again_and_used_ones_stay() -> None:
    log = [BoundedEntry(hot_units=3), *distilled_units(4)]
    assert cold(*log) == ["u0"]
    assert cold(*log, answered("a1", cites=["u0"])) == ["u1"]
    used = [answered(f"a{n}", cites=["u1"]) for n in range(3)]
    assert cold(*log, *used, answered("a9", cites=["u0"])) == ["u2"], "u1 was used, u2 is the oldest else"


def test_what_is_changed_stated_again_or_brought_back_is_hot() -> None:
    log = [BoundedEntry(hot_units=2), *distilled_units(3)]
    assert cold(*log) == ["u0"]
    newer = distilled("p9", unit("u9", supersedes=["u0"]))
    gone = RetiredEntry(unit_ids=(UnitId("u9"),), reason="wrong")
    assert "u0" not in cold(*log, newer, gone), "it holds again"
    withdrawn = RetiredEntry(unit_ids=(UnitId("u0"),), reason="wrong")
    again = ReinstatedEntry(unit_ids=(UnitId("u0"),), reason="right")
    assert cold(*log, withdrawn, again) == ["u1"]


def test_units_of_another_owner_make_none_cold() -> None:
    log = [BoundedEntry(hot_units=2), *distilled_units(2)]
    theirs = [distilled(f"q{n}", replace(unit(f"v{n}"), agents=("other",))) for n in range(5)]
    assert cold(*log, *theirs) == ["v0", "v1", "v2"]
    assert cold(*theirs, *log) == ["v0", "v1", "v2"]


def test_units_that_do_not_hold_go_before_all_others() -> None:
    log = [BoundedEntry(hot_units=3), *distilled_units(3, u2=1.0)]
    withdrawn = RetiredEntry(unit_ids=(UnitId("u2"),), reason="wrong")
    assert cold(*log, withdrawn, distilled("p9", unit("u9", importance=0.0))) == ["u2"]


@settings(max_examples=80)
@given(log=st.lists(entries, max_size=14), looks=st.lists(st.booleans(), min_size=14, max_size=14))
def test_an_index_that_takes_in_what_changed_holds_what_is_hot_and_no_more(
    log: list[LedgerEntry], looks: list[bool]
) -> None:
    tier1, held, mark = Tier1(), set[str](), -1
    for record, entry, look in zip(records(log), log, [*looks[: len(log) - 1], True], strict=False):
        tier1.fold(record, entry)
        hot = {u for u in UNITS if tier1.unit(UnitId(u)) is not None and not tier1.is_cold(UnitId(u))}
        assert tier1.hot_units is None or len(hot) <= tier1.hot_units
        newer = {unit.id for unit in tier1.changed_since(mark)} | {*tier1.moved_since(mark)}
        assert hot - newer <= held, "what no later record moved was hot all the time"
        if look:
            held = {u for u in (held | newer) if not tier1.is_cold(UnitId(u))}
            assert held == hot
            mark = tier1.head

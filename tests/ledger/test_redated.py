"""What a record of units with other dates does to Tier 1, and what of it stays when turns are erased."""

from dataclasses import replace

from tests.ledger.building import distilled, unit
from tests.ledger.test_tier1 import folded
from tests.ledger.test_wrote_back import OtherTurns
from tiermem.ledger import RedatedUnits
from tiermem.ledger.kind import Past
from tiermem.ledger.kinds.redated import KIND
from tiermem.model import UnitId

OLD = unit("u1", text="Ann: The vet is on Tuesday (2 May 2023).")
NEW = unit("u1", text="Ann: The vet is on Tuesday (9 May 2023).", revision=2)
ENTRY = RedatedUnits(units=(NEW,))


def test_the_next_revision_takes_the_place_of_the_one_before() -> None:
    assert folded(distilled("p1", OLD), ENTRY).units() == (NEW,)


def test_a_unit_that_has_another_revision_by_then_stays_as_it_is() -> None:
    for known in (replace(OLD, revision=2), replace(OLD, revision=3)):
        assert folded(distilled("p1", known), ENTRY).units() == (known,)
    assert folded(distilled("p1"), ENTRY).units() == ()


def test_it_goes_with_the_unit_as_it_was_before() -> None:
    past = Past()
    past.note(OLD, None)
    assert KIND.may_stay(ENTRY, OtherTurns(), past) is None


def test_it_stays_as_it_is_with_the_unit() -> None:
    past = Past()
    past.note(OLD, OLD)
    assert KIND.may_stay(ENTRY, OtherTurns(), past) == ENTRY
    assert past.kept[UnitId("u1")] == NEW


def test_it_loses_the_scene_that_the_unit_loses_and_the_ids_of_units_that_go() -> None:
    scene, gone = replace(OLD, scene="vet"), unit("u2")
    past = Past()
    past.note(scene, OLD)
    past.note(gone, None)
    entry = RedatedUnits(units=(replace(NEW, scene="vet", supersedes=(gone.id,)),))
    assert KIND.may_stay(entry, OtherTurns(), past) == ENTRY

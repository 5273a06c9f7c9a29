"""Credit goes to what was cited, and by its words to what was in view; all of it, or none."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tiermem.model import UnitId
from tiermem.salience import credit_shares

ONE, TWO, THREE = UnitId("u1:1"), UnitId("u1:2"), UnitId("u1:3")
texts = st.text(alphabet="abc ", max_size=12)
ids = st.sampled_from([ONE, TWO, THREE])


def of(found: dict[UnitId, float]) -> dict[UnitId, float]:
    return {unit_id: round(share, 6) for unit_id, share in found.items()}


def test_cited_units_share_alike_and_each_is_counted_once() -> None:
    assert of(credit_shares([ONE, TWO, ONE], {})) == {ONE: 0.5, TWO: 0.5}


def test_units_in_view_have_credit_by_the_stems_they_share_with_the_output() -> None:
    """The output has two stems; the first unit says one of them and one more: 1 of 3. The third says none."""
    view = {ONE: "Tea is what Ann drinks", TWO: "She likes teas", THREE: "A red bicycle"}
    assert of(credit_shares((), view, "She likes tea")) == {ONE: 0.2, TWO: 0.8}


def test_a_citation_outweighs_what_only_sounds_like_the_output() -> None:
    view = {ONE: "Ann likes tea.", TWO: "Ann likes tea at five."}
    found = of(credit_shares([TWO], view, "Ann likes green tea"))
    assert found[TWO] > found[ONE] > 0
    assert found == {TWO: round(1 / 1.75, 6), ONE: round(0.75 / 1.75, 6)}


def test_where_nothing_was_cited_and_no_word_is_shared_nobody_has_credit() -> None:
    assert credit_shares((), {ONE: "Ann likes tea."}, "It rained.") == {}
    assert credit_shares((), {ONE: "Ann likes tea."}) == {}
    assert credit_shares((), {ONE: "the of and"}, "the of and") == {}


@given(
    cited=st.lists(ids, max_size=3), view=st.dictionaries(ids, texts, max_size=3), output=st.none() | texts
)
def test_all_credit_is_given_away_or_none(
    cited: list[UnitId], view: dict[UnitId, str], output: str | None
) -> None:
    found = credit_shares(cited, view, output)
    assert all(0 < share <= 1 for share in found.values())
    assert abs(sum(found.values()) - (1 if found else 0)) < 1e-9
    assert bool(found) >= bool(cited)

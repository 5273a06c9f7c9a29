"""Conversations under other names: everywhere the same, nothing left, and nothing but names changed."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.datasets import LoCoMo, LongMemEval, Renamed
from eval.datasets.names import FEMALE, LANDS, MALE
from eval.datasets.renamed import Renaming, renamed, renaming
from eval.types import Case, CaseId, Dataset
from tests.eval import tiny
from tiermem.errors import InvalidInput

SAID = (
    (
        ("Melanie", "Caroline's sister Sarah moved from Stockholm to Paris in April."),
        (
            "Caroline",
            "Hey Mel! MELANIE, melanie: it was Sunday. My Swedish is poor, the French speak it better.",
        ),
        ("Melanie", "Yes, Caro, and Sarah read Harry Potter at Starbucks on Monday; Caroline-like."),
    ),
)


def case_of(
    *said: tuple[str, str], gold: str = "Mel", question: str = "Who moved to Paris, Caroline?"
) -> Case:
    asked = tiny.question("c", 0, question, gold, tiny.turn(1, 0))
    return Case(id=CaseId("c"), sessions=tiny.sessions([said]), questions=(asked,))


def words_of(case: Case) -> str:
    turns = [turn for session in case.sessions for turn in session.turns]
    asked = [text for one in case.questions for text in (one.text, *one.gold)]
    return "\n".join([*(f"{turn.speaker}: {turn.text}" for turn in turns), *asked])


def speakers(case: Case) -> set[str]:
    return {turn.speaker for session in case.sessions for turn in session.turns} - {"user", "assistant"}


def assert_only_names_changed(case: Case, seed: int) -> None:
    to = renaming(case, seed=seed)
    after = renamed(case, to)
    text = words_of(after)
    left = [one for one in speakers(case) if re.search(rf"\b{re.escape(one)}\b", text, re.IGNORECASE)]
    assert left == []
    assert [one.evidence for one in after.questions] == [one.evidence for one in case.questions]
    assert [one.id for one in after.questions] == [one.id for one in case.questions]
    assert [session.id for session in after.sessions] == [session.id for session in case.sessions]
    assert renamed(after, to.undone) == case


def test_speakers_their_short_forms_others_and_places_are_renamed_everywhere() -> None:
    case = case_of(*SAID[0])
    to = renaming(case, seed=0)
    assert {
        "Melanie",
        "Caroline",
        "Mel",
        "Caro",
        "Sarah",
        "Sweden",
        "Stockholm",
        "Swedish",
        "Paris",
    } <= to.names.keys()
    after = renamed(case, to)
    text = words_of(after)
    assert not re.search(
        r"\b(melanie|caroline|mel|caro|sarah|stockholm|swedish|paris|french)\b", text, re.IGNORECASE
    )
    assert f"{to.names['Caroline']}'s sister {to.names['Sarah']}" in text
    assert f"Hey {to.names['Mel']}! {to.names['Melanie'].upper()}, {to.names['Melanie'].lower()}:" in text
    assert after.questions[0].gold == (to.names["Mel"],)
    assert_only_names_changed(case, 0)


def test_longer_names_brands_and_days_stay() -> None:
    text = words_of(renamed(case_of(*SAID[0]), renaming(case_of(*SAID[0]), seed=0)))
    assert all(word in text for word in ("Harry Potter", "Starbucks", "April", "Sunday", "Monday"))


def test_a_kind_stays_a_kind() -> None:
    to = renaming(case_of(("Melanie", "Hi John!"), ("John", "Hi, I flew from Japan to Boston.")), seed=3)
    assert to.names["Melanie"] in FEMALE
    assert to.names["John"] in MALE
    assert to.names["Japan"] in {land.name for land in LANDS if land.kind == "country"}
    assert to.names["Boston"] in {city for land in LANDS if land.kind == "state" for city in land.cities}


def test_a_city_goes_with_its_land() -> None:
    to = renaming(case_of(("Ann", "From Kyoto we saw Japan, and Japanese food in Tokyo.")), seed=1)
    (land,) = [land for land in LANDS if land.name == to.names["Japan"]]
    assert (to.names["Japanese"], to.names["Tokyo"], to.names["Kyoto"]) == (land.people, *land.cities[:2])


def test_a_word_that_is_common_here_is_no_name() -> None:
    to = renaming(
        case_of(
            ("Caroline", "My car broke. Car trouble! I polish it; the Polish driver left."), question="?"
        ),
        seed=0,
    )
    assert to.names.keys() == {"Caroline"}


def test_a_speaker_called_like_a_word_is_renamed_where_it_is_a_name() -> None:
    case = case_of(("Will", "I will ask Will."), gold="Will", question="Who will ask?")
    new = renaming(case, seed=0).names["Will"]
    assert renamed(case, renaming(case, seed=0)).sessions[0].turns[0].text == f"I will ask {new}."


def test_roles_are_nobodys_name() -> None:
    case = case_of(("user", "I am the user."), ("assistant", "And I the assistant."))
    assert renaming(case, seed=0).names.keys() <= {
        "Paris",
        *next(x for x in LANDS if x.name == "France").names,
        "Caroline",
    }
    assert renamed(case, renaming(case, seed=0)).sessions == case.sessions


def test_a_seed_always_gives_the_same_names_and_another_gives_others() -> None:
    case = case_of(*SAID[0])
    assert renaming(case, seed=5) == renaming(case, seed=5)
    assert renaming(case, seed=5) != renaming(case, seed=6)
    assert renaming(case, seed=5) != renaming(replace(case, id=CaseId("d")), seed=5)


def test_names_that_could_be_confused_are_refused() -> None:
    for names in ({"Ann": "Eve", "Bo": "Eve"}, {"Ann": "Bo", "Bo": "Eve"}):
        with pytest.raises(InvalidInput, match="confused"):
            Renaming(names)


@given(
    who=st.lists(
        st.sampled_from([*FEMALE, *MALE, "bob", "McKay", "Mark"]), min_size=1, max_size=3, unique=True
    ),
    others=st.lists(st.sampled_from([*FEMALE, *MALE]), max_size=6),
    lands=st.lists(st.sampled_from([name for land in LANDS for name in land.names if name]), max_size=6),
    seed=st.integers(0, 9),
)
def test_any_conversation_is_renamed_throughout_and_back(
    who: list[str], others: list[str], lands: list[str], seed: int
) -> None:
    said = [
        (name, f"I saw {' and '.join(others)}, {who[0]}'s friends, in {', '.join(lands)}.") for name in who
    ]
    case = case_of(*said, gold=f"{who[-1]}, {' '.join(lands)}", question=f"Did {who[0].upper()} go?")
    assert_only_names_changed(case, seed)


def test_the_data_goes_under_other_names_whole(shared: Path) -> None:
    locomo = LoCoMo(shared / "data/locomo/locomo_dev7.json")
    under: Dataset = Renamed(locomo, seed=0)
    assert (under.name, under.checksum, under.defects) == ("locomo", locomo.checksum, locomo.defects)
    for case in locomo.cases():
        assert_only_names_changed(case, 0)
        assert speakers(case) <= renaming(case, seed=0).names.keys()
    mel = renaming(next(locomo.cases()), seed=0)
    assert {"Mel", "Caro", "Oliver", "Sweden"} <= mel.names.keys()


def test_chats_with_an_assistant_go_under_other_names_too(shared: Path) -> None:
    chats = LongMemEval(shared / "data/longmemeval/longmemeval_oracle_dev100.json.xz")
    changed = 0
    for case in chats.cases():
        assert_only_names_changed(case, 0)
        changed += bool(renaming(case, seed=0).names)
    assert changed > 50

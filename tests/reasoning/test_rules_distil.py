from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import Turn
from tests.text.dialogue import conversations, page_of
from tiermem.model import LinkedFact
from tiermem.proof import link
from tiermem.reasoning.rules.distil import facts_of

SAID = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def told(*turns: tuple[str, str], hints: tuple[str, ...] = ()) -> list[str]:
    page = page_of([Turn(speaker=speaker, text=text, said_at=SAID) for speaker, text in turns])
    return [claim.text for claim in facts_of(page, hints)]


def test_a_salient_sentence_is_kept_in_its_speakers_words_with_its_date_worked_out() -> None:
    assert told(("Caroline", "Hey Mel! I went to a support group yesterday.")) == [
        "Caroline: I went to a support group yesterday (7 May 2023)."
    ]


def test_most_of_what_is_said_stays_on_the_page_and_what_stands_out_becomes_a_unit() -> None:
    vague, precise = ("Ann", "It was sunny and quiet there."), ("Ben", "We moved to Oslo in March.")
    assert told(vague, precise) == ["Ben: We moved to Oslo in March (March 2023)."]
    assert told(vague) == []


def test_a_page_on_which_nothing_stands_out_has_the_unit_that_does_most() -> None:
    assert told(("Dan", "Biscuit eats fish."), ("Ann", "Lovely sunny weather!")) == [
        "Dan: Biscuit eats fish."
    ]


def test_a_scene_is_of_the_words_repeated_around_the_first_of_them_where_all_are_as_often() -> None:
    words = "violin harbour lantern meadow copper walnut"
    turns = [("Ann", f"We saw the {words} in Oslo on 3 May 2023."), ("Ben", f"The {words}, wow.")]
    page = page_of([Turn(speaker=speaker, text=text, said_at=SAID) for speaker, text in turns])
    assert facts_of(page)[0].scene == "harbour lantern violin"


def test_small_talk_and_plain_questions_are_left_out() -> None:
    assert told(("Ann", "Hey! How are you? Good to see you!"), ("Ben", "Thanks, great! Take care!")) == []


def test_a_reply_carries_the_question_it_answers() -> None:
    assert told(("Ann", "Nice! Where did you move from?"), ("Ben", "From Sweden, four years ago.")) == [
        'Ben, asked "Where did you move from?": From Sweden, four years ago (2019).'
    ]


def test_what_an_earlier_try_lost_is_kept_the_next_time() -> None:
    said = ("Ann", "Oh well, that was a lot of fun.")
    assert told(said) == []
    assert told(said, hints=("negation: lot of fun",)) == ["Ann: Oh well, that was a lot of fun."]


def test_precise_sentences_weigh_more_than_vague_ones() -> None:
    turns = [
        Turn(speaker="Ann", text="I painted two landscapes for my aunt.", said_at=SAID),
        Turn(speaker="Ben", text="I sold 3 paintings in Oslo yesterday.", said_at=SAID),
    ]
    vague, precise = facts_of(page_of(turns))
    assert vague.importance < precise.importance
    assert precise.event_at == "2023-05-07"
    assert vague.event_at is None


any_turn = st.tuples(
    st.sampled_from(["Ann", "Ben", "Ann Lee"]), st.text(st.characters(), min_size=1, max_size=80)
)


@settings(max_examples=150)
@given(st.lists(any_turn, min_size=1, max_size=5))
def test_distilling_never_raises_and_links_what_it_claims(turns: list[tuple[str, str]]) -> None:
    page = page_of([Turn(speaker=speaker, text=text, said_at=SAID) for speaker, text in turns])
    for claim in facts_of(page):
        link(claim, [page])


@pytest.mark.shared
def test_on_real_dialogue_nearly_every_claim_links_word_for_word(shared: Path) -> None:
    talk = next(conversations(shared / "data" / "locomo"))
    linked = [link(claim, [page]) for page in talk.pages for claim in facts_of(page)]
    proved = [fact for fact in linked if isinstance(fact, LinkedFact) and fact.is_supported]
    assert len(proved) > 250
    assert len(proved) >= 0.99 * len(linked)

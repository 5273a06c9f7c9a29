"""What is asked, supposed, wished for or denied is no fact, and what others did is not what somebody did."""

from datetime import UTC, datetime

import pytest

import tiermem
from tiermem.embedding.hashed import HashEmbedder
from tiermem.model import Evidence
from tiermem.reasoning.interface import Draft
from tiermem.reasoning.rules.assertion import complete_token, require_assertion


def given(question: str, said: str, answer: str) -> bool:
    """Whether the answer is given, if it rests on this turn."""
    evidence = Evidence(text=said, spans=(), score=1.0, source="turn")
    draft = Draft(text=answer, cited=(0,), abstained=False)
    return not require_assertion(question, draft, (evidence,)).abstained


@pytest.mark.parametrize(
    ("question", "said", "answer"),
    [
        # questions
        ("Does Nora have a parrot?", "Nora: Should we get a parrot?", "Yes"),
        ("What did Nora buy?", "Nora: Did you hear that Pia bought a harp?", "a harp"),
        # conditions
        ("Where does Nora live?", "Nora: If we moved to Graz I would ski every day.", "Graz"),
        ("Does Nora ski?", "Nora: Unless I break a leg, I could ski in March.", "Yes"),
        ("What does Nora play?", "Nora: Suppose I played the oboe, would you listen?", "the oboe"),
        # possibility and wishes
        ("Did Omar sell his van?", "Omar: Perhaps I will sell my van in June.", "Yes"),
        ("What does Omar own?", "Omar: I wish I owned a sailing boat.", "a sailing boat"),
        ("Where does Omar work?", "Omar: I might work for the harbour office.", "the harbour office"),
        ("Does Omar own a boat?", "Omar: I may buy a boat.", "Yes"),
        ("Does Omar sing in a choir?", "Omar: We may sing in a choir.", "Yes"),
        ("What does Omar play?", "Omar: I may play the oboe, who knows.", "the oboe"),
        ("Where does Omar live?", "Omar: This may be Ghent, where I live.", "Ghent"),
        ("What colour is Omar's tent?", "Omar: It may turn out green, my tent.", "green"),
        ("Does Omar ride a horse?", "Omar: I am thinking of riding a horse.", "Yes"),
        # denials
        ("What does Pia eat?", "Pia: I never eat mussels.", "mussels"),
        ("What does Pia own?", "Pia: You heard wrong, I don't own a castle.", "a castle"),
        ("Who did Pia marry?", "Pia: I did not marry Quentin.", "Quentin"),
        # others
        ("What am I allergic to?", "user: My brother Rolf is allergic to bees.", "bees"),
        ("What does Rita drive?", "Rita: My boss drives a Saab.", "a Saab"),
        ("Does Rita play the cello?", "Rita: Well, my cousin plays the cello.", "Yes"),
        # words of an assistant
        ("What did I paint?", "assistant: I painted a small picture of a fox.", "a small picture of a fox"),
        ("Which city does the user like?", "assistant: I believe you like Ghent.", "Ghent"),
        ("Is the user a nurse?", "assistant: As a nurse I see that often.", "Yes"),
    ],
)
def test_what_is_not_asserted_of_the_person_is_no_answer(question: str, said: str, answer: str) -> None:
    assert not given(question, said, answer)


@pytest.mark.parametrize(
    ("question", "said", "answer"),
    [
        ("Does Nora have a parrot?", "Nora: We got a parrot, can you believe it?! It talks.", "Yes"),
        ("Where does Nora live?", "Nora: I live in Graz. If it rains I stay in.", "Graz"),
        ("What would Omar do in June?", "Omar: I would sell my van.", "sell my van"),
        ("When did Omar move?", "Omar: I moved there in may.", "in may"),
        ("When did Omar move?", "Omar: I moved. That May was warm.", "May"),
        ("What does Omar want to buy?", "Omar: I might buy a sailing boat.", "a sailing boat"),
        ("What does Pia not eat?", "Pia: I never eat mussels.", "mussels"),
        ("What did Pia eat?", "Pia: I did not like the soup, but I ate the mussels.", "the mussels"),
        ("Does Pia eat mussels?", "Pia: I never eat mussels.", "No"),
        ("What is Rolf allergic to?", "user: My brother Rolf is allergic to bees.", "bees"),
        ("What does Rita's boss drive?", "Rita: My boss drives a Saab.", "a Saab"),
        ("Who is allergic to bees?", "user: My brother Rolf is allergic to bees.", "Rolf"),
        ("What does Rita do?", "Rita: My job is fixing bells.", "fixing bells"),
        ("What did you paint?", "assistant: I painted a small picture of a fox.", "a small picture of a fox"),
        ("What city did you recommend to me?", "assistant: You might enjoy Ghent.", "Ghent"),
        ("When did Nora move?", "Nora: I moved to Graz in May.", "in May"),
    ],
)
def test_what_is_asserted_of_the_person_is_given(question: str, said: str, answer: str) -> None:
    assert given(question, said, answer)


@pytest.mark.parametrize(
    ("question", "said", "text"),
    [
        ("When is the market?", "The market is on the square.", None),
        ("When does the ferry leave?", "The ferry leaves at 7:45 from pier two.", "7:45"),
        ("When does the shop open?", "The shop is open 9 am to 6 pm.", "9 am to 6 pm"),
        ("When is the library open?", "The library is open from 10 to 16 these days.", "from 10 to 16"),
        ("When will Nora visit?", "Nora visits me soon.", None),
        ("When did Nora move?", "Nora moved to Graz!", "8 May 2023"),
        ("When has Nora moved?", "Nora has moved to Graz!", "8 May 2023"),
    ],
)
def test_the_day_of_saying_answers_only_what_happened(question: str, said: str, text: str | None) -> None:
    moment = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    evidence = Evidence(text=f"Omar: {said}", spans=(), score=1.0, source="turn", said_at=moment)
    draft = Draft(text="8 May 2023", cited=(0,), abstained=False)
    found = require_assertion(question, draft, (evidence,))
    assert (None if found.abstained else found.text) == text


@pytest.mark.parametrize(
    ("answer", "said", "whole"),
    [
        ("https://example.org/a", "See https://example.org/a?b=1&c=2#d.", "https://example.org/a?b=1&c=2#d"),
        ("/var/lib", "It is in /var/lib/data-2/x.txt, I think.", "/var/lib/data-2/x.txt"),
        ("lena", "Ask @lena_k (not Bo).", "@lena_k"),
        ("version 2.4", "We run version 2.4.1-rc2+b7 now.", "version 2.4.1-rc2+b7"),
        ("KX", "The code is KX-881-B.", "KX-881-B"),
        ("plan", "Open plan.final.docx!", "plan.final.docx"),
        ("Lisbon", "I live in Lisbon, near the river.", "Lisbon"),
        ("mother", "My mother-in-law sings.", "mother"),
        ("Ann", "It is Ann's.", "Ann"),
        ("tea", "I like tea.", "tea"),
    ],
)
def test_an_answer_does_not_end_inside_a_token(answer: str, said: str, whole: str) -> None:
    assert complete_token(answer, said) == whole


def test_a_memory_without_a_model_answers_with_nothing_that_was_only_supposed() -> None:
    memory = tiermem.open(":memory:", engine="local", embedder=HashEmbedder())
    memory.add(
        [
            {"speaker": "Nora", "text": "Could I keep a parrot here?"},
            {"speaker": "Nora", "text": "If I lived in Graz I would ski."},
            {"speaker": "Omar", "text": "I don't own a bicycle."},
            {"speaker": "Omar", "text": "I own a green van."},
        ]
    )
    memory.flush()
    for question in ("Does Nora have a parrot?", "Where does Nora live?", "Does Nora ski?"):
        assert memory.ask(question).abstained, question
    answer: tiermem.Answer = memory.ask("What does Omar own?")
    assert answer.abstained or "van" in answer.text

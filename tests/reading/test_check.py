"""Whose words support an answer: a person's or a tool's, and an assistant's of what it said itself."""

import pytest

from tiermem.reading.check import check
from tiermem.text import Source

FERRY = "The ferry to Bastø leaves at 7:40."
QUESTION, ANSWER = "When does the ferry to Bastø leave?", "at 7:40"


def cautions_of(question: str, said: list[Source]) -> list[str]:
    return [caution.code for caution in check(question, ANSWER, said)[0].cautions]


@pytest.mark.parametrize("role", ["assistant", "ai", "model", "bot", "Assistant"])
def test_what_only_an_assistant_says_has_a_caution(role: str) -> None:
    assert cautions_of(QUESTION, [Source(FERRY, speaker="Max", role=role)]) == ["assistant"]


@pytest.mark.parametrize("role", ["", "user", "tool", "system", "human"])
def test_what_others_say_has_none(role: str) -> None:
    assert check(QUESTION, ANSWER, [Source(FERRY, speaker="Ann", role=role)])[1].is_unmarked


@pytest.mark.parametrize(
    "question",
    [
        "When did you say that the ferry to Bastø leaves?",
        "What was your advice on the ferry to Bastø?",
        "Which time of the ferry to Bastø did the assistant name?",
        "When does the ferry to Bastø leave, as the chatbot told me?",
        "What did the AI find out about the ferry to Bastø?",
    ],
)
def test_a_question_about_the_assistant_is_answered_by_its_words(question: str) -> None:
    assert "assistant" not in cautions_of(question, [Source(FERRY, speaker="assistant", role="assistant")])


@pytest.mark.parametrize("others", [[FERRY], ["Is it at 7:40?", FERRY]])
@pytest.mark.parametrize("concluded", [False, True])
def test_beside_an_assistant_or_a_memory_the_words_of_others_are_what_counts(
    others: list[str], concluded: bool
) -> None:
    of_program = Source(FERRY, role="memory" if concluded else "assistant", concluded=concluded)
    said = [of_program, *(Source(text, speaker="Ann", role="user") for text in others)]
    found, grade = check(QUESTION, ANSWER, said)
    assert (found.unsupported, found.cautions, grade.is_unmarked) == ((), (), True)
    assert [each.speaker for each in grade.sentences] == ["Ann"]


def test_words_of_others_that_say_something_else_do_not_help_an_assistant() -> None:
    said = [Source(FERRY, role="assistant"), Source("I like the ferry.", speaker="Ann", role="user")]
    assert cautions_of(QUESTION, said) == ["assistant"]

"""Which sentences hold the items of an answer, and which words of the answer they do not hold."""

from datetime import UTC, datetime

import pytest

from pagestore import PageId, Span
from tiermem.proof.match import LONGEST_ANSWER, find_items
from tiermem.proof.sentences import read_sentences
from tiermem.text import Source

MAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def match(answer: str, question: str, *turns: str) -> tuple[str, tuple[str, ...]]:
    """The label that the matches give, and the unsupported words; turns are written as `Ann: words`."""
    parts = [turn.partition(": ") for turn in turns]
    cited = [Source(text=text, said_at=MAY, speaker=speaker) for speaker, _, text in parts]
    found = find_items(answer, read_sentences(cited), question)
    return found.support, found.unsupported


DOG = "Ann: We got home late. My dog Biscuit is allergic to chicken."
TRIP = "Ann: I visited Rome on 3 May 2023 and Oslo on 5 May 2023 with thirty-four friends."

QUOTED = [
    ("chicken", "What is Biscuit allergic to?", DOG),
    ("Chicken.", "What is Biscuit allergic to?", DOG),
    ("the chickens", "What is Biscuit allergic to?", DOG),
    ("allergic to chicken", "What is wrong with the dog?", DOG),
    ("Ann", "Who has a dog?", DOG),
    ("Biscuit", "What is Ann's dog called?", DOG),
    ("dog and chicken", "What is this about?", DOG),
    ("Biscuit, chicken", "What is this about?", DOG),
    ("34 friends", "Who came along?", TRIP),
    ("thirty-four", "How many friends came along?", TRIP),
    ("3 May, 2023", "When did Ann visit Rome?", TRIP),
    ("2023-05-03", "When did Ann visit Rome?", TRIP),
    ("May 2023", "When did Ann visit Rome?", TRIP),
    ("24 April, 2023", "When was the show?", "Ann: The show was on April 24, 2023."),
    ("9:30", "When does it open?", "Ann: The shop opens at 9:30 am."),
    ("9:30 am", "When does it open?", "Ann: The shop opens at 9:30 a.m. on weekdays."),
    ("1,500", "How many copies were sold?", "Ann: They sold fifteen hundred copies."),
    ("$5", "What did it cost?", "Ann: It cost 5 dollars."),
    ("two hundred and five", "How many pages does it have?", "Ann: It has 205 pages."),
    ("one cat", "What pets does she have?", "Ann: I have one cat."),
    ("the girls' school", "Where is it?", "Ann: It is in the girl's school."),
]

WORDED = [
    ("allergic against chicken", "What is wrong with the dog?", DOG),
    ("a chicken allergy", "What is wrong?", "Ann: An allergy to chicken."),
    ("one cat", "What pets does she have?", "Ann: I have a cat."),
    ("Yes", "Is the dog Biscuit allergic to chicken?", DOG),
    ("Biscuit gets home late", "What happened?", DOG),
    ("allergic to chickens and got home", "What happened?", "Ann: Is he allergic to chicken? I got home."),
]

UNSUPPORTED = [
    ("beef", "What is Biscuit allergic to?", DOG, ("beef",)),
    ("chicken and beef", "What is Biscuit allergic to?", DOG, ("beef",)),
    ("Ben", "Who has a dog?", DOG, ("Ben",)),
    ("Ann abandoned Biscuit", "What happened?", DOG, ("abandoned",)),
    ("Yes", "Does Ann have a cat?", DOG, ("cat",)),
    ("No", "Does Ann have a cat?", DOG, ("cat",)),
    ("4 May 2023", "When did Ann visit Rome?", TRIP, ("4 May 2023",)),
    ("35 friends", "Who came along?", TRIP, ("35 friends",)),
    ("3 dogs", "How many dogs does she have?", "Ann: I have 2 dogs and 3 cats.", ("3 dogs",)),
    ("-5 degrees", "How cold was it?", "Ann: It was 5 degrees.", ("-5 degrees",)),
    ("$5", "What did it cost?", "Ann: It cost 5 euros.", ("$5",)),
    ("9:30 pm", "When does it open?", "Ann: The shop opens at 9:30 am.", ("9:30 pm",)),
    ("9:30 am", "When does it open?", "Ann: The shop opens at 9:30.", ("9:30 am",)),
    ("8 May 2023", "When did Ann get the dog?", "Ann: I got a dog.", ("8 May 2023",)),
    ("last Friday", "When did Ann get the dog?", "Ann: I got a dog.", ("last", "Friday")),
    ("a generous man", "Who is it?", "Ann: He is a general man.", ("generous",)),
    ("model FG800", "Which one is it?", "Ann: It is the model FG900.", ("FG800",)),
    ("10-12 people", "How many came?", "Ann: 10-15 people came.", ("12 people",)),
    ("It went down", "What did the rent do?", "Ann: My rent went up.", ("down",)),
    ("All students failed", "Who failed?", "Ann: Some of the students failed.", ("All",)),
    ("2 pages", "How many pages did she read?", "Ann: I read 1/2 of the pages.", ("2 pages",)),
    ("one cat", "What pets does she have?", "Ann: I have 2 cats.", ("one cat",)),
    ("two years", "How long has Ann had two dogs?", "Ann: For 3 years now.", ("two years",)),
    ("nearly three months", "For how long?", "Ann: For 2 months.", ("nearly", "three months")),
    ("5 May, 2023", "When was it?", "Ann: It was on 4 May 2023.", ("5 May, 2023",)),
    ("面包", "她买了什么？", "李娜: 我今天买了面条。", ("面包",)),
]


@pytest.mark.parametrize(("answer", "question", "turn"), QUOTED)
def test_a_literal_run_of_words_in_one_sentence_is_quoted(answer: str, question: str, turn: str) -> None:
    assert match(answer, question, turn) == ("quoted", ())


@pytest.mark.parametrize(("answer", "question", "turn"), WORDED)
def test_other_wordings_of_cited_words_are_worded(answer: str, question: str, turn: str) -> None:
    support, unsupported = match(answer, question, turn)
    assert support == "worded"
    assert set(unsupported) <= {"against"}


@pytest.mark.parametrize(("answer", "question", "turn", "words"), UNSUPPORTED)
def test_what_is_in_no_cited_turn_is_unsupported(
    answer: str, question: str, turn: str, words: tuple[str, ...]
) -> None:
    assert match(answer, question, turn) == ("worded", words)


@pytest.mark.parametrize(
    ("answer", "turn", "value"),
    [
        ("7 May 2023", "Ann: I went to the beach yesterday.", "7 May 2023"),
        ("May 2023", "Ann: I went to the beach yesterday.", "7 May 2023"),
        ("the day before 8 May 2023", "Ann: I went to the beach yesterday.", "7 May 2023"),
        ("the week before 8 May 2023", "Ann: I went to the beach last week.", "1 to 7 May 2023"),
        ("2022", "Ann: I went to the beach a year ago.", "2022"),
        ("8 May 2023", "Ann: I went to the beach today.", "8 May 2023"),
    ],
)
def test_a_date_counted_from_a_relative_expression_is_computed(answer: str, turn: str, value: str) -> None:
    speaker, _, text = turn.partition(": ")
    found = find_items(answer, read_sentences([Source(text, MAY, speaker)]), "When did Ann go to the beach?")
    assert (found.support, found.unsupported) == ("computed", ())
    assert [each.value for each in found.computations] == [value]


def test_items_may_come_from_several_turns() -> None:
    turns = ("Ann: I play tennis.", "Ann: I love running too.")
    assert match("tennis and running", "What sports does Ann do?", *turns) == ("quoted", ())


def test_the_words_of_one_item_come_from_one_sentence_where_one_holds_them_all() -> None:
    cited = [Source("The red car is new. My bike is red. The red bike is old.", MAY, "Ann")]
    found = find_items("the red bike", read_sentences(cited), "What is old?")
    assert [each.sentence.text for each in found.matches] == ["The red bike is old."]
    assert [found.matches[0].sentence.text[start:end] for start, end in found.matches[0].places] == [
        "red",
        "bike",
    ]


def test_words_of_several_sentences_give_the_fewest_that_hold_them() -> None:
    cited = [Source("I like red. I have a red bike. The bike is fast.", MAY, "Ann")]
    found = find_items("a fast red bike", read_sentences(cited), "What is it?")
    assert sorted(each.sentence.text for each in found.matches) == ["I have a red bike.", "The bike is fast."]


def test_a_claim_without_a_question_has_its_words_in_order_of_sentences() -> None:
    cited = [Source("I moved to Oslo in 2019. My sister Eve teaches French.", MAY, "Ann")]
    found = find_items("Ann moved to Oslo in 2019, and Eve teaches French.", read_sentences(cited))
    assert found.unsupported == ()
    assert [each.sentence.text for each in found.matches] == [
        "I moved to Oslo in 2019.",
        "My sister Eve teaches French.",
    ]


def test_what_was_computed_names_the_words_on_the_page() -> None:
    text = "Hello. I went to the beach yesterday."
    span = Span(page_id=PageId("p1:x"), start=100, end=100 + len(text))
    found = find_items("7 May 2023", read_sentences([Source(text, MAY, "Ann", (span,))]), "When was it?")
    start = 100 + text.index("yesterday")
    (term,) = found.computations[0].terms
    assert term.spans == (Span(page_id=PageId("p1:x"), start=start, end=start + len("yesterday")),)


@pytest.mark.parametrize("answer", ["x" * (LONGEST_ANSWER + 1), "", " . "])
def test_an_answer_that_is_empty_or_too_long_to_check_matches_nothing(answer: str) -> None:
    found = find_items(answer, read_sentences([Source("x", MAY, "Ann")]))
    assert (found.support, found.matches) == ("worded", ())


STATEMENTS = [
    ("By 8 May 2023 Ann had sold her car.", "I have sold my car.", ()),
    ("Shortly before May 2023 Ann sold her car.", "I sold my car.", ()),
    ("On 8 May 2023 Ann sold her car.", "I sold my car.", ("8 May 2023",)),
    ("By 9 May 2023 Ann had sold her car.", "I have sold my car.", ("By 9 May 2023",)),
    ("Ann believes that cars are loud.", "Cars are so loud.", ("believes",)),
    ("Ann recommends the car to Bob.", "You can have the car.", ("recommends",)),
    ("Ann sold the car to Bob.", "We sold the car.", ("Bob",)),
    ("Ann gave the car to Carl.", "I gave you the car.", ("Carl",)),
]


@pytest.mark.parametrize(("statement", "text", "unsupported"), STATEMENTS)
def test_a_statement_may_name_the_day_of_saying_as_a_limit_and_whom_you_means(
    statement: str, text: str, unsupported: tuple[str, ...]
) -> None:
    cited = [Source(text=text, said_at=MAY, speaker="Ann", addressee="Bob")]
    found = find_items(statement, read_sentences(cited))
    assert (found.support, found.unsupported) == ("worded", unsupported)


def test_a_date_as_the_limit_of_a_time_is_not_quoted_from_the_day_of_saying() -> None:
    cited = [Source(text="I sold my car.", said_at=MAY, speaker="Ann")]
    assert find_items("I sold my car by 8 May 2023", read_sentences(cited)).support == "worded"

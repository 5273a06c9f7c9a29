"""Which facts about the cited sentences may turn the meaning of an answer."""

from datetime import UTC, datetime

import pytest

from pagestore import PageId, Span
from tiermem.proof.cautions import find_cautions
from tiermem.proof.match import find_items
from tiermem.proof.sentences import read_sentences
from tiermem.text import Source

MAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def codes(answer: str, question: str, *turns: str, concluded: bool = False) -> list[str]:
    """The codes of the cautions; turns are written as `Ann: words`."""
    parts = [turn.partition(": ") for turn in turns]
    cited = [
        Source(text, MAY, speaker, concluded=concluded, role=speaker.lower()) for speaker, _, text in parts
    ]
    match = find_items(answer, read_sentences(cited), question)
    return [caution.code for caution in find_cautions(answer, match, question)]


NONE = [
    ("chicken", "What is Biscuit allergic to?", "Ann: My dog Biscuit is allergic to chicken."),
    ("Rome", "Where will Ann go?", "Ann: I will go to Rome."),
    ("Rome", "Where does Ann plan to go?", "Ann: I plan to go to Rome in June."),
    ("meat", "What does Ann not eat?", "Ann: I don't eat meat."),
    ("She never eats meat.", "What does Ann say about meat?", "Ann: I never eat meat."),
    ("No", "Does Ann eat meat?", "Ann: I never eat meat."),
    ("a red bike", "What did Ann buy?", "Ann: I wanted to tell you that I bought a red bike."),
    ("a red bike", "What did Ann buy?", "Ann: Let's say I bought a red bike."),
    ("a red bike", "What did Ann buy?", "Ann: I think I bought a red bike."),
    ("a red bike", "What did Ann buy?", "Ann: I bought a red bike, but I didn't ride it."),
    ("a red bike", "What did Ann buy?", "Ann: I can't wait to ride! I bought a red bike."),
    ("May 2023", "When did Ann buy the bike?", "Ann: I bought the bike in May 2023."),
    ("a doctor", "What is Ann's sister?", "Ann: My sister is a doctor."),
    ("Rome", "Where did Ann go?", "Ben: Ann went to Rome."),
    ("2 dogs", "How many dogs does Ann have?", "Ann: I have 2 dogs and 3 cats."),
    ("3 May 2023", "When did Ann visit Rome?", "Ann: I visited Rome on 3 May 2023 and Oslo on 5 May 2023."),
    ("Ann has a red bike.", "", "Ann: I have a red bike."),
    ("Ben has a red bike.", "", "Ann: Ben has a red bike."),
    ("Ann gave Ben a bike.", "", "Ann: I gave Ben a bike."),
    ("Ann's sister has a bike.", "", "Ann: My sister has a bike."),
    ("Mum tells the story of the canoe.", "", "Ben: Mum tells the story of the canoe every year."),
    ("Clara thinks the bridge is closed.", "", "Ben: Clara thinks the bridge is closed."),
    ("Dad said at lunch that the boat leaks.", "", "Ben: Dad said at lunch that the boat leaks, and left."),
    ("Omar told everybody that the shop moved.", "", "Ben: Omar told everybody that the shop moved."),
    ("Nina promised to bring ten plates.", "", "Ben: Nina promised to bring ten plates, she has many."),
    ("Rome and Oslo", "Where did Ann go?", "Ann: I went to Oslo and to Rome."),
    ("a story", "What did the assistant write about dragons?", "assistant: Here is a story about dragons."),
]

SOME = [
    ("Clara thinks the bridge is closed.", "", "Ben: I think the bridge is closed.", "person"),
    ("Clara said the boat leaks.", "", "Ben: Clara is here, and the boat leaks.", "person"),
    ("Clara said the boat leaks.", "", "Ben: Dana said the boat leaks.", "person"),
    ("meat", "What does Ann eat?", "Ann: I never eat meat.", "negation"),
    ("meat", "What does Ann eat?", "Ann: I refuse to eat meat.", "negation"),
    ("Yes", "Does Ann eat meat?", "Ann: I don't eat meat.", "negation"),
    ("She does not eat meat.", "What does Ann say about meat?", "Ann: I eat meat.", "negation"),
    ("the red bike", "What did Ann buy?", "Ann: I almost bought the red bike.", "negation"),
    ("a red bike", "What did Ann buy?", "Ann: I might have bought a red bike.", "possibility"),
    ("a boat", "What did Ann buy?", "Ann: I would have bought a boat.", "possibility"),
    ("a red bike", "What did Ann buy?", "Ann: I want to buy a red bike.", "plan"),
    ("a famous actor", "Whom did Ann marry?", "Ann: I dreamed that I married a famous actor.", "plan"),
    ("a red bike", "What will Ann buy?", "Ann: I will buy a red bike if I win.", "condition"),
    ("a red bike", "What will Ann buy?", "Ann: Unless I lose, I will buy a red bike.", "condition"),
    ("a red bike", "What did Tom buy?", "Ann: They say Tom bought a red bike.", "report"),
    ("Oslo", "Where did Tom move?", "Ann: I heard that Tom moved to Oslo.", "report"),
    ("fruit", "What does Ann eat?", "Ann: I eat all fruit except apples.", "exception"),
    ("a red bike", "What does Ann ride?", "Ann: I used to ride a red bike.", "past_habit"),
    ("a red bike", "What does Ben ride?", "Ann: I ride a red bike.", "person"),
    ("a red bike", "What does Ann ride?", "Ann: Tom rides a red bike.", "person"),
    ("a red bike", "What is the bike that was bought by Ben?", "Ann: I bought a red bike.", "person"),
    ("a red bike", "What was kept at Ben's home?", "Ann: I kept a red bike.", "person"),
    ("a red bike", "What does Ann ride?", "Ann: You ride a red bike.", "person"),
    ("Ben has a red bike.", "", "Ann: I have a red bike.", "person"),
    ("Ben gave Ann a bike.", "", "Ann: I gave Ben a bike.", "person"),
    ("Ann moved from Oslo to Rome.", "", "Ann: I moved from Rome to Oslo.", "person"),
    ("Max hit Tom.", "Who hit whom?", "Ann: My brother Tom hit my cousin Max.", "person"),
    ("a doctor", "What is Ann?", "Ann: My sister is a doctor.", "relative"),
    ("Ann has a bike.", "", "Ann: My sister has a bike.", "relative"),
    ("3", "How many dogs does Ann have?", "Ann: I have 2 dogs and 3 cats.", "competing"),
    ("5 May 2023", "When did Ann visit Rome?", "Ann: I visited Rome on 3 May 2023, Oslo on 5 May 2023.",
     "competing"),
    ("Zoe", "Whom did Tom marry?", "Ann: Last year Tom married Eve after Max left Zoe.", "competing"),
    ("30 years old", "How old is Eve?", "Ann: Tom is 30 years old and Eve is 25 years old.", "competing"),
    ("a red bike", "What did Ann buy?", "Ann: Did I buy a red bike?", "question"),
    ("a red bike", "What did Ann buy?", "assistant: Ann will buy or bought a red bike.", "assistant"),
    ("a red bike", "What did Ann buy?", "Ann: Ich habe a red bike und das ist nicht gut.", "language"),
    ("面条", "她买了什么？", "李娜: 我今天买了面条。", "language"),
    ("a red bike", "What did Ann lose?", "Ann: I bought a red bike.", "topic"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "question", "turn"), NONE)
def test_what_the_sentence_states_as_asked_has_no_caution(answer: str, question: str, turn: str) -> None:
    assert [code for code in codes(answer, question, turn) if code != "topic"] == []


@pytest.mark.parametrize(("answer", "question", "turn", "code"), SOME)
def test_what_may_turn_the_meaning_is_a_caution(answer: str, question: str, turn: str, code: str) -> None:
    assert code in codes(answer, question, turn)


def test_what_another_memory_concluded_is_a_caution() -> None:
    assert codes("a bike", "What did Ann buy?", "mem0: Ann bought a bike.", concluded=True) == ["memory"]


def test_each_code_occurs_once() -> None:
    turns = ("Ann: I never play tennis.", "Ann: I don't like running.")
    assert codes("tennis and running", "What does Ann do, play or like?", *turns) == ["negation"]


def test_a_caution_has_the_place_of_its_words_on_the_page() -> None:
    text = "Hello. I never eat meat."
    span = Span(page_id=PageId("p1:x"), start=100, end=100 + len(text))
    match = find_items("meat", read_sentences([Source(text, MAY, "Ann", (span,))]), "What does Ann eat?")
    (caution,) = find_cautions("meat", match, "What does Ann eat?")
    start = 100 + text.index("never")
    assert caution.spans == (Span(page_id=PageId("p1:x"), start=start, end=start + len("never")),)


def test_without_a_match_there_is_nothing_to_be_careful_about() -> None:
    assert codes("", "What does Ann eat?", "Ann: I never eat meat.") == []

"""How far an answer is borne out by what it cites."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import PageId, Span
from tiermem.model import Check
from tiermem.proof import check, graded, recomputed
from tiermem.proof.check import LONGEST, UNCITED
from tiermem.text import Source

MAY = datetime(2023, 5, 9, 9, 0, tzinfo=UTC)
OCTOBER = datetime(2023, 10, 20, 9, 0, tzinfo=UTC)
BIKES = (
    Source("I bought a red bike in Oslo.", MAY, "Ann"),
    Source("Today I got a blue bike.", OCTOBER, "Ann"),
    Source("A racing bike is mine now!", OCTOBER, "Ann"),
)
HOW_MANY = "How many bikes does Ann own?"
GROUP = Source("I went to a support group yesterday with 3 friends from Lyon.", MAY, "Caroline")
MOVED = Source("I moved to Lisbon a year ago.", OCTOBER, "Ben")


def support(answer: str, *cited: Source, question: str = "", counted: tuple[str, ...] = ()) -> str:
    return graded(answer, cited, question=question, counted=counted).support


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("Lyon", "Where are her friends from?"),
        ("3", "How many friends came along?"),
        ("three friends", "Who came along?"),
        ("Caroline went with three friends from Lyon.", ""),
        ("May 2023", "When did Caroline say this?"),
    ],
)
def test_what_the_cited_words_hold_is_stated(answer: str, question: str) -> None:
    expected = "derived" if answer == "May 2023" else "stated"
    assert support(answer, GROUP, question=question) == expected


@pytest.mark.parametrize(
    ("answer", "cited", "question", "kind", "value"),
    [
        ("8 May 2023", (GROUP,), "When did Caroline go?", "date", "8 May 2023"),
        ("The day before 9 May 2023", (GROUP,), "When did Caroline go?", "date", "8 May 2023"),
        ("October 2022", (MOVED,), "When did Ben move?", "date", "October 2022"),
        ("3", BIKES, HOW_MANY, "count", "3"),
        ("Three bikes", BIKES, HOW_MANY, "count", "3"),
        ("$45", (Source("The lamp was $20.", MAY, "Ann"), Source("The rug was $25.", MAY, "Ann")),
         "What did Ann pay in all?", "sum", "$45"),
        ("$5", (Source("The lamp was $20.", MAY, "Ann"), Source("The rug was $25.", MAY, "Ann")),
         "How much more was the rug than the lamp?", "difference", "$5"),
        ("164 days", (Source("I sold the boat today.", MAY, "Ann"), Source("I bought a car today.",
         OCTOBER, "Ann")),
         "How many days passed between selling the boat and buying the car?", "duration", "164 days"),
        ("Two weeks", (Source("I ran on 1 May and I raced on 15 May.", MAY, "Ann"),),
         "How many weeks were between the run Ann ran and when Ann raced?", "duration", "2 weeks"),
        ("43", (Source("I'm 32 now.", MAY, "Ann"), Source("It is my aunt's 75th birthday.", MAY, "Ann")),
         "How much older is the aunt than Ann?", "difference", "43"),
    ],
)  # fmt: skip
def test_what_follows_by_counting_or_reckoning_is_derived(
    answer: str, cited: tuple[Source, ...], question: str, kind: str, value: str
) -> None:
    check = graded(answer, cited, question=question)
    assert check.support == "derived", check
    assert [(each.kind, each.value) for each in check.derivations] == [(kind, value)]
    assert all(recomputed(each) == each.value for each in check.derivations)


def test_the_time_since_is_counted_to_when_it_was_asked() -> None:
    sold = Source("I sold the boat today.", MAY, "Ann")
    question = "How many weeks ago did Ann sell the boat?"
    asked = datetime(2023, 5, 30, tzinfo=UTC)
    assert graded("3", [sold], question=question, asked_at=asked).support == "derived"
    assert graded("4", [sold], question=question, asked_at=asked).support == "worded"
    assert graded("3", [sold], question=question).support == "worded"


@pytest.mark.parametrize(
    ("answer", "cited", "question", "reason"),
    [
        ("Portugal", (MOVED,), "In which country does Ben live?", "Portugal"),
        ("Yes", (MOVED,), "Does Ben live in Lisbon?", "yes or no"),
        ("9 May 2023", (GROUP,), "When did Caroline go?", "9 May 2023"),
        ("June 2023", (GROUP,), "When did Caroline go?", "June 2023"),
        ("The Friday before 9 May 2023", (GROUP,), "When did Caroline go?", "9 May 2023"),
        ("She longs for quiet evenings", (GROUP,), "", "longs, quiet, evenings"),
        ("A quiet support group with friends", (GROUP,), "", "not in the cited words: quiet"),
        ("She did not go to a support group", (GROUP,), "", "not in the cited words: not"),
        ("on Friday", (GROUP,), "When did Caroline go?", "not in the cited words: Friday"),
        ("$46", (Source("The lamp was $20.", MAY, "Ann"), Source("The rug was $25.", MAY, "Ann")),
         "What did Ann pay in all?", "46"),
        ("2-4 eggs", (Source("Take 2-3 eggs.", MAY, "Ann"),), "How many eggs?", "2-4"),
    ],
)  # fmt: skip
def test_what_is_not_confirmed_and_not_contradicted_is_worded(
    answer: str, cited: tuple[Source, ...], question: str, reason: str
) -> None:
    check = graded(answer, cited, question=question)
    assert check.support == "worded"
    assert reason in check.reason


@pytest.mark.parametrize(
    ("answer", "cited", "question", "counted", "reason"),
    [
        ("3", (), "", (), "cites nothing"),
        ("4", BIKES, HOW_MANY, (), "at most"),
        ("Four", BIKES, HOW_MANY, ("red bike", "blue bike", "racing bike"), "says 4 and lists 3"),
        ("2", BIKES, HOW_MANY, ("red bike", "blue bike", "racing bike"), "says 2 and lists 3"),
        ("4 kids", (Source("My 3 kids love the lake.", MAY, "Ann"),),
         "How many kids does Ann have?", (), "say 3"),
        ("Caroline went to a support group on 3 May 2023.", (GROUP,), "", (), "8 May 2023, not 3 May 2023"),
        ("Caroline expected to cry.", (Source("I didn't expect to cry.", MAY, "Caroline"),), "",
         (), "opposite"),
    ],
)  # fmt: skip
def test_what_is_plainly_wrong_is_contradicted(
    answer: str, cited: tuple[Source, ...], question: str, counted: tuple[str, ...], reason: str
) -> None:
    check = graded(answer, cited, question=question, counted=counted)
    assert check.refused, check
    assert reason in check.reason


def test_without_a_citation_an_answer_is_refused() -> None:
    assert graded("Lyon", []).unsupported == (UNCITED,)


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        (("a red bike", "a blue bike", "a racing bike"), "derived"),
        (("a red bike", "a blue bike", "a green tandem"), "worded"),
        (("a red bike", "a red bike", "a blue bike"), "contradicted"),
    ],
)
def test_what_was_counted_must_be_in_the_cited_words_each_once(
    counted: tuple[str, ...], expected: str
) -> None:
    check = graded("3", BIKES, question=HOW_MANY, counted=counted)
    assert check.support == expected
    if expected == "derived":
        assert [each.text for each in check.derivations[0].terms] == [
            "a red bike",
            "a blue bike",
            "A racing bike",
        ]


@pytest.mark.parametrize(
    "cited",
    [
        (Source("I bought several bikes.", MAY, "Ann"),),
        (Source("My bikes are in the shed.", MAY, "Ann"),),
        (
            Source(
                "I bought a red one, a blue one and a racing one, and my aunt gave me her tandem.", MAY, "Ann"
            ),
        ),
    ],
)
def test_a_count_is_not_refused_where_the_words_leave_it_open(cited: tuple[Source, ...]) -> None:
    assert support("4", *cited, question=HOW_MANY) == "worded"


def test_the_number_said_last_is_the_one_that_holds() -> None:
    cited = (
        Source("I have tried 3 restaurants.", MAY, "Ann"),
        Source("I have tried 4 restaurants.", OCTOBER, "Ann"),
    )
    question = "How many restaurants has Ann tried?"
    assert support("4", *cited, question=question) == "stated"
    assert support("3", *cited, question=question) == "worded"


def test_terms_point_at_the_words_they_came_from() -> None:
    from pagestore import PageId, Span

    text = "I moved to Lisbon a year ago."
    span = Span(page_id=PageId("p1:x"), start=100, end=100 + len(text))
    check = graded("October 2022", [Source(text, OCTOBER, "Ben", (span,))])
    (place,) = check.derivations[0].terms[0].spans
    assert text[place.start - 100 : place.end - 100] == "a year ago"


LONG = (
    " " * 40_000,
    "3" * 40_000,
    "one " * 5_000,
    "1-" * 7_000,
    "for a " * 4_000,
    "9 May " * 2_000,
    "." * 40_000,
)


@pytest.mark.parametrize("text", LONG)
def test_a_long_odd_answer_is_not_looked_into(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """How long a shorter one takes beside long words and a long question, tests/growth checks."""
    monkeypatch.setattr(check, "_Case", None)
    found = graded(
        f"3 days {text} before", [Source(f"two {text} days", MAY)], question=f"how many {text} days"
    )
    assert found == Check(support="worded", reason=f"the answer has more than {LONGEST:,} characters")


odd = st.text(max_size=60) | st.sampled_from(
    ["3 bikes", "\ud800", "9 May 2023", "$4", "two weeks ago", "½", "٣ cats"]
)


@settings(max_examples=200)
@given(odd, odd, odd, st.lists(odd, max_size=2))
def test_no_input_raises(answer: str, text: str, question: str, counted: list[str]) -> None:
    found = graded(answer, [Source(text, MAY, "Ann")], question=question, counted=counted, asked_at=OCTOBER)
    assert all(recomputed(each) == each.value for each in found.derivations)


@pytest.mark.parametrize(
    ("answer", "support"),
    [("three", "stated"), ("three cats", "stated"), ("nine cats", "worded"), ("three dogs", "contradicted")],
)
def test_words_may_stand_between_a_number_and_what_it_is_a_number_of(answer: str, support: str) -> None:
    said = Source("I adopted three small grey cats yesterday, and saw two dogs.", None, "Ann")
    assert graded(answer, [said], question="How many cats did Ann adopt?").support == support


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("Ann has 3 dogs and 3 cats.", "I have 3 dogs and two cats at home."),
        ("Ann ran 5 miles and 5 laps.", "I ran 5 miles and then nine laps."),
    ],
)
def test_a_number_told_of_one_thing_does_not_prove_it_of_another(answer: str, cited: str) -> None:
    assert support(answer, Source(cited, MAY, "Ann"), question="What does she have?") == "worded"


@pytest.mark.parametrize(
    ("answer", "cited", "counted"),
    [
        ("3 bikes", "I bought a red and a blue bike.", ("red bike", "blue bike", "red and blue bike")),
        ("2 cats", "I adopted a cat named Tom.", ("a cat named Tom", "cat named Tom")),
    ],
)
def test_what_is_listed_twice_in_other_words_is_counted_once(
    answer: str, cited: str, counted: tuple[str, ...]
) -> None:
    verdict = graded(answer, [Source(cited, MAY, "Ann")], question="How many are there?", counted=counted)
    assert verdict.support == "worded"
    assert not verdict.derivations


def test_a_code_is_stated_only_as_a_word_of_its_own() -> None:
    part = Source("the part I ordered is ab123", MAY, "Ann")
    assert support("the part is ab123", part) == "stated"
    assert graded("the part is b12", (part,)).unsupported == ("b12",)


def test_a_negation_needs_a_negation_in_the_cited_words() -> None:
    likes = Source("I like jazz, and my brother likes rock.", MAY, "Ann")
    assert support("jazz", likes) == "stated"
    assert graded("not jazz", (likes,)).unsupported == ("not",)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Ann doesn't own a boat", "I don't own a boat."),
        ("Ann never owned a boat", "No, I have not owned a boat."),
        ("The boats are not hers", "The boat isn't mine."),
    ],
)
def test_negations_support_each_other(answer: str, said: str) -> None:
    assert support(answer, Source(said, MAY, "Ann")) == "stated"


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("a red scarf", "What did Ann knit?"),  # the cited words
        ("Ann", "Who knitted a scarf?"),  # the speaker
        ("a scarf for the raffle", "What did Ann give to the raffle?"),  # the question
        ("according to Ann, a scarf", "What did Ann knit?"),  # words that state nothing
        ("Ann was knitting a scarf", ""),  # another inflection
    ],
)
def test_every_content_word_is_in_the_cited_turns_their_speakers_or_the_question(
    answer: str, question: str
) -> None:
    assert support(answer, Source("I knitted a red scarf.", MAY, "Ann"), question=question) == "stated"


def test_the_text_of_a_unit_supports_no_word_if_turns_are_cited() -> None:
    """A unit's text is the wording of whoever made the unit."""
    turn = Source("I knitted a scarf.", MAY, "Ann", spans=(Span(page_id=PageId("p1:a"), start=0, end=18),))
    unit = Source("Ann knitted a woollen scarf", MAY)
    assert graded("a woollen scarf", (turn, unit)).unsupported == ("woollen",)
    assert support("a woollen scarf", unit) == "stated"


def test_words_of_time_need_no_support_beside_a_date_or_a_computation() -> None:
    said = Source("I went to Oslo on 5 May 2023.", MAY, "Ann")
    assert support("early on Friday, 5 May 2023", said, question="When did Ann go?") == "stated"
    assert graded("early on Friday", (said,), question="When did Ann go?").unsupported == ("early", "Friday")


def test_a_word_is_listed_once_and_as_the_answer_writes_it() -> None:
    said = Source("I knitted a scarf.", MAY, "Ann")
    assert graded("a Woollen scarf, all woollen, of merino", (said,)).unsupported == ("Woollen", "merino")


def test_a_name_of_two_words_is_listed_as_one() -> None:
    said = Source("We meet at the club on Monday.", MAY, "Ann")
    assert graded("They meet at the Meridian Club", (said,)).unsupported == ("Meridian Club",)

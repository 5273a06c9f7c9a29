"""Which of several statements answers a question."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tiermem.text.histories import KnownFact, SaidTurn, find_fact, is_changed_later, is_same_value, read_when

ASKED_AT = datetime(2024, 12, 1, tzinfo=UTC)


def _turns(*said: str) -> list[SaidTurn]:
    """Turns "Ann: words", a month apart in 2024."""
    parts = [one.partition(": ") for one in said]
    return [
        SaidTurn(speaker=speaker, text=text, said_at=datetime(2024, month, 1, tzinfo=UTC))
        for month, (speaker, _, text) in enumerate(parts, 1)
    ]


def _find(question: str, *said: str) -> KnownFact | None:
    return find_fact(question, _turns(*said), ASKED_AT)


def _answer(question: str, *said: str) -> str | None:
    found = _find(question, *said)
    return found.answer.statement.value if found is not None and found.answer is not None else None


SISTER = ("Ann: My sister Maja lives in Porto", "Ben: I live in Hull", "Ann: I live in York",
          "Ann: Maja moved to Bergen last week", "Ann: we visited Larkfield with her")  # fmt: skip
RENT = ("Ann: my rent is 640 a month", "Ann: landlord wants 720 from May", "Ben: I pay 900 rent",
        "Ann: rent went up to 680")  # fmt: skip
BOSS = ("Ann: my boss Nadia is strict", "Ben: my boss is Karl", "Ann: Nadia left, Tom's my boss now")
EMPLOYER = ("Ann: I work at Siemens", "Ann: I applied to Bosch", "Ann: I joined Acme Robotics today",
            "Ben: I work for Fenwick")  # fmt: skip


@pytest.mark.parametrize(
    ("question", "said", "expected"),
    [
        ("Where does my sister live?", SISTER, "Bergen"),
        ("Where does Ann's sister live?", SISTER, "Bergen"),
        ("Where does Maja live?", SISTER, "Bergen"),
        ("Where did Ann's sister live before?", SISTER, "Porto"),
        ("Where did Ann's sister live in February 2024?", SISTER, "Porto"),
        ("Where does Ann live?", SISTER, "York"),
        ("Where does Ben live?", SISTER, "Hull"),
        ("How much rent does Ann pay?", RENT, "680"),
        ("What was Ann's rent at first?", RENT, "640"),
        ("What is Ben's rent?", RENT, "900"),
        ("Who is Ann's boss?", BOSS, "Tom"),
        ("Who used to be Ann's boss?", BOSS, "Nadia"),
        ("Who is Ben's boss?", BOSS, "Karl"),
        ("Where does Ann work?", EMPLOYER, "Acme Robotics"),
        (
            "Where does Ann's partner work?",
            ("Ann: my partner Rob is here", "Ann: Rob has a job at Dyson"),
            "Dyson",
        ),
        ("How is Ann's boss called?", BOSS, "Tom"),
        ("What dose does Ann take?", ("Ann: I take 20 mg", "Ann: the doctor upped it to 40"), "40"),
        ("Which school does Bo go to?", ("Ann: Bo goes to Hill", "Ann: Bo starts at Dale in May"), "Dale"),
        ("Who was Ann's previous employer?", EMPLOYER, "Siemens"),
        ("Where did Ann work in January 2024?", EMPLOYER, "Siemens"),
    ],
)
def test_the_latest_value_answers_unless_an_earlier_one_is_asked_for(
    question: str, said: tuple[str, ...], expected: str
) -> None:
    assert _answer(question, *said) == expected


def test_another_persons_value_replaces_nothing() -> None:
    assert _answer("How much rent does Ann pay?", *RENT[:3]) == "640"


def test_a_value_from_a_later_day_does_not_hold_yet() -> None:
    said = _turns("Ann: I earn 34k", "Ann: they're putting me up to 37.5 from 1 June 2024")
    before, after = (
        find_fact("What is Ann's salary?", said, datetime(2024, month, 1, tzinfo=UTC)) for month in (3, 7)
    )
    assert before is not None
    assert before.answer is not None
    assert before.answer.statement.value == "34k"
    assert after is not None
    assert after.answer is not None
    assert after.answer.statement.value == "37.5"


def test_a_new_employer_is_the_answer_from_the_month_that_is_named_on() -> None:
    said = _turns(
        "Ann: I work at Siemens", "Ann: I quit Siemens last Friday. I work at Bosch from July 2024."
    )
    before, after = (
        find_fact("Where does Ann work now?", said, datetime(2024, month, 9, tzinfo=UTC)) for month in (6, 8)
    )
    assert before is None or before.answer is None
    assert after is not None
    assert after.answer is not None
    assert after.answer.statement.value == "Bosch"


def test_a_value_that_is_over_is_no_answer_but_was_one_before() -> None:
    said = ("Ann: my flatmate Sergej cooks", "Ann: Sergej moved out today")
    found = _find("Who is Ann's flatmate?", *said)
    assert found is not None
    assert found.answer is None
    assert _answer("Who was Ann's flatmate before?", *said) == "Sergej"


def test_a_change_without_an_earlier_statement_is_none() -> None:
    assert _find("What is Ann's rent?", "Ann: they put it up to 810") is None


@pytest.mark.parametrize(
    ("later", "is_changed"),
    [
        ("Ann: Maja gave up the flat", True),
        ("Ann: my sister gave up the flat", True),
        ("Ann: I gave up the flat", False),
        ("Ann: my sister Maja is fine, Tom quit", False),
    ],
)
def test_a_change_of_the_owner_alone_counts(later: str, is_changed: bool) -> None:
    first, *others = _turns("Ann: my sister Maja has the flat in Hull", later)
    assert is_changed_later("Hull", first, others, "now", owner="sister") is is_changed


def test_prices_are_of_the_thing_that_is_asked_about() -> None:
    said = ("Ann: the gym costs 35 a month", "Ann: a haircut costs 28")
    assert _answer("What does a haircut cost?", *said) == "28"


@pytest.mark.parametrize(
    "question", ["Where did Ann work?", "What are Ann's hobbies?", "Does Ann work at Siemens?"]
)
def test_other_questions_are_left_alone(question: str) -> None:
    assert _find(question, *EMPLOYER) is None


def test_earlier_values_are_listed_before_the_answer() -> None:
    found = _find("Who is Ann's boss?", *BOSS)
    assert found is not None
    assert [one.statement.value for one in found.values] == ["Nadia", "Tom"]


@pytest.mark.parametrize(
    ("later", "is_changed"),
    [
        ("Ann: I gave Rob the spare, it's not outside any more", True),
        ("Ann: from today put me down as an americano", True),
        ("Ben: I gave Rob the spare, it's not outside any more", False),
        ("Ben: ask Rob. He took over Ann's flat", False),
        ("Ben: Ann changed the lock", True),
        ("Ben: I changed my lock, Ann", False),
        ("Ann: I switched jobs, I work for Fenwick now", False),
        ("Ann: the plumber used the spare key", False),
        ("Ann: good news, Tom quit smoking", False),
        ("Ann: my brother gave up the flat", False),
        ("Ann: he gave up the flat", True),
    ],
)
def test_a_later_change_of_its_owner_that_no_rule_reads_may_be_of_anything(
    later: str, is_changed: bool
) -> None:
    first, *others = _turns("Ann: the spare key is under the flowerpot", later)
    assert is_changed_later("the flowerpot", first, others, "now") is is_changed
    assert not is_changed_later("the flowerpot", first, others, "first")


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ("Ann: I pay my rent to a Mrs Fennelly now", None),
        ("Ann: since Mrs Haddad bought the house there are tenants", None),
        ("Ann: Mr Duggan is nice now", "Mr Duggan"),
        ("Ann: is Mrs Haddad here now?", "Mr Duggan"),
        ("Ann: I live in Leeds now", "Mr Duggan"),
        ("Ann: Mrs Haddad is my aunt", "Mr Duggan"),
    ],
)
def test_another_name_of_which_something_is_so_now_leaves_it_open(later: str, expected: str | None) -> None:
    assert _answer("Who is Ann's landlord?", "Ann: my landlord, Mr Duggan, called", later) == expected


def test_a_relative_by_name_is_of_the_one_who_names_him() -> None:
    said = ("Ann: my sister Maja works at Delta", "Ben: my sister works at Fenwick", "Ben: hi")
    assert _answer("Who is Maja's employer?", *said) == "Delta"
    assert _answer("Who is Maja's employer?", "Ann: my sister Maja is here", *said[1:]) is None


@pytest.mark.parametrize(
    ("later", "days", "is_corrected"),
    [
        ("Ann: no, wait. I meant Friday", 1, True),
        ("Ann: Sorry, it's 38 and not 83", 1, True),
        ("Ann: oops", 1, True),
        ("Ann: oops", 3, False),
        ("Ben: oops", 1, False),
        ("Ann: see you there", 1, False),
    ],
)
def test_what_its_speaker_takes_back_soon_is_no_answer_for_any_time(
    later: str, days: int, is_corrected: bool
) -> None:
    (first,) = _turns("Ann: my doctor is Dr Lee")
    correction = replace(_turns(later)[0], said_at=datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=days))
    assert is_changed_later("Dr Lee", first, [correction], "first") is is_corrected
    found = find_fact("Who is Ann's doctor?", [first, correction])
    assert found is not None
    assert (found.answer is None) is is_corrected


@pytest.mark.parametrize(
    ("question", "when"),
    [
        ("Where does Ann live?", "now"),
        ("Where did Ann live before?", "before"),
        ("What dose did Ann take just before the current one?", "before"),
        ("Where did Ann use to live?", "before"),
        ("What was Ann's old number?", "before"),
        ("Who was Ann's first boss?", "first"),
        ("What did Ann pay at first?", "first"),
        ("Which city was Ann in before travelling to Hull?", None),
        ("What does Ann use to work from home?", "now"),
        ("Who is Ann's one-year-old niece?", "now"),
        ("What did Ann win first place with?", None),
    ],
)
def test_the_time_of_a_question_is_read_from_its_words(question: str, when: str | None) -> None:
    assert read_when(question) == when


def test_a_change_does_not_hold_before_the_value_that_it_replaces() -> None:
    said = _turns("Ann: my rent is 780", "Ann: we agreed, 860 from January")
    found = find_fact("What is Ann's rent?", said, ASKED_AT)
    assert found is not None
    assert found.answer is not None
    assert found.answer.statement.value == "860"
    assert (
        _answer("What was Ann's rent in January 2024?", *(f"{one.speaker}: {one.text}" for one in said))
        == "780"
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where did Ann live in 2024?", "Hull"),
        ("Where did Ann live in early 2024?", "York"),
        ("Where did Ann live at the beginning of 2024?", "York"),
        ("Where did Ann live at the beginning of 2023?", None),
    ],
)
def test_the_beginning_of_a_period_ends_after_a_third_of_it(question: str, expected: str | None) -> None:
    said = ("Ann: I live in York", *("Ann: hm",) * 8, "Ann: I moved to Hull")
    assert _answer(question, *said) == expected


def test_a_value_that_was_over_before_the_current_one_is_stated_is_an_earlier_one() -> None:
    said = ("Ann: I live in Oslo", "Ann: when I lived in Tromsø it was dark")
    assert _answer("Where does Ann live?", *said) == "Oslo"
    assert _answer("Where did Ann live before?", *said) == "Tromsø"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Dr Nolan", "Nolan", True),
        ("Flex 10", "Flex 30", False),
        ("£640", "640", True),
        ("York", "Hull", False),
    ],
)
def test_values_are_compared_by_numbers_and_words(one: str, other: str, same: bool) -> None:
    assert is_same_value(one, other) is same


@pytest.mark.parametrize(
    "later",
    [
        "Ann: cancelled, signed on at the boxing place the same day",
        "Ann: I've switched everything over",
        "Ann: no longer, thank God",
    ],
)
def test_a_question_about_the_present_is_left_open_after_a_change_that_is_not_read(later: str) -> None:
    said = ("Ann: I work at Siemens", later)
    found = _find("Where does Ann work?", *said)
    assert found is not None
    assert found.answer is None
    assert _answer("Where did Ann work in January 2024?", *said) == "Siemens"


@pytest.mark.parametrize(
    "later",
    ["Ben: I've switched everything over", "Ann: I switched to keto", "Ann: still there"],
)
def test_what_another_person_changed_or_a_rule_reads_leaves_the_answer(later: str) -> None:
    assert _answer("Where does Ann work?", "Ann: I work at Siemens", later) == "Siemens"


@pytest.mark.parametrize(
    ("question", "first", "later"),
    [
        (
            "What is Ann's wifi password?",
            "My wifi password is heron-44.",
            "My phone number changed to 555 9999.",
        ),
        ("What is Ann's rent?", "My rent is 900 euros.", "My gym fee changed to 35 euros."),
        ("What is Ann's rent?", "My rent is 900 euros.", "The phone bill went up to 35 euros."),
        ("What is Ann's salary?", "My salary is 4200 euros.", "Our council tax is now 980 euros."),
        ("What is Ann's rent?", "My rent is 900 euros.", "Tom's insurance has gone up to 41 euros."),
    ],
)
def test_a_change_of_something_that_is_named_is_no_change_of_something_else(
    question: str, first: str, later: str
) -> None:
    turns = [
        SaidTurn(speaker="Ann", text=text, said_at=datetime(2025, 5, day, tzinfo=UTC))
        for day, text in enumerate((first, later), start=1)
    ]
    known = find_fact(question, turns, datetime(2025, 6, 1, tzinfo=UTC))
    assert known is None or [one.turn for one in known.values] in ([0], [])

"""What one turn states of attributes that have one value at a time."""

from datetime import UTC, datetime

import pytest

from tiermem.text.attributes import ENGLISH
from tiermem.text.statements import (
    ME,
    SOMEBODY,
    Statement,
    read_aliases,
    read_statements,
    read_subject,
)

SAID_AT = datetime(2024, 3, 1, tzinfo=UTC)


def _read(name: str, text: str) -> tuple[Statement, ...]:
    attribute = next(one for one in ENGLISH.attributes if one.name == name)
    return read_statements(text, attribute, SAID_AT)


STATED = [
    ("home", "I live in Lisbon", ME, "Lisbon"),
    ("home", "I've just moved to Oslo with Kuba!", ME, "Oslo"),
    ("home", "My sister has bought a house in Larkfield", "sister", "Larkfield"),
    ("home", "Maja has moved to Bergen", "maja", "Bergen"),
    ("home", "she's living in Graz these days", SOMEBODY, "Graz"),
    ("home", "ten years in Cork this week", ME, "Cork"),
    ("home", "writing to you from my new kitchen in Kochi", ME, "Kochi"),
    ("address", "My own place is 88 Mill Road", ME, "88 Mill Road"),
    ("address", "parcels to my parents please: 12 Garden Street", "folks", "12 Garden Street"),
    ("employer", "My brother works for Siemens", "brother", "Siemens"),
    ("employer", "first day at Zalando today!", ME, "Zalando"),
    ("boss", "my boss Nadia is on holiday", ME, "Nadia"),
    ("boss", "Nadia left, Tom's my boss now", ME, "Tom"),
    ("boss", "Nadia's a fair boss, she shouts but she apologises", ME, "Nadia"),
    ("boss", "as of today I report to Ottilie", ME, "Ottilie"),
    ("supervisor", "Prof. Tanaka is taking me on", ME, "Tanaka"),
    ("doctor", "first appointment with my new GP, Dr Achterberg", ME, "Dr Achterberg"),
    ("landlord", "new owner came by, Mrs Oyelaran", ME, "Mrs Oyelaran"),
    ("flatmate", "my new flatmate Zoe is quiet", ME, "Zoe"),
    ("partner", "Dele and I got engaged last night!", ME, "Dele"),
    ("status", "I'm single again", ME, "single"),
    ("diet", "my sister is vegetarian", "sister", "vegetarian"),
    ("rent", "our rent went up to 1,020 from May", ME, "1,020"),
    ("rent", "paid the rent, 640", ME, "640"),
    ("rent", "780 a month for a flat in the attic", ME, "780"),
    ("bank", "I've switched everything over to Northway", ME, "Northway"),
    ("salary", "34k, that's what they pay me", ME, "34k"),
    ("dose", "I take 20 mg of citalopram", ME, "20 mg"),
    ("dose", "My brother takes 32 of the same stuff", "brother", "32"),
    ("plan", "my mobile plan is the Flex 10", ME, "Flex 10"),
    ("provider", "mum's still with Volta", "mam", "Volta"),
    ("phone", "my new number is 07700 900123", ME, "07700 900123"),
    ("email", "my new email is ann@post.org", ME, "ann@post.org"),
    ("school", "Tom goes to Hillview Primary", "tom", "Hillview Primary"),
    ("care_home", "He's settled into St Brigid's", SOMEBODY, "St Brigid's"),
    ("car", "picked up the Yaris this morning!!", ME, "Yaris"),
    ("gym", "I joined PureGym", ME, "PureGym"),
    ("size", "bought Lina's school shoes, size 28", "lina", "28"),
    ("job", "I've been promoted to team lead", ME, "team lead"),
    ("day", "choir moved to Tuesdays", ME, "Tuesdays"),
    ("code", "the wifi password is sunny-1234", ME, "sunny-1234"),
    ("weight", "I weigh 82 kg", ME, "82 kg"),
    ("commute", "I cycle to work now", ME, "cycle"),
    ("phone", "my phone number changed, it's 555 0199 now", ME, "555 0199"),
    ("code", "they changed the wifi password to Tomate7", ME, "Tomate7"),
    ("rent", "he raised my rent to 950", ME, "950"),
]
NOT_STATED = [
    ("employer", "the piano lesson moved to Thursdays"),
    ("employer", "joining Zoom now"),
    ("home", "we're moving to Slack at work next week"),
    ("home", "we were moving to York but it fell through"),
    ("home", "Paul and I broke up"),
    ("home", "Rita is leaving"),
    ("boss", "Bosch is closing"),
    ("home", "we visited Larkfield at the weekend"),
    ("home", "I spent three years in Rome"),
    ("home", "I'd love to live in Rome one day"),
    ("home", "thinking of moving to Berlin"),
    ("home", "Do you live in Rome?"),
    ("employer", "I applied to Novartis"),
    ("employer", "I turned Novartis down"),
    ("rent", "the landlord wants 720 from May"),
    ("salary", "asked for 40 in my review"),
    ("doctor", "saw a locum, Dr Lam"),
    ("school", "we're on the waiting list for Kingsmead"),
    ("care_home", "Nana wants to go to Millbrook"),
    ("dose", "she's considering 75"),
    ("dose", "I take two of them at a time"),
    ("car", "looked at a Golf"),
    ("plan", "Is the Flex 30 worth it?"),
]
OVER = [
    ("home", "I don't live in Rome any more", "Rome"),
    ("home", "I used to live in Hull", "Hull"),
    ("employer", "handed in my notice at Bosch", "Bosch"),
    ("flatmate", "Sergej moved out today", "Sergej"),
    ("partner", "Felix and I broke up", "Felix"),
    ("diet", "I'm not vegan any more", "vegan"),
    ("car", "sold the Golf", "Golf"),
    ("boss", "my old boss Nadia", "Nadia"),
    ("boss", "Nadia is leaving", "Nadia"),
    ("gym", "PureGym closed down", "PureGym"),
]
CHANGES = [
    ("dose", "the new box says sixteen", "sixteen"),
    ("dose", "We're at 12 from tomorrow", "12"),
    ("size", "we had them measured properly: 29 now", "29"),
    ("rent", "they put it up to 810", "810"),
    ("bank", "I've switched to Monzo", "Monzo"),
]


@pytest.mark.parametrize(("name", "text", "owner", "value"), STATED)
def test_a_value_is_read_with_its_owner_and_place(name: str, text: str, owner: str, value: str) -> None:
    (one,) = (one for one in _read(name, text) if not one.is_end)
    assert (one.owner, one.value, one.is_change) == (owner, value, False)
    assert text[one.start : one.end] == value


@pytest.mark.parametrize(("name", "text"), NOT_STATED)
def test_wishes_plans_questions_and_denials_state_nothing(name: str, text: str) -> None:
    assert _read(name, text) == ()


@pytest.mark.parametrize(("name", "text", "value"), OVER)
def test_a_value_that_holds_no_more_is_an_end(name: str, text: str, value: str) -> None:
    (one,) = _read(name, text)
    assert (one.value, one.is_end) == (value, True)


@pytest.mark.parametrize(("name", "text", "value"), CHANGES)
def test_a_value_without_its_attribute_is_a_change(name: str, text: str, value: str) -> None:
    (one,) = _read(name, text)
    assert (one.value, one.is_change) == (value, True)


def test_the_day_from_which_a_value_holds_is_read() -> None:
    (one,) = _read("salary", "they're putting me up to 37.5 from January")
    assert one.since is not None
    assert (one.since.month, one.since.day) == (1, 1)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("yes, Tom quit", "tom"),
        ("Tom's already quit", "tom"),
        ("my brother has quit", "brother"),
        ("we quit", ME),
        ("finally quit", None),
        ("on Fridays quit", None),
        ("Tom says I quit", ME),
    ],
)
def test_the_person_directly_before_a_verb_is_read(text: str, subject: str | None) -> None:
    assert read_subject(text, text.index("quit")) == subject


def test_names_of_relatives_are_read() -> None:
    assert read_aliases("my sister Maja and our cousin, Piotr, came") == {"maja": "sister", "piotr": "cousin"}


def test_pets_and_hobbies_are_no_attributes() -> None:
    assert {one.name for one in ENGLISH.attributes}.isdisjoint({"pet", "dog", "cat", "hobby", "child"})

"""Who speaks in a transcript: names, and no other words before a colon."""

import pytest

from tests.dialogue.test_files import read_one, said


def speakers(text: str) -> list[str]:
    """The speakers of all turns of a transcript, in order."""
    return [turn.speaker for session in read_one(text).sessions for turn in session.turns]


@pytest.mark.parametrize(
    "inside",
    [
        "Put this in the config:\nserver:\n  host: localhost\nport: 8080\nNote: restart afterwards.",
        "It says\nWarning: port in use\nError: gave up",
        "Mother's recipe:\nIngredients: 200 g flour\nStep 1: mix\nStep 2: bake\nServes: 4",
        "Das Treffen\nOrt des Treffens: Kiel\nUhrzeit: 18:00\nHinweis: Jacke mitbringen",
        "Two ways\nOption A: by train\nOption B: by car\nTotal: 90 euros",
        "The form wants\nEmail: ylva@example.com\nPhone: 0123\nAddress: 4 Mill Lane",
        "def run():\nfor: x\nelse: y\nreturn: z",
        "Je l'ai noté\nRemarque: la clé est chez Paul\nNota: il part lundi\nP.S.: bisous",
        "image: postgres:16\nservices: db\nimage: redis\nservices: cache",
        "Three things to buy: milk, tea\nNote: no sugar\nNote: no salt\nNote: no butter",
    ],
)
def test_lines_with_a_colon_stay_in_the_message(inside: str) -> None:
    text = f"Ylva: {inside}\nBo: Fine.\nYlva: Good.\nBo: Bye.\n"
    assert said(read_one(text)) == {
        "chat": [("Ylva", inside), ("Bo", "Fine."), ("Ylva", "Good."), ("Bo", "Bye.")]
    }


@pytest.mark.parametrize(
    "inside",
    [
        "For the bread we need\nFarina: 300 g\nMilk: 2\nYeast: 1 cube",
        "Scores so far\nArsenal: 3\nChelsea: 1",
        "Prices:\nTea: 4.50 €\nCoffee: €5\nCake: 12%",
        "Die Liste\nMehl: 500 g\nButter: 1/2 Pfund",
        "Trains\nKiel: 18:05\nHamburg: 19:40\nBremen: 20:55",
        "It fails with\nValueError: invalid literal for int()",
        "Then\nTimeoutException: no reply\nDeprecationWarning: use open",
        "Run this\nSQL: SELECT name FROM crates",
        "Formats\nJSON: one line a turn\nCSV: a row a turn",
    ],
)
def test_rows_of_a_list_and_messages_of_programs_stay_in_the_message(inside: str) -> None:
    text = f"Ylva: {inside}\nBo: Fine.\nYlva: Good.\nBo: Bye.\n"
    assert said(read_one(text)) == {
        "chat": [("Ylva", inside), ("Bo", "Fine."), ("Ylva", "Good."), ("Bo", "Bye.")]
    }


@pytest.mark.parametrize(
    "turns",
    [
        [("Ann", "How many come"), ("Bob", "3")],
        [("Ann", "Bids please."), ("Bob", "20 euros"), ("Cara", "30 euros")],
        [("Ann", "Bids please."), ("Bob", "20"), ("Cara", "30"), ("Ann", "Sold.")],
        [("Ann", "Hi"), ("Bo", "Hi"), ("Ann", "How many?"), ("Cara", "3"), ("Dan", "4"), ("Bo", "Ok")],
        [("Ann", "Hi"), ("Bo", "Hi"), ("Ann", "Who else"), ("Cara", "3"), ("Bo", "Ok"), ("Ann", "Good")],
        [("Ann", "Hi"), ("Bo", "Bids!"), ("Cara", "3 of us"), ("Dan", "4 of us"), ("Bo", "Ok"), ("Ann", "1")],
    ],
)
def test_numbers_that_people_say_are_turns(turns: list[tuple[str, str]]) -> None:
    text = "".join(f"{who}: {words}\n" for who, words in turns)
    assert said(read_one(text)) == {"chat": turns}


@pytest.mark.parametrize(
    "names",
    [
        ["Ann", "Bob"],
        ["ann", "bob"],
        ["Ludwig van Beethoven", "María del Carmen"],
        ["user", "assistant"],
        ["System", "Human", "AI"],
        ["小明", "李华"],
        ["Ármann Þór", "Łucja"],
        ["O'Brien", "Dr. Smith-Jones"],
        ["Speaker 1", "Speaker 2"],
        ["B", "A"],
        ["DJ", "MC"],
        ["عمر", "ليلى"],
        ["Host", "Guest"],
    ],
)
def test_names_that_occur_once_are_read(names: list[str]) -> None:
    assert speakers("".join(f"{name}: Hello there.\n" for name in names)) == names


@pytest.mark.parametrize(
    "names",
    [
        ["Ann", "bob", "Ann", "bob"],
        ["Question", "Answer", "Question", "Answer"],
        ["host", "guest", "host", "guest"],
        ["Line", "Price", "Line", "Price"],
        ["Ms. Day", "the boss", "Ms. Day", "the boss"],
        ["Q", "A", "Q", "A"],
    ],
)
def test_names_that_recur_are_read(names: list[str]) -> None:
    assert speakers("".join(f"{name}: Hello there.\n" for name in names)) == names


@pytest.mark.parametrize("label", ["Link", "Password", "Grüße", "Treffen", "Platform"])
def test_where_turns_have_times_a_line_without_one_opens_no_turn_of_somebody_new(label: str) -> None:
    text = (
        f"[2024-05-08 13:56] Ylva: Look\n{label}: gate 4\n[2024-05-08 13:57] Bo: Ok\n"
        "[2024-05-08 13:58] Ylva: Good\nBo: without a time\n"
    )
    assert said(read_one(text)) == {
        "chat": [("Ylva", f"Look\n{label}: gate 4"), ("Bo", "Ok"), ("Ylva", "Good"), ("Bo", "without a time")]
    }


def test_words_with_a_time_are_a_speaker_whatever_they_are() -> None:
    text = "[2024-05-08 13:56] Ylva: Look\n[2024-05-08 13:57] Note: I am called so\n"
    assert speakers(text) == ["Ylva", "Note"]

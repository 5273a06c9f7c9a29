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

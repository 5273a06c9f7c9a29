"""WhatsApp in the languages of phones: dates, halves of the day, notices and placeholders."""

import io
from datetime import datetime
from pathlib import Path

import pytest

import tiermem
from tests.apps.test_commands import as_json
from tests.dialogue.test_chats import read_one
from tiermem.dialogue import Format, read_dialogue
from tiermem.text.placeholders import is_placeholder

STAMPS = {
    "en": ("14/05/2024, 21:58 - ", "[14/05/2024, 21:58:00] "),
    "en-us": ("5/14/24, 9:58 PM - ", "[5/14/24, 9:58:00\u202fPM] "),
    "de": ("14.05.24, 21:58 - ", "[14.05.24, 21:58:00] "),
    "de-older": ("14.05.24 um 21:58 - ", "[14.05.24 21:58:00] "),
    "es": ("14/5/24, 21:58 - ", "[14/5/24, 21:58:00] "),
    "es-halves": ("14/5/24 9:58 p. m. - ", "[14/5/24 9:58:00 p.\xa0m.] "),
    "fr": ("14/05/2024, 21:58 - ", "[14/05/2024, 21:58:00] "),
    "fr-older": ("14/05/2024 à 21:58 - ", "[14/05/2024 à 21:58:00] "),
    "pt": ("14/05/2024 21:58 - ", "[14/05/2024, 21:58:00] "),
    "it": ("14/05/24, 21:58 - ", "[14/05/24, 21:58:00] "),
    "hi": ("14/05/24, 9:58 pm - ", "[14/05/24, 9:58:00 PM] "),
    "hi-words": ("14/5/24, अपराह्न 9:58 - ", "[14/5/24, 9:58:00 अपराह्न] "),
    "zh": ("2024/5/14 晚上9:58 - ", "[2024/5/14 晚上9:58:00] "),
    "zh-day": ("2024/5/14 21:58 - ", "[2024/5/14, 21:58:00] "),
    "ja": ("2024/05/14 午後9:58 - ", "[2024/05/14 午後9:58:00] "),
    "ko": ("2024. 5. 14. 오후 9:58, ", "[2024. 5. 14. 오후 9:58:00] "),
    "ar": ("14\u200f/5\u200f/2024، 9:58 م - ", "[14\u200f/5\u200f/2024، 9:58:00 م] "),
    "ar-digits": ("١٤\u200f/٥\u200f/٢٠٢٤، ٩:٥٨ م - ", "[١٤\u200f/٥\u200f/٢٠٢٤, ٩:٥٨:٠٠ م] "),
    "fi": ("14.5.2024 klo 21.58 - ", "[14.5.2024 klo 21.58.00] "),
    "nl": ("14-05-2024 21:58 - ", "[14-05-2024 21:58:00] "),
}


@pytest.mark.parametrize("form", ["auto", "whatsapp"])
@pytest.mark.parametrize("phone", [0, 1])
@pytest.mark.parametrize("language", STAMPS)
def test_dates_of_every_language_are_read(language: str, phone: int, form: Format) -> None:
    stamp = STAMPS[language][phone]
    text = f"{stamp}Ines: The boat: leaves soon\nnow\n{stamp}Rui:Wait\n{stamp}Ines: \u200eRui\n".replace(
        "\u200eRui", "Yes"
    )
    stream = io.BytesIO(text.encode())
    stream.name = "_chat.txt"
    ((session,),) = (one.sessions for one in read_dialogue(stream, form))
    assert session.session.endswith(" 2024-05-14")
    assert [(turn.speaker, turn.text) for turn in session.turns] == [
        ("Ines", "The boat: leaves soon\nnow"),
        ("Rui", "Wait"),
        ("Ines", "Yes"),
    ]
    assert {turn.said_at for turn in session.turns} == {datetime.fromisoformat("2024-05-14T21:58")}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("12/1/24, 9:58 PM - ", "12/13/24, 9:58 PM - "),
        ("12/1/24, 9:58 PM - ", "12/31/24, 9:58 PM - "),
        ("12/1/2024, 21:58 - ", "12/24/2024, 21:58 - "),
        ("[12/1/24, 9:58:00\u202fPM] ", "[12/13/24, 9:58:00\u202fPM] "),
        ("[12/01/24, 21:58:00] ", "[12/13/24, 21:58:00] "),
    ],
    ids=["halves", "halves and the last day", "24 hours", "halves on iOS", "24 hours on iOS"],
)
def test_a_first_number_of_twelve_may_be_the_month(first: str, second: str) -> None:
    sessions = read_one(f"{first}Ines: Hello\n{second}Rui: Bye\n").sessions
    assert [turn.said_at.month for one in sessions for turn in one.turns if turn.said_at] == [12, 12]
    assert sessions[0].turns[0].said_at == datetime.fromisoformat("2024-12-01T21:58")


@pytest.mark.parametrize(
    ("clock", "hour"),
    [
        ("上午0:05", 0),
        ("凌晨1:05", 1),
        ("中午12:05", 12),
        ("下午1:05", 13),
        ("午後0:05", 12),
        ("午前11:05", 11),
    ],
)
def test_halves_of_the_day_before_the_clock(clock: str, hour: int) -> None:
    ((session,),) = (one.sessions for one in [read_one(f"2024/5/14 {clock} - Ines: Hello\n")])
    assert session.turns[0].said_at == datetime.fromisoformat(f"2024-05-14T{hour:02}:05")


def turns_of_ios(*messages: tuple[str, str]) -> list[tuple[str, str, str | None]]:
    text = "".join(f"[14.05.24, 21:58:{n:02}] {who}: {words}\n" for n, (who, words) in enumerate(messages))
    return [(t.speaker, t.text, t.role) for one in read_one(text).sessions for t in one.turns]


@pytest.mark.parametrize(
    ("words", "speaker", "role"),
    [
        ("\u200eMessages and calls are end-to-end encrypted.", "WhatsApp", "system"),
        ("\u200eInes created this group", "WhatsApp", "system"),
        ("\u200eInes hat diese Gruppe erstellt", "WhatsApp", "system"),
        ("\u200eInes a créé ce groupe", "WhatsApp", "system"),
        ("\u200eInes creó este grupo", "WhatsApp", "system"),
        ("\u200eYou deleted this message.", "Regatta", "system"),
        ("\u200eDiese Nachricht wurde gelöscht.", "Regatta", "system"),
        ("Se eliminó este mensaje.", "Regatta", "system"),
        ("\u200eMensagem apagada", "Regatta", "system"),
        ("\u200eimage omitted", "Regatta", None),
        ("\u200eBild weggelassen", "Regatta", None),
        ("\u200e<attached: 00000012-PHOTO.jpg>", "Regatta", None),
        ("\u200ePOLL:", "Regatta", None),
        ("I created this group of three sails", "Regatta", None),
    ],
)
def test_what_ios_writes_behind_its_mark(words: str, speaker: str, role: str | None) -> None:
    assert turns_of_ios(("Regatta", words), ("Ines", "Hello"))[0][::2] == (speaker, role)


PLACEHOLDERS = {
    "en": ("<Media omitted>", "\u200eimage omitted"),
    "de": ("<Medien ausgeschlossen>", "\u200eVideo weggelassen"),
    "es": ("<Multimedia omitido>", "\u200eimagen omitida"),
    "fr": ("<Médias omis>", "\u200eimage absente"),
    "pt": ("<Mídia oculta>", "\u200eimagem ocultada"),
    "it": ("<Media omessi>", "\u200eimmagine omessa"),
    "hi": ("<मीडिया छोड़ा गया>", "\u200eचित्र छोड़ा गया"),
}


@pytest.mark.parametrize("language", PLACEHOLDERS)
@pytest.mark.parametrize("phone", [0, 1])
def test_placeholders_are_no_units_and_are_not_found(tmp_path: Path, language: str, phone: int) -> None:
    stamp, placeholder = STAMPS[language][phone], PLACEHOLDERS[language][phone]
    file = tmp_path / "_chat.txt"
    file.write_text(f"{stamp}Ines: I moved to Faro in 2019.\n{stamp}Rui: {placeholder}\n")
    as_json(tmp_path / "memory", "ingest", str(file))
    with tiermem.open(tmp_path / "memory") as memory:
        found = memory.search(placeholder.strip("\u200e<>"), kind="turns")
        assert not any("Rui" in one.text for one in found)
        assert not any("Rui" in unit.text for unit in memory.units())
        assert memory.stats().turns == 2


@pytest.mark.parametrize("text", ["an image omitted here", "", "image", "omitted", "x" * 5_000, "<Media>"])
def test_other_words_are_no_placeholder(text: str) -> None:
    assert not is_placeholder(text)


@pytest.mark.parametrize(
    "text",
    [
        "This message was deleted",
        "You deleted this message.",
        "\u200eDiese Nachricht wurde gelöscht.",
        "Missed voice call",
        "null",
        "IMG-20240501-WA0003.jpg (file attached)",
        "<attached: 00000012-PHOTO-2024-05-01-10-00-00.jpg>",
        "此消息已删除",
    ],
)
def test_what_stands_in_place_of_words_is_a_placeholder(text: str) -> None:
    assert is_placeholder(text)
    assert not is_placeholder(f"{text} and I know why")
    assert not is_placeholder(f"He wrote: {text}")

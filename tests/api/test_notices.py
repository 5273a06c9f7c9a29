"""Notices of chat apps are stored, and in no search, unit or context."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiermem
from pagestore import Turn
from tests.api.conftest import OpenMemory
from tiermem.dialogue import read_dialogue
from tiermem.text.placeholders import is_placeholder, is_without_words

ANDROID = "14/05/2024, 21:58 - "
IOS = "[14/05/2024, 21:58:01] "
NOTICES = {
    "encrypted": "Messages and calls are end-to-end encrypted. Only people in this chat can read them.",
    "created": "Rui created group “Regatta crew”",
    "added": "Rui added Zbigniew",
    "left": "Zbigniew left",
    "subject": "Rui changed the subject from “Regatta crew” to “Regatta 2025”",
    "security code": "Your security code with Zbigniew changed. Tap to learn more.",
    "German": "Rui hat Zbigniew hinzugefügt",
    "Spanish": "Rui cambió el asunto de “Regatta” a “Regatta 2025”",
    "French": "Les messages et les appels sont chiffrés de bout en bout. Zbigniew",
    "Portuguese": "Rui saiu da regatta de Zbigniew",
    "Italian": "Rui ha aggiunto Zbigniew",
}


def check_only_words_are_found(memory: tiermem.Memory, notice: str, turns: int) -> None:
    """Check that all turns are stored, and the notice is in nothing that is found."""
    memory.flush()
    assert memory.stats().turns == turns
    for found in memory.search("Zbigniew regatta Rui encrypted subject", limit=50):
        assert notice not in found.text
    assert not any(notice in unit.text for unit in memory.units())
    assert notice not in memory.context("Zbigniew regatta", max_tokens=2_000).text
    assert any("Faro" in found.text for found in memory.search("Faro"))
    assert any(notice in memory.page(page.id).text for page in memory.pages())


@pytest.mark.parametrize("notice", NOTICES.values(), ids=NOTICES)
@pytest.mark.parametrize("phone", ["Android", "iOS"])
def test_notices_of_whatsapp_are_stored_and_not_found(
    open_memory: OpenMemory, tmp_path: Path, phone: str, notice: str
) -> None:
    chat = tmp_path / "_chat.txt"
    line = f"{IOS}Regatta: \u200e{notice}" if phone == "iOS" else f"{ANDROID}{notice}"
    stamp = IOS if phone == "iOS" else ANDROID
    chat.write_text(f"{stamp}Ines: I moved to Faro in 2019.\n{line}\n{stamp}Rui: Lovely, is it warm?\n")
    memory = open_memory(engine="local")
    memory.ingest(read_dialogue(chat))
    check_only_words_are_found(memory, notice, 3)


@pytest.mark.parametrize(
    "notice",
    [
        "<Media weggelaten>", "<Medya dahil edilmedi>", "<Pominięto multimedia>", "<Без медиафайлов>",
        "Esta mensagem foi apagada", "Bu mesaj silindi", "Ta wiadomość została usunięta.",
        "Данное сообщение удалено.", "Dit bericht is verwijderd.",
    ],
)  # fmt: skip
def test_left_out_media_and_deleted_messages_of_other_languages_are_not_found(
    open_memory: OpenMemory, notice: str
) -> None:
    memory = open_memory(engine="local")
    memory.add([Turn(speaker="Ines", text="I moved to Faro in 2019."), Turn(speaker="Rui", text=notice)])
    check_only_words_are_found(memory, notice, 2)
    assert not is_without_words(Turn(speaker="Rui", text=f"{notice} I wrote"))


@pytest.mark.parametrize(
    "action", ["create_group", "invite_members", "remove_members", "edit_group_title", "pin_message"]
)
def test_notices_of_telegram_are_stored_and_not_found(
    open_memory: OpenMemory, tmp_path: Path, action: str
) -> None:
    service = {"id": 1, "type": "service", "date": "2024-05-14T21:58:00", "actor": "Rui", "action": action}
    said = {
        "id": 2, "type": "message", "date": "2024-05-14T21:59:00", "from": "Ines", "text": "I moved to Faro.",
    }  # fmt: skip
    chat = tmp_path / "result.json"
    chat.write_text(json.dumps({"name": "Regatta", "type": "g", "id": 7, "messages": [service, said]}))
    memory = open_memory(engine="local")
    memory.ingest(read_dialogue(chat))
    check_only_words_are_found(memory, f"[{action}]", 2)


@pytest.mark.parametrize(
    "text",
    [
        "Messages and calls are end-to-end encrypted. No one outside of this chat can read them.",
        "\u200eNachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt. Niemand außerhalb liest mit.",
        "Los mensajes y las llamadas están cifrados de extremo a extremo.",
        "Your security code with Ines changed.",
        "I messaggi e le chiamate sono crittografati end-to-end. Nessuno al di fuori può leggerli.",
    ],
)
def test_a_notice_of_fixed_words_is_known_whoever_says_it(text: str) -> None:
    assert is_placeholder(text)
    assert is_without_words(Turn(speaker="Ines", text=text))


@pytest.mark.parametrize(
    "text",
    [
        "Zbigniew left",
        "Rui added sugar",
        "I changed the subject to Rome",
        "Are messages and calls end-to-end encrypted?",
        "He says your security code with the bank changed. Ring them.",
        "[create_group]",
    ],
)
def test_words_of_a_person_are_no_notice(text: str) -> None:
    assert not is_without_words(Turn(speaker="Ines", text=text))
    assert not is_without_words(Turn(speaker="WhatsApp", text=text, role="user"))

"""A turn has one address by every way in, and each way shows its words before they are erased."""

import json
import re
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from typer.testing import CliRunner

import tiermem
from tests.apps.http.conftest import Server
from tests.apps.test_mcp import called, text
from tiermem.apps.cli.app import app
from tiermem.apps.mcp import server
from tiermem.errors import InvalidInput

SAID = (
    ("Jörg", "Mein Fahrradschloss hat die Zahl 7719."),
    ("愛子", "来週の火曜日に歯医者に行きます。"),
    ("Zoë", "Ma sœur Élodie a vendu la péniche 🛶 hier."),
    ("Олег", "Ключ от подвала лежит под берёзой."),
    ("ليلى", "قطعة الأرض في طنجة باعها خالي."),
    ("Ann-Marie O'Neill", 'The code is "a|b" [1], see https://example.test/x?turn=4#2.'),
    ("Mehmet", "Alışveriş listesi:\n- süt\n- yumurta"),
)
SETTINGS: dict[str, Any] = {"engine": "local", "distil": "inline", "embedder": "hashed"}
NUMBERS = ("0", "1", "3", "7", "9", "42", "0007")


@pytest.fixture(params=SAID, ids=lambda said: said[0])
def said(request: pytest.FixtureRequest) -> tuple[str, str]:
    """The speaker and the words of one of the turns."""
    speaker, words = request.param
    return speaker, words


@pytest.fixture(params=[False, True], ids=["open", "sealed"])
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A store of two sessions, so that numbers of the log and places on a page differ."""
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    monkeypatch.setenv("COLUMNS", "200")
    with tiermem.open(tmp_path / "memory", **SETTINGS) as memory:
        memory.add("The kettle is new.", speaker="Ben", session="first")
        for minute, (speaker, words) in enumerate(SAID):
            memory.add(words, speaker=speaker, session="second", said_at=f"2026-02-14T08:{minute:02}")
        if request.param:
            memory.flush()
    return tmp_path / "memory"


def lines_of(store: Path) -> dict[str, str]:
    """The words of each address that has some."""
    with tiermem.open(store, read_only=True, **SETTINGS) as memory:
        pages = [*memory.open_pages(), *(memory.page(info.id) for info in memory.pages())]
        lines = [line for page in pages for line in page.lines]
        return {str(line.address): line.turn.text for line in lines if line.turn is not None}


def address_of(store: Path, words: str) -> str:
    (address,) = [address for address, text in lines_of(store).items() if text == words]
    return address


def check_erased(store: Path, before: dict[str, str], address: str) -> None:
    """Assert that the words of this address are gone, and no others."""
    assert lines_of(store) == {one: words for one, words in before.items() if one != address}


def run(store: Path, *args: str, code: int = 0, given: str | None = None) -> str:
    done = CliRunner().invoke(app, [*args, "--store", str(store)], input=given)
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


def test_the_command_line_finds_displays_and_erases_by_the_address(
    store: Path, said: tuple[str, str]
) -> None:
    speaker, words = said
    address, before = address_of(store, words), lines_of(store)
    reading = (
        run(store, "search", words, "--kind", "turns", "--json"),
        run(store, "context", words, "--json"),
        run(store, "page", address, "--json"),
        run(store, "ask", words, "--json", "--read-only"),
    )
    for output in reading:
        assert f'"{address}"' in output
    assert address in run(store, "search", words, "--kind", "turns")
    tried = " ".join(run(store, "erase", "--turn", address, "--dry-run").split())
    refused = " ".join(
        run(store, "erase", "--turn", address, "--reason", "asked", given="n\n", code=1).split()
    )
    shown = f"{address} {speaker}, 2026-02-14 08:0{SAID.index(said)}: {' '.join(words.split())}"
    for output in (tried, refused):
        assert shown in output.replace("\\n", " ").replace("⏎", " ")
        assert not any(" ".join(other.split()) in output for _, other in SAID if other != words)
    assert lines_of(store) == before
    run(store, "erase", "--turn", address, "--reason", "asked", given="y\n")
    check_erased(store, before, address)


def test_a_model_finds_and_erases_by_the_address(store: Path, said: tuple[str, str]) -> None:
    speaker, words = said
    address, before = address_of(store, words), lines_of(store)

    async def forget() -> None:
        async with (
            await tiermem.AsyncMemory.open(store, **SETTINGS) as memory,
            Client(server(memory)) as client,
        ):
            found = (await called(client, "search", query=words, kind="turns"))["found"]
            assert [one["turn"] for one in found if words in one["text"]] == [address]
            assert address in await called(client, "page", page_id=address)
            shown = await called(client, "forget", turn=address, reason="asked")
            row = next(line for line in shown.splitlines() if line.startswith(address))
            assert f"{speaker}, 2026-02-14 08:0{SAID.index(said)}" in row
            assert words.split("\n", maxsplit=1)[0] in row
            await called(client, "forget", turn=address, reason="asked", confirm=True)

    anyio.run(forget)
    check_erased(store, before, address)


def test_over_http_a_turn_is_found_and_erased_by_the_address(store: Path, said: tuple[str, str]) -> None:
    speaker, words = said
    address, before = address_of(store, words), lines_of(store)
    served = Server(store, **SETTINGS)
    try:
        with tiermem.open(served.url) as memory:
            (found,) = [one for one in memory.search(words, kind="turns") if words in one.text]
            assert (found.turn, found.speaker, found.session) == (address, speaker, "second")
            tried = memory.erase(turn=address, dry_run=True)
            assert [(one.turn, one.speaker, one.text) for one in tried.words] == [(address, speaker, words)]
            assert address in {line.address for line in memory.page(address).lines}
            assert memory.erase(turn=address, reason="asked").words == ()
    finally:
        served.stop()
    check_erased(store, before, address)


def test_no_number_erases_by_the_command_line_or_mcp_or_http(store: Path) -> None:
    before = lines_of(store)
    for number in NUMBERS:
        output = run(store, "erase", f"--turn={number}", "--reason", "asked", "--yes", code=1)
        assert re.search(r"turn must be an address such as 't1:\d+-\w{4}'", output)

    async def forget() -> None:
        async with (
            await tiermem.AsyncMemory.open(store, **SETTINGS) as memory,
            Client(server(memory)) as client,
        ):
            for number in NUMBERS:
                given = {"turn": number, "reason": "asked", "confirm": True}
                result = await client.call_tool("forget", given)
                assert result.is_error
                assert "turn must be an address such as" in text(result)

    anyio.run(forget)
    served = Server(store, **SETTINGS)
    try:
        with tiermem.open(served.url) as memory:
            for number in NUMBERS:
                with pytest.raises(InvalidInput, match="turn must be an address such as"):
                    memory.erase(turn=number, reason="asked")
    finally:
        served.stop()
    assert lines_of(store) == before


def test_a_wrong_check_part_erases_nothing_by_the_command_line(store: Path, said: tuple[str, str]) -> None:
    before = lines_of(store)
    number, _, check = address_of(store, said[1]).partition("-")
    for wrong in {check[::-1], "0000", f"{check[:3]}{'0' if check[3] != '0' else '1'}"} - {check}:
        output = run(store, "erase", "--turn", f"{number}-{wrong}", "--reason", "asked", "--yes", code=1)
        assert "are those of another turn" in " ".join(output.split())
    assert lines_of(store) == before


def test_the_receipt_that_is_stored_has_no_words(store: Path, said: tuple[str, str]) -> None:
    address = address_of(store, said[1])
    receipt = json.loads(run(store, "erase", "--turn", address, "--reason", "asked", "--yes", "--json"))
    assert receipt["words"] == []
    assert receipt["leftovers"]["found"] == []
    stored = b"".join(file.read_bytes() for file in store.rglob("*") if file.is_file())
    for form in (said[1], json.dumps(said[1])[1:-1]):
        assert form.encode() not in stored

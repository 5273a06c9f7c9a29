"""Ten questions of a new user without a model, by the command line, MCP and HTTP: only what was said."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from typer.testing import CliRunner

import tiermem
from tests.apps.http.conftest import Server
from tests.apps.test_mcp import called
from tiermem.apps.cli.app import app
from tiermem.apps.mcp import server

CHAT = """\
2025-03-02 19:10
Nora: We moved to Ghent in February, the flat is bright.
Nora: My sister Lotte still works at the harbour office in Antwerp.
2025-04-11 08:30
Nora: I quit, I am joining the circus tomorrow.
Nora: (kidding, I have a meeting at nine)
Pim: I will fly to Madrid on Friday.
2025-04-12 21:00
Pim: Madrid is off, the flight was cancelled.
Nora: My aunt wrote: "Dear Nora, I sold the red Volvo and bought a bicycle."
Nora: In my novel the detective lives in a lighthouse and hates coffee.
2025-05-20 12:00
Nora: I read Dune in January.
Nora: Then I finished Emma on the train.
Nora: And now The Trial, slowly.
Nora: Lotte moved to the tax office in Bruges last week.
2025-06-01 18:00
Nora: Ich trinke jetzt nur noch grünen Tee, Kaffee macht mich nervös.
Pim: 我下个月搬到上海，在徐汇区租了一间公寓。
"""
QUESTIONS = (
    ("Where does Lotte work?", "Lotte moved to the tax office in Bruges last week."),
    ("Is Nora joining the circus?", "(kidding, I have a meeting at nine)"),
    ("Is Pim flying to Madrid?", "Madrid is off, the flight was cancelled."),
    ("Who sold a red Volvo?", 'My aunt wrote: "Dear Nora, I sold the red Volvo and bought a bicycle."'),
    ("Where does Pim live?", ""),
    ("Where does the detective live?", "In my novel the detective lives in a lighthouse and hates coffee."),
    ("Which books did Nora read?", "I read Dune in January."),
    ("What is Nora's shoe size?", ""),
    ("Was trinkt Nora?", "Ich trinke jetzt nur noch grünen Tee, Kaffee macht mich nervös."),
    ("下个月搬到哪里？", "我下个月搬到上海，在徐汇区租了一间公寓。"),
)
"""A changed fact, a joke, a plan called off, a quoted mail, another person, fiction, a list, an absent thing,
German and Chinese; and a line that must be displayed, if the chat has one.
"""
SAID = {line.partition(": ")[2]: line.partition(": ")[0] for line in CHAT.splitlines() if ": " in line}
HEADINGS = ("Said about this:", "Nearest in memory:")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("said")
    (folder / "chat.txt").write_text(CHAT, encoding="utf-8")
    done = CliRunner().invoke(app, ["ingest", str(folder / "chat.txt"), "--store", str(folder / "memory")])
    assert done.exit_code == 0, done.output
    return folder / "memory"


@pytest.fixture(scope="module")
def address(store: Path) -> Iterator[str]:
    served = Server(store, engine="local")
    yield served.url
    served.stop()


def check_lines(text: str, lines: list[dict[str, Any]], expected: str) -> None:
    """Every line displays a turn of its speaker, and nothing else is displayed."""
    assert expected in [line["text"] for line in lines] or not expected
    heading, *printed = text.splitlines()
    assert heading in HEADINGS
    shown = [one for line in lines for one in (line, line["next"]) if one is not None]
    assert len(printed) == len(shown)
    for one, row in zip(shown, printed, strict=True):
        assert SAID[one["text"]] == one["speaker"]
        assert one["text"] in row.replace("«", "").replace("»", "")


@pytest.mark.parametrize(("question", "expected"), QUESTIONS)
def test_by_the_command_line(store: Path, question: str, expected: str) -> None:
    done = CliRunner().invoke(app, ["ask", question, "--store", str(store), "--read-only", "--json"])
    answer = json.loads(done.stdout)
    check_lines(answer["text"], answer["said"], expected)


def test_by_mcp(store: Path) -> None:
    async def ask() -> None:
        async with (
            await tiermem.AsyncMemory.open(store, engine="local", read_only=True) as memory,
            Client(server(memory, read_only=True)) as client,
        ):
            for question, expected in QUESTIONS:
                answer = await called(client, "ask", question=question)
                check_lines(answer["answer"], answer["said"], expected)

    anyio.run(ask)


def test_over_http(address: str) -> None:
    with tiermem.open(address) as memory:
        for question, expected in QUESTIONS:
            answer = memory.ask(question)
            lines = [
                {"text": line.text, "speaker": line.speaker, "next": line.next and vars_of(line.next)}
                for line in answer.said
            ]
            check_lines(answer.text, lines, expected)
            assert answer.abstained == (answer.text.splitlines()[0] == HEADINGS[1])


def vars_of(line: Any) -> dict[str, Any]:
    return {"text": line.text, "speaker": line.speaker}

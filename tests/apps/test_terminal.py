"""What reaches the terminal, and what JSON says."""

import io
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

import tiermem
from pagestore import Page, PageId, PageLine, SessionId, SpaceId, Span, Turn
from tiermem.apps.cli.checkpoint_files import read_checkpoints, write_checkpoints
from tiermem.apps.cli.search import results
from tiermem.apps.present.answers import page_view, said_lines
from tiermem.apps.present.as_json import plain, print_json
from tiermem.apps.present.tables import numbered_table, table
from tiermem.apps.present.terminal import when
from tiermem.errors import InvalidInput
from tiermem.model import Answer, CitedSentence, Evidence
from tiermem.text.unicode import show_controls

any_text = st.text(alphabet=st.characters(exclude_categories=()))


@given(any_text)
def test_safe_text_keeps_its_length_and_carries_no_control_to_the_terminal(text: str) -> None:
    shown = show_controls(text)
    assert len(shown) == len(text)
    shown.encode("utf-8")
    assert all(char.isprintable() or char in "\n\t" or ord(char) >= 0xA0 for char in shown)


def test_an_escape_sequence_in_a_turn_is_shown_not_obeyed() -> None:
    assert show_controls("a\x1b[2Jb\x00\x7f\x9b") == "a␛[2Jb␀␡\ufffd"


def test_an_escape_sequence_in_what_is_found_is_shown_not_obeyed() -> None:
    console = Console(file=io.StringIO(), width=80)
    console.print(results([Evidence(text="a\x1b[2Jb", spans=(), score=1.0, source="turn")], {}))
    assert isinstance(console.file, io.StringIO)
    assert "a␛[2Jb" in console.file.getvalue()
    assert "\x1b" not in console.file.getvalue()


@given(any_text)
def test_any_text_survives_json_as_utf_8(text: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        print_json({"text": text})
        stream.flush()
    written = stream.buffer.getvalue()
    assert json.loads(written.decode("utf-8")) == {"text": text}


def test_json_of_a_terminal_without_utf_8_is_still_json() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        print_json(["café", "\ud800"])
        stream.flush()
    assert json.loads(stream.buffer.getvalue()) == ["café", "\ud800"]


def test_values_become_json_by_their_field_names() -> None:
    span = Span(page_id=PageId("p1:a"), start=1, end=2)
    moment = datetime.fromisoformat("2024-05-08T12:00")
    assert plain({"span": span, "at": moment, "path": Path("a"), "many": (1,)}) == {
        "span": {"page_id": "p1:a", "start": 1, "end": 2},
        "at": "2024-05-08T12:00:00",
        "path": "a",
        "many": [1],
    }


def test_a_moment_is_written_for_people() -> None:
    assert when(datetime.fromisoformat("2024-05-08T12:00:31")) == "2024-05-08 12:00"
    assert when(datetime.fromisoformat("2024-05-08")) == "2024-05-08"
    assert when(None) == "time unknown"


def _page() -> Page:
    text = "[2024-05-08] Ann: No sesame\x1b, please.\n[2024-05-08] Bob: Noted.\n"
    split = text.index("\n") + 1
    said = Turn(speaker="Ann", text="")
    lines = (
        PageLine(seq=0, start=0, body=18, end=split, turn=said),
        PageLine(seq=1, start=split, body=split + 18, end=len(text), turn=said),
    )
    return Page(
        id=PageId("p1:0123456789abcdef"),
        space=SpaceId("s"),
        session=SessionId("chat"),
        number=0,
        text=text,
        lines=lines,
        tokens=20,
        token_counter="words",  # noqa: S106 - a counter, not a password
        sealed_at=None,
    )


def _drawn(page: Page, spans: tuple[Span, ...], *, colour: bool) -> str:
    console = Console(
        file=io.StringIO(), width=60, force_terminal=colour, color_system="truecolor" if colour else None
    )
    console.print(page_view(page, console, spans=spans))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_cited_words_are_marked_in_their_page_also_without_colour() -> None:
    page = _page()
    start = page.text.index("sesame")
    span = Span(page_id=page.id, start=start, end=start + len("sesame"))
    assert "No «sesame»␛, please." in _drawn(page, (span,), colour=False)
    coloured = _drawn(page, (span,), colour=True)
    assert "«" not in coloured
    assert "\x1b[1;30;103msesame\x1b[0m" in coloured


def test_a_page_wraps_and_loses_no_word_in_a_narrow_terminal() -> None:
    console = Console(file=io.StringIO(), width=30)
    console.print(page_view(_page(), console))
    assert isinstance(console.file, io.StringIO)
    drawn = console.file.getvalue()
    assert max(map(len, drawn.splitlines())) <= 30
    assert all(word in drawn for word in ("sesame␛,", "please.", "Noted."))


EVIDENCE = {
    "prose": "The spare key to the boat house hangs behind the third blue gate on the left, under the cap.",
    "an address": "https://example.com/albums/2024/harbour/boathouse-key-under-the-cap.html?size=large#left",
    "a long word": "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "Chinese": "備用鑰匙掛在船屋左邊第三扇藍色門後面的帽子下面請不要告訴鄰居也不要告訴他的狗",
    "Thai": "กุญแจอยู่ใต้โถปลาทองพรุ่งนี้เราจะไปดูเรือ" * 2,
    "emoji": "🎉🚤🔑" * 20,
    "rows": "Keys:\nshed 4411 behind the gate of the boat house\ncellar 9027 below the cap",
    "markup": "[bold]the key[/bold] [link=x]hangs[/link] behind [red]the third[/] blue gate on the left",
}
Shown = Callable[[str, Console], Iterable[RenderableType]]


def _evidence(text: str) -> Evidence:
    return Evidence(
        text=text, spans=(), score=1.0, source="turn", said_at=datetime.fromisoformat("2024-05-08")
    )


def _line_of(text: str) -> CitedSentence:
    return CitedSentence(text=text, speaker="Ann", next=CitedSentence(text=text, speaker="Bo"))


@cache
def _answer() -> Answer:
    with tiermem.open(":memory:", engine="local", embedder="hashed") as memory:
        return memory.ask("Where is the key?")


def _page_of(text: str) -> Page:
    said = PageLine(seq=0, start=0, body=0, end=len(text), turn=Turn(speaker="Ann", text=text))
    return replace(_page(), text=text, lines=(said,))


VIEWS: dict[str, Shown] = {
    "search": lambda text, _: [results([_evidence(text)], {})],
    "ask": lambda text, _: said_lines(replace(_answer(), said=(_line_of(text),))),
    "page": lambda text, console: [page_view(_page_of(text), console)],
    "a numbered list": lambda text, _: [numbered_table([(1, Text(text))])],
    "a table": lambda text, _: [table(("number", "text"), [("1", text)], numbers=("number",))],
}


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize("text", EVIDENCE.values(), ids=EVIDENCE)
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_evidence_wraps_and_no_character_of_it_is_cut(view: Shown, text: str, width: int) -> None:
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False)
    console.print(*view(text, console), sep="\n")
    assert isinstance(console.file, io.StringIO)
    drawn = console.file.getvalue()
    assert max(cell_len(line) for line in drawn.splitlines()) <= width
    assert "".join(text.split()) in "".join(drawn.replace("│", "").split())


def test_a_name_of_a_session_that_is_too_long_for_the_frame_is_displayed_whole_below_it() -> None:
    name = "Boat and garden (whatsapp:~2aebb91138f6 2025-04-03)"
    for width in (40, 120):
        console = Console(file=io.StringIO(), width=width)
        console.print(page_view(_page(), console, session=name))
        assert isinstance(console.file, io.StringIO)
        drawn = console.file.getvalue().splitlines()
        words = " ".join(word for line in drawn for word in line.strip("│╭╮─ ").split())
        assert f"session {name}, page 0" in words
        assert ("session" in drawn[0]) == (width == 120)


def test_checkpoints_come_back_from_their_file_and_other_files_are_refused(tmp_path: Path) -> None:
    from pagestore import Checkpoint

    kept = Checkpoint(space=SpaceId("s"), size=3, root="ab" * 32)
    write_checkpoints(tmp_path / "c.json", [kept])
    assert read_checkpoints(tmp_path / "c.json") == {"s": kept}
    for other in (
        '[{"space": "s", "size": 3, "root": "ab"}]',
        '[{"space": "s", "size": 3, "root": "ab", "format": 1}]',
    ):
        (tmp_path / "c.json").write_text(other)
        with pytest.raises(InvalidInput, match="no file of checkpoints"):
            read_checkpoints(tmp_path / "c.json")
    (tmp_path / "other.json").write_text('{"space": 1}')
    with pytest.raises(InvalidInput, match="no file of checkpoints"):
        read_checkpoints(tmp_path / "other.json")
    with pytest.raises(InvalidInput, match="cannot read"):
        read_checkpoints(tmp_path / "absent.json")
    with pytest.raises(InvalidInput, match="cannot write"):
        write_checkpoints(tmp_path / "absent" / "c.json", [kept])

"""One space never sees another, whatever is asked and however the spaces are called."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import anyio
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tiermem
from pagestore import Turn
from tests.engines import quoting_engine
from tests.stores import NewAddress
from tiermem.dialogue.messages import LONGEST_SPEAKER
from tiermem.embedding.hashed import HashEmbedder
from tiermem.index.embedded import open_embedded
from tiermem.index.row_index import RowIndex

CODE = "The vault code of the blue house is Zephyrine."

names = st.one_of(
    st.sampled_from(
        [
            "default", "DEFAULT", "../default", "a/b", "a b", "'; DROP TABLE units; --", ".", "..",
            "x" * 10_000, "\x00", "space\n", "*", '{"must": []}',
            "défaut", "CON", "\u202espace", "index",
        ]
    ),
    st.text(min_size=1, max_size=30).filter(str.strip),
)  # fmt: skip


def everything_shown(memory: tiermem.Memory) -> str:
    """All that the public methods of one memory give away about the secret's subject."""
    answers = [
        memory.ask("What is the vault code of the blue house?", mode=mode) for mode in ("router", "raw")
    ]
    return repr(
        (
            answers,
            [memory.audit(answer.id) for answer in answers],
            memory.search("vault code blue house"),
            memory.search("vault code blue house", kind="pages"),
            memory.recall("vault code blue house", timeframe=("1990-01-01", None)),
            memory.context("What is the vault code of the blue house?"),
            memory.units(),
            memory.pages(),
            memory.open_pages(),
            memory.answers(),
            memory.apply_findings(),
        )
    )


@pytest.fixture(scope="module")
def store(session_address: NewAddress) -> Iterator[Path | str]:
    """One store for all examples, kept open so that its index is opened once."""
    path = session_address("isolation")
    with tiermem.open(path, space="keeper", engine=quoting_engine(), embedder=HashEmbedder()):
        yield path


@settings(max_examples=25)
@given(spaces=st.lists(names, min_size=2, max_size=2, unique=True), seal=st.booleans())
def test_no_method_with_one_space_ever_returns_another(
    store: Path | str, spaces: list[str], seal: bool
) -> None:
    assume(not set(spaces) & set(tiermem.spaces(store)))
    embedder = HashEmbedder()
    with (
        tiermem.open(store, space=spaces[0], engine=quoting_engine(), embedder=embedder) as mine,
        tiermem.open(store, space=spaces[1], engine=quoting_engine(), embedder=embedder) as theirs,
    ):
        mine.add(CODE, speaker="Ann", session="one")
        theirs.add("The blue house has a vault, and I forgot its code.", speaker="Ann", session="one")
        if seal:
            mine.flush()
            theirs.flush()
        assert "Zephyrine" in everything_shown(mine)
        assert "Zephyrine" not in everything_shown(theirs)


def test_the_same_words_in_two_spaces_stay_two_units(address: Path | str) -> None:
    embedder = HashEmbedder()
    opened = [
        tiermem.open(address, space=name, engine=quoting_engine(), embedder=embedder)
        for name in ("one", "two")
    ]
    for memory in opened:
        memory.add(CODE, speaker="Ann")
        memory.flush()
    found = [memory.search("vault code") for memory in opened]
    assert [len(hits) for hits in found] == [1, 1]
    assert found[0][0].unit_id != found[1][0].unit_id
    assert found[0][0].spans[0].page_id != found[1][0].spans[0].page_id
    for memory, hits in zip(opened, found, strict=True):
        assert CODE in memory.page(hits[0].spans[0].page_id).text
        memory.close()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RowIndex]:
    """One real index for all examples: its filters are what hostile names would break."""
    index = open_embedded(tmp_path_factory.mktemp("index"), HashEmbedder())
    yield index
    anyio.run(index.close)


@settings(max_examples=25)
@given(
    sessions=st.lists(names, min_size=2, max_size=2, unique=True),
    speaker=names.filter(lambda name: len(name) <= LONGEST_SPEAKER) | st.sampled_from(["", " "]),
)
def test_hostile_sessions_and_speakers_do_nothing_but_name(
    index: RowIndex, sessions: list[str], speaker: str
) -> None:
    secret, other = sessions
    space = f"example {uuid4()}"
    with tiermem.open(
        ":memory:",
        space=space,
        engine=quoting_engine(),
        index=index,
        embedder=HashEmbedder(),
        write_back="inline",
    ) as memory:
        memory.add(Turn(speaker=speaker, text=CODE), session=secret)
        memory.add(Turn(speaker=speaker, text="The red house has no vault at all."), session=other)
        memory.flush()
        question = "What is the vault code of the blue house?"
        shown = (
            memory.search(question, session=other),
            memory.search(question, session=other, kind="pages"),
            memory.context(question, session=other),
            memory.ask(question, session=other, mode="raw"),
            memory.units(other),
        )
        assert "Zephyrine" not in repr(shown)
        assert "Zephyrine" in repr(memory.search(question, session=secret, kind="pages"))
        for session in sessions:
            (info,) = memory.pages(session)
            page = memory.page(info.id)
            (line,) = page.lines
            assert line.turn is not None
            assert (info.session, line.turn.speaker) == (session, speaker)
            assert len(page.text.splitlines()) == 1

"""A memory in PostgreSQL: opened by a URL, by several processes, with no password in anything it says."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import tiermem
from pagestore import Page, SessionId, SpaceId
from pagestore.errors import Inaccessible, NewerFormat, NotAStore
from tests.api.conftest import DIALOGUE, OPTIONS, tell
from tests.postgres import PostgresServer, execute, values_in
from tiermem.api import AsyncMemory
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import ErasedMeanwhile, InvalidInput, UnknownId
from tiermem.index.features import IS_EMPTY, pack, unit_features
from tiermem.index.segments import decode_segment
from tiermem.index.values import Entry
from tiermem.model import AskStep
from tiermem.storage.postgres.database import Database
from tiermem.storage.postgres.lines import PostgresLines

HIDDEN = "se-cret"


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    """The URL of a new database, with a password, which the server does not ask for."""
    return postgres.create_database().replace("postgres:@", f"postgres:{HIDDEN}@")


@pytest.fixture
def memory(url: str) -> Iterator[tiermem.Memory]:
    with open_memory(url) as opened:
        yield opened


def open_memory(url: str, **given: Any) -> tiermem.Memory:
    return tiermem.open(url, **(OPTIONS | {"embedder": HashEmbedder()} | given))


def test_it_answers_and_audits_as_a_memory_on_disk(url: str) -> None:
    with open_memory(url) as memory:
        tell(memory)
        memory.flush()
        answer = memory.ask("What is Biscuit allergic to?")
        assert "chicken" in answer.text
        assert memory.verify().ok
    with open_memory(url, create=False) as memory:
        assert memory.audit(answer.id).answer == answer
        assert memory.stats().turns == len(DIALOGUE)
        assert memory.stats().index_pending == 0
        assert "chicken" in memory.ask("What is Biscuit allergic to?").text


def test_several_spaces_are_apart_and_listed(url: str) -> None:
    with open_memory(url, space="ann") as ann, open_memory(url, space="bob") as bob:
        ann.add("Biscuit is allergic to chicken.", speaker="Caroline")
        assert bob.search("chicken") == ()
        assert tiermem.spaces(url) == ("ann", "bob")
    with pytest.raises(UnknownId, match=r"no space 'eve' in 'postgresql://.*there are: 'ann', 'bob'"):
        open_memory(url, space="eve", create=False)


def test_a_second_process_finds_what_the_first_was_told_and_writes_too(
    memory: tiermem.Memory, url: str
) -> None:
    memory.add("My rescue dog Biscuit is allergic to chicken.", speaker="Caroline")
    memory.flush()
    other = (
        "import sys, tiermem\n"
        "with tiermem.open(sys.argv[1], engine='local', embedder='hashed', distil='inline') as memory:\n"
        "    assert 'chicken' in memory.ask('What is Biscuit allergic to?').text\n"
        "    memory.remember('Biscuit likes fish.')\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", other, url], check=True, timeout=120)
    assert "fish" in " ".join(found.text for found in memory.search("Biscuit likes"))
    assert len(memory.answers()) == 1


IN_DATABASE = pytest.mark.parametrize("index", ["embedded", "pgvector"])
"""Both indexes that are in the database of a store."""


def turns_indexed(url: str, index: str) -> list[str]:
    """The ids of turns that an index in the database holds, as often as it does."""
    if index == "pgvector":
        found = execute(url, "SELECT id FROM tiermem_index.points WHERE collection = 'turns'")
        return [entry for (entry,) in found]
    segments = execute(url, "SELECT start, body FROM tiermem_rows.segments WHERE space LIKE 'turns %'")
    blocks = [decode_segment(body, start, HashEmbedder().dimensions) for start, body in segments]
    return [str(row["seq"]) for block in blocks for row in block.rows if not row["flags"] & IS_EMPTY]


@IN_DATABASE
def test_two_processes_fill_and_search_one_index_in_the_database(url: str, index: str) -> None:
    with open_memory(url, index=index) as memory:
        fill = [
            subprocess.Popen([sys.executable, "-W", "error", "-c", FILL, url, name, index])
            for name in ("ann", "bob")
        ]
        assert [process.wait(120) for process in fill] == [0, 0]
        memory.flush()
        found = memory.search("lamp in the attic", limit=100)
        assert len({one.text for one in found}) > 20
        assert not memory.stats().problems
        assert memory.stats().index_pending == 0
        turns = memory.stats().turns
    indexed = turns_indexed(url, index)
    assert len(indexed) == len(set(indexed)) == turns == 40


FILL = """
import sys, tiermem
url, name, index = sys.argv[1:]
with tiermem.open(
    url, engine="local", embedder="hashed", distil="inline", index=index, page_tokens=100
) as memory:
    for number in range(20):
        memory.add(f"{name} put lamp {number} in the attic of house {number}.", speaker=name, session=name)
        found = memory.search(f"{name} put lamp {number} in the attic")
        assert any(f"{name} put lamp {number} in" in one.text for one in found), (name, number, found)
"""


@IN_DATABASE
def test_a_process_that_is_killed_while_it_fills_the_index_leaves_no_gap(url: str, index: str) -> None:
    kill = FILL.replace("import sys, tiermem", KILLING)
    killed = subprocess.run([sys.executable, "-c", kill, url, "ann", index], check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    before = len(turns_indexed(url, index))
    with open_memory(url, index=index) as memory:
        memory.flush()
        turns = memory.stats().turns
        assert before < turns
        assert memory.stats().index_pending == 0
    found = turns_indexed(url, index)
    assert len(found) == len(set(found)) == turns


KILLING = """
import os, signal, sys, tiermem
from tiermem.index.postgres import PostgresIndex
from tiermem.index.table import TableIndex
marks = []
def kill_in(kind):
    set_mark = kind.set_mark
    async def set_mark_or_die(self, *given):
        await set_mark(self, *given)
        marks.append(given)
        if len(marks) == 9:
            os.kill(os.getpid(), signal.SIGKILL)
    kind.set_mark = set_mark_or_die
kill_in(PostgresIndex)
kill_in(TableIndex)
"""


@IN_DATABASE
def test_words_that_one_process_erases_leave_the_index_of_all(url: str, index: str) -> None:
    with open_memory(url, index=index) as memory:
        tell(memory)
        memory.flush()
        erase = [sys.executable, "-W", "error", "-c", ERASE, url, index]
        subprocess.run(erase, check=True, timeout=120)
        assert len(turns_indexed(url, index)) == len(DIALOGUE) - 1
        assert "chicken" not in " ".join(one.text for one in memory.search("Biscuit allergic to chicken"))
        memory.add("Biscuit likes fish.", speaker="Caroline")
        memory.flush()
        assert len(turns_indexed(url, index)) == len(DIALOGUE)
        assert not memory.stats().problems
        receipt = memory.erase(session="s2", reason="asked to")
        assert receipt.leftovers.clean
        assert {"embedded": "tiermem_rows", "pgvector": "tiermem_index"}[index] in receipt.not_reached
        assert len(turns_indexed(url, index)) == 3


ERASE = """
import sys, tiermem
with tiermem.open(sys.argv[1], engine="local", embedder="hashed", index=sys.argv[2]) as memory:
    receipt = memory.erase(turn="t2", session="s1", reason="asked to")
    assert receipt.erasure.index == "removed" and receipt.leftovers.clean, receipt
"""


def test_what_was_erased_is_in_no_table_of_the_index_and_in_dead_rows_until_vacuum_full(url: str) -> None:
    """Dead rows are read from the file of the table, as their operator could."""
    words = "Biscuit is allergic to chicken."
    with open_memory(url) as memory:
        memory.add({"speaker": "Caroline", "text": words, "id": "t1"}, session="s1")
        memory.add("The ferry leaves at nine.", speaker="Ann", session="s2")
        memory.flush()
        terms = pack_terms(words)
        assert terms in b"".join(value for _, _, value in values_in(url))
        assert memory.erase(turn="t1", session="s1", reason="asked to").leftovers.clean
        assert terms not in b"".join(value for _, _, value in values_in(url))
    assert terms in file_of(url, "tiermem_rows.segments")
    execute(url, "VACUUM FULL tiermem_rows.segments")
    assert terms not in file_of(url, "tiermem_rows.segments")


def pack_terms(text: str) -> bytes:
    """The hashes of the words of a text as a segment holds them."""
    entry = Entry(id="", session=SessionId(""), text=text)
    return pack([unit_features(entry)], {}, 1).terms.tobytes()


def file_of(url: str, table: str) -> bytes:
    """What the files of a table hold on the disk of the server, large values of it too."""
    execute(url, "CHECKPOINT")
    names = execute(
        url,
        "SELECT current_setting('data_directory') || '/' || pg_relation_filepath(oid) FROM pg_class"
        " WHERE oid = %s::regclass"
        " OR oid = (SELECT reltoastrelid FROM pg_class WHERE oid = %s::regclass)",
        table,
        table,
    )
    return b"".join(Path(name).read_bytes() for (name,) in names)


def test_names_in_the_index_are_looked_through_for_leftovers(url: str) -> None:
    with open_memory(url, index="pgvector") as memory:
        tell(memory)
        memory.flush()
        execute(url, "UPDATE tiermem_index.points SET session = 'never learned to swim'")
        found = {one.file for one in memory.leftover_scan(["never learned to swim"]).found}
        assert found == {"tiermem.lines", "tiermem_index.points"}


def test_marks_of_the_index_of_the_space_are_looked_through_for_leftovers(url: str) -> None:
    with open_memory(url) as memory, open_memory(url, space="other") as other:
        tell(memory)
        tell(other)
        memory.flush()
        other.flush()
        change = "UPDATE tiermem_rows.spaces SET digest = 'never learned to swim' WHERE space LIKE %s"
        execute(url, change, "% other@%")
        words = ["never learned to swim"]
        assert {one.file for one in memory.leftover_scan(words).found} == {"tiermem.lines"}
        execute(url, change, "% default@%")
        assert {one.file for one in memory.leftover_scan(words).found} == {
            "tiermem.lines",
            "tiermem_rows.spaces",
        }


@IN_DATABASE
def test_an_index_that_was_restored_from_elsewhere_is_made_again(url: str, index: str) -> None:
    with open_memory(url, index=index) as memory:
        tell(memory)
        memory.flush()
    change = {
        "embedded": "UPDATE tiermem_rows.spaces SET digest = 'another'",
        "pgvector": "UPDATE tiermem_index.marks SET digest = 'another'",
    }
    execute(url, change[index])
    with open_memory(url, index=index) as memory:
        memory.flush()
        assert memory.stats().index_pending == 0
        assert not memory.stats().problems


@IN_DATABASE
def test_a_store_with_an_index_of_another_embedder_is_read_by_words(url: str, index: str) -> None:
    with open_memory(url, index=index) as memory:
        tell(memory)
        memory.flush()
    with open_memory(url, index=index, read_only=True, embedder=HashEmbedder(64)) as reader:
        answer = reader.ask("What is Biscuit allergic to?")
        assert "chicken" in answer.text
        assert "built with" in str(answer.trace.degradations)
        assert reader.stats().turns == len(DIALOGUE)


def test_a_store_opened_read_only_is_searched_by_meaning_as_others_left_the_index(url: str) -> None:
    with open_memory(url) as memory:
        tell(memory)
        memory.flush()
        with open_memory(url, read_only=True) as reader:
            answer = reader.ask("What is Biscuit allergic to?")
            assert "chicken" in answer.text
            assert answer.trace.degradations == ()


def test_nothing_is_embedded_again_when_a_store_is_opened_again(url: str) -> None:
    with open_memory(url) as memory:
        tell(memory)
        memory.flush()
    embedder = Counting()
    with open_memory(url, embedder=embedder) as memory:
        memory.flush()
        assert memory.stats().index_pending == 0
        assert memory.stats().turns == len(DIALOGUE)
        assert embedder.texts == 0
        memory.add("Biscuit likes fish.", speaker="Caroline")
        memory.flush()
        assert embedder.texts > 0


class Counting(HashEmbedder):
    """Counts what it embeds."""

    texts = 0

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts += len(texts)
        return await super().embed(texts)


def test_pgvector_is_for_stores_in_a_database(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="name a database"):
        open_memory(str(tmp_path / "store"), index="pgvector")


def test_a_page_that_another_process_summarises_is_left_to_it(url: str) -> None:
    database = Database(url)
    with open_memory(url, distil="deferred") as memory:
        tell(memory)
        (one, _) = [f"distil {page.id}" for page in sealed(memory)]
        another = PostgresLines(database, SpaceId("default"), segment_bytes=1 << 20)
        another.claim([one])
        flushed = memory.flush()
        assert (flushed.distilled, flushed.pending) == (1, 1)
        assert "another process is summarising them" in flushed.problems[-1]
        another.release([one])
        assert memory.flush().distilled == 1
    database.close()


def sealed(memory: tiermem.Memory) -> tuple[Page, ...]:
    """The pages that the open pages become."""
    log = memory._async._caller.components.ledger._log
    log.seal()
    return tuple(log.page(info.id) for info in log.pages())


def test_an_answer_that_another_process_erased_the_words_of_is_not_recorded(
    memory: tiermem.Memory, url: str
) -> None:
    tell(memory)
    memory.flush()
    erase = (
        "import sys, tiermem\n"
        "with tiermem.open(sys.argv[1], engine='local', embedder='hashed') as memory:\n"
        "    memory.erase(turn='t2', session='s1', reason='asked to')\n"
    )
    steps: list[str] = []

    def erase_elsewhere(step: AskStep) -> None:
        if not steps:
            subprocess.run([sys.executable, "-W", "error", "-c", erase, url], check=True, timeout=120)
        steps.append(step.name)

    with pytest.raises(ErasedMeanwhile):
        memory.ask("What is Biscuit allergic to?", on_step=erase_elsewhere)
    assert len(steps) > 1
    assert execute(url, "SELECT count(*) FROM tiermem.lines WHERE position('chicken' in raw) > 0") == [(0,)]
    assert memory.answers() == ()
    assert "chicken" not in memory.ask("What is Biscuit allergic to?").text


def test_no_column_of_any_table_holds_what_was_erased(memory: tiermem.Memory, url: str) -> None:
    tell(memory)
    memory.flush()
    memory.ask("Who never learned to swim?")
    memory.remember("Melanie never learned to swim, and she is not sorry.")
    assert columns_with(url, "swim") == {"lines.raw"}
    unit = next(one for one in memory.units() if "sorry" in one.text)
    for done in (
        memory.erase(session="s2", reason="asked to"),
        memory.erase(page=unit.spans[0].page_id, reason="asked to"),
    ):
        assert done.leftovers.clean
        assert done.leftovers.files >= 4, "tables"
        assert done.leftovers.phrases > 0
        assert "VACUUM FULL" in done.not_reached
    assert columns_with(url, "swim") == set()
    assert "swim" not in " ".join(found.text for found in memory.search("learned to swim"))


def columns_with(url: str, word: str) -> set[str]:
    """The columns of all tables of the database that hold a word anywhere."""
    return {f"{table}.{column}" for table, column, value in values_in(url) if word.encode() in value}


def test_words_are_found_in_whatever_table_they_are_left(memory: tiermem.Memory, url: str) -> None:
    tell(memory)
    words = ["I never learned to swim"]
    (found,) = memory.leftover_scan(words).found
    assert found.file == "tiermem.lines"
    assert memory.erase(session="s2", reason="asked to").leftovers.clean
    execute(url, "CREATE TABLE tiermem.notes (space text, told text)")
    execute(url, "INSERT INTO tiermem.notes VALUES ('default', 'I never learned to swim'), ('other', NULL)")
    execute(url, "UPDATE tiermem.parts SET cache = %s", b"{'I NEVER\\nlearned to swim'}")
    assert {one.file for one in memory.leftover_scan(words).found} == {"tiermem.notes", "tiermem.parts"}
    execute(url, "UPDATE tiermem.notes SET space = 'other'")
    assert {one.file for one in memory.leftover_scan(words).found} == {"tiermem.parts"}


def test_opened_read_only_it_is_as_it_was(memory: tiermem.Memory, url: str) -> None:
    tell(memory)
    with open_memory(url, read_only=True) as reader:
        memory.add("Said since.", speaker="Ann")
        assert "chicken" in reader.ask("What is Biscuit allergic to?").text
        assert reader.stats().turns == len(DIALOGUE)


def test_a_database_without_tables_is_not_made_into_a_store_by_looking(postgres: PostgresServer) -> None:
    url = postgres.create_database()
    for how in ({"read_only": True}, {"create": False}):
        with pytest.raises(NotAStore, match="is no TierMem store"):
            open_memory(url, **how)
    with pytest.raises(NotAStore):
        tiermem.spaces(url)
    assert execute(url, "SELECT to_regnamespace('tiermem')::text") == [(None,)]


def test_a_wrong_password_and_a_newer_version_are_told_without_the_password(
    postgres: PostgresServer, url: str
) -> None:
    ((hba,),) = postgres.execute("SHOW hba_file")
    rules = Path(str(hba)).read_text(encoding="utf-8")
    Path(str(hba)).write_text(f"local all locked scram-sha-256\n{rules}", encoding="utf-8")
    postgres.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
    postgres.execute("SELECT pg_reload_conf()")
    with pytest.raises(Inaccessible, match='password authentication failed for user "locked"') as refused:
        open_memory(url.replace("postgres:", "locked:", 1).replace("ql://postgres:", "ql://locked:"))
    open_memory(url).close()
    execute(url, "INSERT INTO tiermem.migrations VALUES (1000)")
    with pytest.raises(NewerFormat, match="upgrade") as newer:
        open_memory(url)
    assert HIDDEN not in str(refused.value) + str(newer.value)


def test_nothing_that_a_memory_shows_holds_the_password(
    memory: tiermem.Memory, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(memory)
    components = memory._async._opened.components
    assert components is not None
    shown = [repr(memory), repr(memory.stats()), repr(components), repr(components.opening)]
    with pytest.raises(InvalidInput, match="pg_dump") as refused:
        memory.backup("file.tar.gz")
    with pytest.raises(InvalidInput, match="is open already in this process") as open_already:
        open_memory(url, idle_seal=7)
    shown += [str(refused.value), str(open_already.value)]
    assert "postgresql://postgres@" in repr(memory)
    assert HIDDEN not in " ".join(shown)


def test_the_same_space_opened_twice_by_a_process_is_one(memory: tiermem.Memory, url: str) -> None:
    with open_memory(url) as second:
        second.add("Inside.", speaker="Ann")
        assert memory.stats().turns == 1


@pytest.mark.anyio
async def test_it_is_awaited_as_one_on_disk(url: str) -> None:
    async with await AsyncMemory.open(url, embedder=HashEmbedder(), **OPTIONS) as memory:
        await memory.add("Biscuit is allergic to chicken.", speaker="Caroline")
        assert "chicken" in (await memory.ask("What is Biscuit allergic to?")).text

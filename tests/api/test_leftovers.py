"""The leftover scan reads only around the words it looks for, and finds what reading everything finds."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import SpaceId
from tiermem.api import leftovers
from tiermem.api.leftovers import _parts_near, _readings, leftover_scan
from tiermem.index.folder import FILE
from tiermem.text.fingerprints import fingerprints_of

PHRASE = "the blue vault opens at midnight"
WRITTEN = [
    PHRASE.encode(),
    PHRASE.upper().encode(),
    PHRASE.replace(" ", ",\n ").encode(),
    PHRASE.encode("utf-16-le"),
    PHRASE.encode("utf-16-be"),
    json.dumps(PHRASE.replace("vault", "\N{LATIN SMALL LETTER V}ault")).encode(),
    PHRASE.replace("vault", "\\u0076ault").encode(),
    PHRASE.replace("midnight", "midn\\ight").encode(),
    PHRASE.replace("midnight", "midnıght").encode(),  # another word
    PHRASE.replace("opens", "openſ").encode(),
]
around = st.binary(max_size=40) | st.sampled_from(
    [b"\0" * 100, b"the vault\n", "größe ".encode(), b"midnight ", b"\\n", b"\0", b'"x":"', b"a " * 5_000]
)


@given(pieces=st.lists(around | st.sampled_from(WRITTEN), max_size=6), short=st.booleans())
def test_the_parts_that_are_read_hold_every_telltale(pieces: list[bytes], short: bool) -> None:
    words = fingerprints_of([PHRASE, "vault"] if short else [PHRASE])
    data = b"".join(pieces)
    everywhere = {phrase for text in _readings(data) for phrase in words.found_in(text)}
    near = {
        phrase
        for part in _parts_near(data, words)
        for text in _readings(part)
        for phrase in words.found_in(text)
    }
    if b"\0" in data and "openſ".encode() in data:
        assert near <= everywhere  # in what is no text one letter is not taken for another
    else:
        assert near == everywhere


@pytest.mark.parametrize("phrase", ["größe zählt immer am abend", "δεν θα έρθει ποτέ ξανά"])
@pytest.mark.parametrize("around", ["", "\0"])
def test_words_beyond_ascii_are_found_in_any_case(tmp_path: Path, phrase: str, around: str) -> None:
    for number, said in enumerate((phrase, phrase.upper(), json.dumps(phrase)[1:-1])):
        (tmp_path / f"{number}.txt").write_text("other words\n" * 3 + around + said + " and others", "utf-8")
    found = leftover_scan(tmp_path, SpaceId("ann"), fingerprints_of([phrase])).found
    assert {one.file for one in found} == {"0.txt", "1.txt", "2.txt"}


def test_little_is_read_of_a_large_file(tmp_path: Path) -> None:
    data = b"nothing of that kind was said there\n" * 30_000 + PHRASE.encode()
    parts = list(_parts_near(data, fingerprints_of([PHRASE])))
    assert sum(map(len, parts)) < 20_000
    assert any(PHRASE.encode() in part for part in parts)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A file of SQLite's that holds the phrase."""
    file = tmp_path / FILE
    with closing(sqlite3.connect(file)) as made, made:
        made.execute("CREATE TABLE said (words TEXT)")
        made.execute("INSERT INTO said VALUES (?)", (f"She says that {PHRASE}",))
    return file


WRITES = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0).execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    print(error)
"""


def test_an_index_that_is_being_written_is_told_of_and_stays_locked(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "_WAIT", 0.01)
    with closing(sqlite3.connect(index, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        scan = leftover_scan(index.parent, SpaceId("ann"), fingerprints_of(["words that nobody said"]))
        assert (scan.unread, scan.found, scan.files, scan.bytes) == ((FILE,), (), 0, 0)
        assert not scan.clean
        command = [sys.executable, "-c", WRITES, str(index)]
        assert subprocess.run(command, capture_output=True, check=True).stdout == b"database is locked\n"
        writer.execute("ROLLBACK")
    assert leftover_scan(index.parent, SpaceId("ann"), fingerprints_of(["words that nobody said"])).clean
    (found,) = leftover_scan(index.parent, SpaceId("ann"), fingerprints_of([PHRASE])).found
    assert found.file == FILE


@pytest.mark.parametrize("kept", [0, 100, 500])
def test_what_is_none_of_sqlites_files_or_damaged_is_read_as_it_is(index: Path, kept: int) -> None:
    for filling in ("", "other words " * 200):
        index.write_bytes(index.read_bytes()[:kept] + (filling + PHRASE).encode())
        (found,) = leftover_scan(index.parent, SpaceId("ann"), fingerprints_of([PHRASE])).found
        assert found.file == FILE

"""Packed files are unpacked up to a limit, whole and exact below it, and never further."""

import bz2
import gzip
import io
import lzma
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.datasets.files import read_json
from tiermem.dialogue import packed, read_dialogue
from tiermem.dialogue.packed import unpack
from tiermem.errors import InvalidInput, NotDialogue

PACKERS: list[Callable[[bytes], bytes]] = [gzip.compress, lzma.compress]
SAID = b'{"speaker": "Ann", "text": "The kettle is blue."}\n'


@pytest.mark.parametrize("pack", PACKERS)
def test_what_is_packed_comes_out_as_it_was_also_in_several_parts(pack: Callable[[bytes], bytes]) -> None:
    content = bytes(range(256)) * 10_000
    assert unpack(pack(content)) == unpack(content) == content
    assert unpack(pack(content) + pack(b"more")) == content + b"more"
    assert unpack(bz2.compress(b"x")) == bz2.compress(b"x")


@pytest.mark.parametrize("pack", PACKERS)
def test_no_more_is_unpacked_than_the_limit_and_the_error_says_what_to_do(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "MOST", 4_000_000)
    bomb = pack(bytes(60_000_000)) * 3
    assert len(bomb) < 1_000_000
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput, match=r"more than 4 MB.*unpack it first"):
            unpack(bomb)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def forged_zip(unpacked_size: int, named_size: int, method: int) -> bytes:
    """A zip archive of one text that names another size than it unpacks to."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr("chat.txt", b"Ann: Hi".ljust(unpacked_size, b"\n"))
    raw = bytearray(out.getvalue())
    entry = raw.rfind(b"PK\x01\x02")
    raw[entry + 24 : entry + 28] = struct.pack("<I", named_size)
    return bytes(raw)


@pytest.mark.parametrize(
    ("named_size", "method", "message"),
    [
        (100, zipfile.ZIP_DEFLATED, "cannot be read"),
        (24_000_000, zipfile.ZIP_DEFLATED, r"more than 4 MB.*unpack it first"),
        (2**32 - 1, zipfile.ZIP_DEFLATED, r"more than 4 MB.*unpack it first"),
        (100, zipfile.ZIP_BZIP2, "otherwise than by deflate"),
        (100, zipfile.ZIP_LZMA, "otherwise than by deflate"),
    ],
)
def test_a_zip_archive_is_held_to_the_limit_whatever_size_it_names(
    named_size: int, method: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "MOST", 4_000_000)
    archive = forged_zip(24_000_000, named_size, method)
    tracemalloc.start()
    try:
        with pytest.raises(NotDialogue, match=message):
            read_dialogue(io.BytesIO(archive))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_the_files_of_a_zip_archive_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    users = "[]"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("users.json", users)
        for day in range(1, 6):
            archive.writestr(f"general/2024-05-0{day}.json", "[]" + " " * 998)
    monkeypatch.setattr(packed, "MOST", 4_000)
    with pytest.raises(NotDialogue, match="unpacks to more than"):
        read_dialogue(io.BytesIO(out.getvalue()))


@pytest.mark.parametrize("pack", PACKERS)
def test_files_of_dialogue_and_of_evaluation_are_held_to_the_limit(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "MOST", len(SAID) * 100)
    path = tmp_path / "chat.jsonl.gz"
    path.write_bytes(pack(SAID * 100))
    assert len(read_dialogue(path)[0].sessions[0].turns) == 100
    path.write_bytes(pack(SAID * 100 + b"\n"))
    with pytest.raises(NotDialogue, match=r"chat\.jsonl\.gz.*unpacks to more than"):
        read_dialogue(path)
    with pytest.raises(InvalidInput, match=r"chat\.jsonl\.gz.*unpacks to more than"):
        read_json(path)


def test_a_file_that_names_a_speaker_at_length_is_refused_whole() -> None:
    said = SAID + SAID.replace(b"Ann", b"A" * 201)
    with pytest.raises(NotDialogue, match="names a speaker in 201 characters, and 200 is the most"):
        read_dialogue(io.BytesIO(said), strict=True)
    assert read_dialogue(io.BytesIO(SAID + SAID.replace(b"Ann", b"A" * 200)))


@pytest.mark.parametrize("pack", PACKERS)
def test_a_packed_file_that_is_cut_off_is_damaged(pack: Callable[[bytes], bytes]) -> None:
    whole = pack(bytes(range(256)) * 1000)
    for cut in (8, len(whole) // 2, len(whole) - 1):
        with pytest.raises(InvalidInput, match="damaged"):
            unpack(whole[:cut])


def test_a_file_that_is_packed_with_zstd_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "rollout-2026-03-01.jsonl.zst"
    file.write_bytes(b"\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00")
    with pytest.raises(NotDialogue, match=r"packed with zstd.*`zstd -d FILE`"):
        read_dialogue(file)

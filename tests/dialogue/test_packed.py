"""Packed files are unpacked up to a limit, whole and exact below it, and never further."""

import bz2
import gzip
import lzma
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.datasets.files import read_json
from tiermem.dialogue import packed, read_dialogue
from tiermem.dialogue.packed import unpacked
from tiermem.errors import InvalidInput, NotDialogue

PACKERS: list[Callable[[bytes], bytes]] = [gzip.compress, lzma.compress]
SAID = b'{"speaker": "Ann", "text": "The kettle is blue."}\n'


@pytest.mark.parametrize("pack", PACKERS)
def test_what_is_packed_comes_out_as_it_was_also_in_several_parts(pack: Callable[[bytes], bytes]) -> None:
    content = bytes(range(256)) * 10_000
    assert unpacked(pack(content)) == unpacked(content) == content
    assert unpacked(pack(content) + pack(b"more")) == content + b"more"
    assert unpacked(bz2.compress(b"x")) == bz2.compress(b"x")


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
            unpacked(bomb)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


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


@pytest.mark.parametrize("pack", PACKERS)
def test_a_packed_file_that_is_cut_off_is_damaged(pack: Callable[[bytes], bytes]) -> None:
    whole = pack(bytes(range(256)) * 1000)
    for cut in (8, len(whole) // 2, len(whole) - 1):
        with pytest.raises(InvalidInput, match="damaged"):
            unpacked(whole[:cut])

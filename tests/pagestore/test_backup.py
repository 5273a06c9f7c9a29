"""Backups: what is in them, what they are made of while somebody writes, and what is not restored."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import random
import shutil
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from pagestore import DiskLog, LogOptions, SessionId, SpaceId, Store, Turn
from pagestore.backup import SavedSpace, restore_backup, write_backup
from pagestore.errors import (
    Corrupt,
    Full,
    Inaccessible,
    InvalidInput,
    Locked,
    NotAStore,
    PageStoreError,
    SpaceNotFound,
)
from pagestore.line import canonical
from pagestore.store import directory_name

ANN, ZOE, S1 = SpaceId("ann"), SpaceId("Zoë/../.."), SessionId("s1")
OPTIONS = LogOptions(page_tokens=60, segment_bytes=2_000)


def turns(first: int, last: int) -> list[Turn]:
    return [
        Turn(speaker="Ann", text=f"The boat has {n} sails, I think.", turn_id=f"t{n}")
        for n in range(first, last)
    ]


def texts(log: DiskLog) -> list[str]:
    """Every turn of the first session that was not erased."""
    pages = [log.page(info.id) for info in log.pages(S1)]
    filling = log.open_page(S1)
    lines = (line for page in (*pages, *([filling] if filling else [])) for line in page.lines)
    return [line.turn.text for line in lines if line.turn is not None]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of two spaces, with several segments and an open page."""
    made = Store(tmp_path / "store", options=OPTIONS)
    for space in (ANN, ZOE):
        with made.open_space(space) as log:
            for first in range(0, 40, 10):
                log.append(S1, turns(first, first + 10))
            log.record("note", {"of": space})
    return tmp_path / "store"


@pytest.fixture
def archive(store: Path, tmp_path: Path) -> Path:
    write_backup(store, tmp_path / "backup.tar.gz")
    return tmp_path / "backup.tar.gz"


def segments(store: Path) -> dict[str, bytes]:
    return {str(path.relative_to(store)): path.read_bytes() for path in sorted(store.rglob("*.jsonl"))}


def test_a_restored_store_has_the_same_lines(store: Path, archive: Path, tmp_path: Path) -> None:
    restored = restore_backup(archive, tmp_path / "new" / "restored")
    assert segments(tmp_path / "new" / "restored") == segments(store)
    assert len(segments(store)) > 4
    assert [saved.space for saved in restored] == sorted([ANN, ZOE])
    for space in (ANN, ZOE):
        with Store(tmp_path / "new" / "restored").open_space(space) as log:
            assert log.verify().ok
            assert len(texts(log)) == 40
            log.append(S1, turns(40, 41))


def test_a_backup_holds_logs_and_nothing_that_can_be_made_again(store: Path, archive: Path) -> None:
    (store / "index").mkdir()
    with tarfile.open(archive) as listed:
        names = listed.getnames()
    assert names[:2] == ["BACKUP.json", "FORMAT"]
    assert all(name.endswith(".jsonl") for name in names[2:])
    assert any(path.suffix == ".idx" for path in store.rglob("*"))


def test_the_same_logs_make_the_same_file_its_owners_alone(
    store: Path, archive: Path, tmp_path: Path
) -> None:
    write_backup(store, tmp_path / "again.tar.gz")
    assert (tmp_path / "again.tar.gz").read_bytes() == archive.read_bytes()
    assert archive.stat().st_mode & 0o777 == 0o600
    restore_backup(archive, tmp_path / "restored")
    write_backup(tmp_path / "restored", tmp_path / "third.tar.gz")
    assert (tmp_path / "third.tar.gz").read_bytes() == archive.read_bytes()


def test_one_space_is_backed_up_alone(store: Path, tmp_path: Path) -> None:
    saved = write_backup(store, tmp_path / "one.tar.gz", spaces=[ZOE])
    assert [(one.space, one.turns) for one in saved] == [(ZOE, 40)]
    restore_backup(tmp_path / "one.tar.gz", tmp_path / "restored")
    assert Store(tmp_path / "restored", read_only=True).spaces() == (ZOE,)
    with pytest.raises(SpaceNotFound, match="nobody"):
        write_backup(store, tmp_path / "none.tar.gz", spaces=[SpaceId("nobody")])


def test_what_was_acknowledged_is_in_it_while_another_writes(store: Path, tmp_path: Path) -> None:
    with Store(store, options=OPTIONS).open_space(ANN) as log:
        more = iter(range(40, 10_000))

        def meanwhile(done: int, total: int) -> None:
            number = next(more)
            log.append(S1, turns(number, number + 1))
            log.seal()

        log.append(S1, turns(40, 41))
        write_backup(store, tmp_path / "backup.tar.gz", progress=meanwhile)
        assert len(texts(log)) > 41
    restore_backup(tmp_path / "backup.tar.gz", tmp_path / "restored")
    with Store(tmp_path / "restored").open_space(ANN) as restored:
        assert texts(restored) == [turn.text for turn in turns(0, 41)]


@pytest.mark.parametrize("after", [0.1, 0.5, 0.6, 0.99])
def test_what_is_erased_while_it_is_copied_is_in_no_half_way(
    store: Path, tmp_path: Path, after: float
) -> None:
    erased: list[float] = []
    with Store(store, options=OPTIONS).open_space(ANN) as log:

        def meanwhile(done: int, total: int) -> None:
            if not erased and done >= after * total:
                erased.append(done / total)
                info = log.pages(S1)[0]
                log.erase(info.id, log.page(info.id).lines[0].seq, "asked to")

        write_backup(store, tmp_path / "backup.tar.gz", progress=meanwhile)
    assert erased
    (saved, _) = restore_backup(tmp_path / "backup.tar.gz", tmp_path / "restored")[::-1]
    assert saved.space == ANN
    with Store(tmp_path / "restored").open_space(ANN) as restored:
        assert restored.verify().ok
        assert (turns(0, 1)[0].text in texts(restored)) == (restored.verify().erased == 0)


def test_a_damaged_log_is_not_backed_up(store: Path, tmp_path: Path) -> None:
    path = next(iter(sorted(store.rglob("*.jsonl"))))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(Corrupt, match="not backed up"):
        write_backup(store, tmp_path / "backup.tar.gz")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store"]


def test_nothing_is_overwritten_unless_it_is_said(store: Path, archive: Path, tmp_path: Path) -> None:
    for taken in (archive, tmp_path):
        with pytest.raises(InvalidInput, match="exists"):
            write_backup(store, taken)
    with pytest.raises(InvalidInput, match="lies in the store"):
        write_backup(store, store / "backup.tar.gz")
    archive.write_bytes(b"old")
    write_backup(store, archive, replace=True)
    restore_backup(archive, tmp_path / "restored")
    with pytest.raises(InvalidInput, match="is a store already"):
        restore_backup(archive, store)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("Dear Ann")
    for replace in (False, True):
        with pytest.raises(NotAStore):
            restore_backup(archive, tmp_path / "letters", replace=replace)
        with pytest.raises(NotAStore):
            restore_backup(archive, archive, replace=replace)
    assert (tmp_path / "letters" / "dear.txt").exists()


def test_a_store_is_replaced_whole_and_not_while_it_is_written(
    store: Path, archive: Path, tmp_path: Path
) -> None:
    with Store(store).open_space(ANN) as log:
        log.append(S1, turns(50, 60))
        with pytest.raises(Locked, match=f"pid {os.getpid()}"):
            restore_backup(archive, store, replace=True)
        assert len(texts(log)) == 50
    (store / "index").mkdir()
    restore_backup(archive, store, replace=True)
    assert not (store / "index").exists()
    with Store(store).open_space(ANN) as log:
        assert len(texts(log)) == 40
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.tar.gz", "store"]


def test_a_space_that_a_crash_left_without_its_first_record_is_left_out(store: Path, tmp_path: Path) -> None:
    (store / "spaces" / "begun").mkdir()
    (store / "spaces" / "begun" / "00000001.jsonl").write_bytes(b"")
    assert len(write_backup(store, tmp_path / "backup.tar.gz")) == 2
    with pytest.raises(SpaceNotFound, match="begun"):
        write_backup(store, tmp_path / "begun.tar.gz", spaces=[SpaceId("begun")])


def test_an_empty_directory_and_an_empty_store_are_fine(tmp_path: Path) -> None:
    Store(tmp_path / "store")
    assert write_backup(tmp_path / "store", tmp_path / "backup.tar.gz") == ()
    (tmp_path / "restored").mkdir()
    assert restore_backup(tmp_path / "backup.tar.gz", tmp_path / "restored") == ()
    assert Store(tmp_path / "restored").spaces() == ()


def refused(data: bytes, folder: Path) -> type[PageStoreError] | None:
    """What restoring these bytes raises; then nothing may be there."""
    (folder / "given.tar.gz").write_bytes(data)
    before = sorted(folder.rglob("*"))
    try:
        restore_backup(folder / "given.tar.gz", folder / "restored")
    except PageStoreError as error:
        assert sorted(folder.rglob("*")) == before
        return type(error)
    return None


def test_no_flipped_bit_gives_another_store(store: Path, archive: Path, tmp_path: Path) -> None:
    good, chance = archive.read_bytes(), random.Random(11)
    folder = tmp_path / "flips"
    folder.mkdir()
    harmless = 0
    for flip in range(100):
        data = bytearray(good)
        data[flip if flip < 20 else chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        if refused(bytes(data), folder) is None:
            harmless += 1  # bits of the packing that say nothing
            assert segments(folder / "restored") == segments(store)
            restore_backup(archive, folder / "restored", replace=True)
            shutil.rmtree(folder / "restored")
    assert harmless <= 3


def test_what_is_cut_off_or_goes_on_is_refused(archive: Path, tmp_path: Path) -> None:
    good = archive.read_bytes()
    folder = tmp_path / "cut"
    folder.mkdir()
    for size in (0, 1, 5, 12, 100, len(good) // 2, len(good) - 9, len(good) - 1):
        assert refused(good[:size], folder) in (Corrupt, InvalidInput)
    assert refused(good + b"more", folder) is Corrupt
    assert refused(good + gzip.compress(b"more"), folder) is Corrupt
    with pytest.raises(Inaccessible, match="nowhere"):
        restore_backup(tmp_path / "nowhere", tmp_path / "restored")


def forged(archive: Path, change: Callable[[dict[str, Any], dict[str, bytes]], None], folder: Path) -> bytes:
    """A backup with other contents that agrees with itself, as somebody would make it who knows the form."""
    with tarfile.open(archive) as old:
        parts = {name: old.extractfile(name).read() for name in old.getnames()}  # type: ignore[union-attr]
    told = json.loads(parts.pop("BACKUP.json"))
    change(told, parts)
    for one in told["spaces"]:
        for file in one.get("files", ()):
            data = parts.get(f"spaces/{directory_name(one['space'])}/{int(file['number']):08d}.jsonl")
            if data is not None:
                file.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    return packed({"BACKUP.json": canonical(told), **parts})


def packed(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=out, mode="wb", compresslevel=6, mtime=0) as zipped:
        for name, data in parts.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o600
            zipped.write(info.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % 512))
        zipped.write(bytes(1024))
    return out.getvalue()


def first_of(parts: dict[str, bytes]) -> str:
    return next(name for name in parts if name.endswith("ann/00000001.jsonl"))


def drop_a_line(told: dict[str, Any], parts: dict[str, bytes]) -> None:
    lines = parts[first_of(parts)].splitlines(keepends=True)
    parts[first_of(parts)] = b"".join(lines[:5] + lines[6:])


def drop_the_end(told: dict[str, Any], parts: dict[str, bytes]) -> None:
    last = max(name for name in parts if "/ann/" in name)
    parts[last] = b"".join(parts[last].splitlines(keepends=True)[:-1])


def drop_a_segment(told: dict[str, Any], parts: dict[str, bytes]) -> None:
    del parts[first_of(parts)]
    next(one for one in told["spaces"] if one["space"] == ANN)["files"].pop(0)


def change_a_word(told: dict[str, Any], parts: dict[str, bytes]) -> None:
    parts[first_of(parts)] = parts[first_of(parts)].replace(b"7 sails", b"9 sails")


def another_checkpoint(told: dict[str, Any], parts: dict[str, bytes]) -> None:
    told["spaces"][0]["checkpoint"]["root"] = "0" * 64


def another_format(told: dict[str, Any], parts: dict[str, bytes]) -> None:
    told["format"] = "tiermem-backup 2"


def twice(told: dict[str, Any], parts: dict[str, bytes]) -> None:
    told["spaces"].append(told["spaces"][0])


def another_file(told: dict[str, Any], parts: dict[str, bytes]) -> None:
    parts["../../evil"] = b"evil"


def elsewhere(told: dict[str, Any], parts: dict[str, bytes]) -> None:
    parts["spaces/../../../evil.jsonl"] = parts.pop(first_of(parts))


def another_space(told: dict[str, Any], parts: dict[str, bytes]) -> None:
    one = next(one for one in told["spaces"] if one["space"] == ANN)
    one["space"] = one["checkpoint"]["space"] = "bob"
    for name in list(parts):
        parts[name.replace("/ann/", "/bob/")] = parts.pop(name)


@pytest.mark.parametrize(
    "change",
    [
        drop_a_line,
        drop_the_end,
        drop_a_segment,
        change_a_word,
        another_checkpoint,
        another_format,
        twice,
        another_file,
        elsewhere,
        another_space,
    ],
)
def test_a_backup_that_was_made_up_is_refused(
    archive: Path, tmp_path: Path, change: Callable[[dict[str, Any], dict[str, bytes]], None]
) -> None:
    folder = tmp_path / "forged"
    folder.mkdir()
    assert refused(forged(archive, change, folder), folder) in (Corrupt, InvalidInput)
    assert not list(tmp_path.rglob("evil*"))


def test_a_backup_made_again_by_the_same_recipe_is_taken(archive: Path, tmp_path: Path) -> None:
    data = forged(archive, lambda told, parts: None, tmp_path)
    assert data == archive.read_bytes()


ODD: list[Any] = [None, True, -1, 1.5, "x", [], {}, 10**30, "\ud800"]


def places(told: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in the contents that holds a value."""
    for key, value in list(told.items() if isinstance(told, dict) else enumerate(told)):
        yield told, key
        if isinstance(value, dict | list):
            yield from places(value)


def test_contents_of_other_kinds_are_refused_and_never_a_surprise(archive: Path, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    with tarfile.open(archive) as old:
        parts = {name: old.extractfile(name).read() for name in old.getnames()}  # type: ignore[union-attr]
    told = json.loads(parts["BACKUP.json"])
    told["spaces"] = told["spaces"][:1]
    told["spaces"][0]["files"] = told["spaces"][0]["files"][:1]
    for where, key in list(places(told)):
        kept = where[key]
        for odd in ODD:
            where[key] = odd
            assert refused(packed({**parts, "BACKUP.json": canonical(told)}), folder) is not None
        where[key] = kept
    for data in (b"", b"[]", b"{", b"[" * 100_000, b"\xff"):
        assert refused(packed({**parts, "BACKUP.json": data}), folder) is InvalidInput


def test_more_than_the_disk_holds_is_refused_before_it_is_unpacked(archive: Path, tmp_path: Path) -> None:
    def enormous(told: dict[str, Any], parts: dict[str, bytes]) -> None:
        told["spaces"][0]["files"] = [
            {"number": n, "bytes": 8**11 - 1, "sha256": "0" * 64} for n in range(1_000_000, 1_010_000)
        ]

    folder = tmp_path / "enormous"
    folder.mkdir()
    assert refused(forged(archive, enormous, folder), folder) is Full


def test_what_is_saved_says_how_much_it_is(store: Path, archive: Path, tmp_path: Path) -> None:
    saved = {one.space: one for one in restore_backup(archive, tmp_path / "restored")}
    with Store(store, read_only=True).open_space(ANN) as log:
        assert saved[ANN] == SavedSpace(
            space=ANN,
            records=log.head + 1,
            turns=40,
            pages=len(log.pages()),
            bytes=sum(len(data) for name, data in segments(store).items() if "/ann/" in name),
            checkpoint=log.current_checkpoint(),
        )
    assert asdict(saved[ANN])["checkpoint"]["space"] == "ann"

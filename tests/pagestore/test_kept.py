"""Pages that were read are kept, within bounds, and no longer than they are true."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest

from pagestore import Checkpoint, DiskLog, LogOptions, MemoryLog, Page, PageId, SessionId, SpaceId
from pagestore.errors import Corrupt
from pagestore.page_cache import KeptPages, size_of
from pagestore.testing import S1, said

SPACE = SpaceId("ann")
PRIVATE = "what Ann said is in a blue box"


def disk_log(folder: Path, *, read_only: bool = False, kept_bytes: int = 1 << 20) -> DiskLog:
    options = LogOptions(page_tokens=200, kept_bytes=kept_bytes)
    return DiskLog(str(folder), SPACE, options=options, read_only=read_only)


def sealed_page(log: DiskLog | MemoryLog, *words: str, session: SessionId = S1) -> PageId:
    log.append(session, [said(word) for word in words])
    (page_id,) = log.seal(session)
    return page_id


def alter(folder: Path) -> None:
    """Change a word behind the log's back."""
    (file,) = folder.glob("*.jsonl")
    content = file.read_bytes()
    file.write_bytes(content.replace(b"blue box", b"red boxx"))


def remembered(words: str) -> list[Page]:
    """Every page in the memory of this process that holds these words."""
    gc.collect()
    return [one for one in gc.get_objects() if isinstance(one, Page) and words in one.text]


def test_a_page_is_read_once_until_something_changes() -> None:
    log = MemoryLog()
    page_id = sealed_page(log, "one", "two")
    first = log.kept_page(page_id)
    assert log.kept_page(page_id) is first
    assert log.page(page_id) is not first
    log.append(SessionId("other"), [said("three")])
    assert log.kept_page(page_id) is first


def test_no_page_with_erased_words_is_left_in_memory(tmp_path: Path) -> None:
    with disk_log(tmp_path / "log") as log:
        page_id = sealed_page(log, "one", PRIVATE)
        line = log.kept_page(page_id).lines[1]
        assert len(remembered(PRIVATE)) == 1
        log.erase(page_id, line.seq, "asked to")
        assert remembered(PRIVATE) == []
        assert PRIVATE not in log.kept_page(page_id).text


@pytest.mark.parametrize(
    "find",
    [
        lambda log, page_id, _: log.page(page_id),
        lambda log, page_id, checkpoint: log.prove_page(page_id, checkpoint),
        lambda log, page_id, _: log.erase(page_id, log.page(page_id).lines[0].seq, "asked to"),
    ],
)
def test_damage_that_reading_finds_is_not_covered_by_what_was_kept(
    tmp_path: Path, find: Callable[[DiskLog, PageId, Checkpoint], object]
) -> None:
    with disk_log(tmp_path / "log") as log:
        page_id = sealed_page(log, PRIVATE)
        kept = log.kept_page(page_id)
        checkpoint = log.checkpoint()
        alter(tmp_path / "log")
        assert log.kept_page(page_id) is kept  # as it was checked: the words are those of its id
        with pytest.raises(Corrupt):
            find(log, page_id, checkpoint)
        with pytest.raises(Corrupt):
            log.kept_page(page_id)


def test_verifying_finds_damage_and_has_all_pages_read_again(tmp_path: Path) -> None:
    with disk_log(tmp_path / "log") as log:
        page_id = sealed_page(log, PRIVATE)
        log.kept_page(page_id)
        alter(tmp_path / "log")
        assert not log.verify().ok
        with pytest.raises(Corrupt):
            log.kept_page(page_id)


def test_who_only_reads_a_log_sees_what_its_writer_erased(tmp_path: Path) -> None:
    with disk_log(tmp_path / "log") as log:
        page_id = sealed_page(log, "one", PRIVATE)
        with disk_log(tmp_path / "log", read_only=True) as looking:
            assert PRIVATE in looking.kept_page(page_id).text
            log.erase(page_id, log.page(page_id).lines[1].seq, "asked to")
            assert PRIVATE not in looking.kept_page(page_id).text


def test_as_many_pages_are_kept_as_there_is_room_for() -> None:
    log = MemoryLog()
    pages = [log.page(sealed_page(log, f"words of page {number}")) for number in range(5)]
    kept = KeptPages(3 * size_of(pages[0]))
    for page in pages:
        kept.put_page(page, None)
        assert kept.get(pages[0].id, None) is pages[0]  # used again and again: it stays
    assert len(kept) == 3
    assert kept.get(pages[4].id, None) is pages[4]
    assert kept.get(pages[1].id, None) is None
    kept.put_page(pages[4], "another")
    assert kept.get(pages[4].id, "what it was") is None
    assert len(kept) == 2
    none = KeptPages(0)
    none.put_page(pages[0], None)
    assert len(none) == 0

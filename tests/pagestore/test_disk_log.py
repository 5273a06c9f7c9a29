"""The log on disk: what survives reopening, what is read, what is shared, what is refused."""

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from errno import EIO, ENOSPC
from functools import partial
from itertools import chain, count
from pathlib import Path
from threading import Event, Thread
from time import sleep

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import DiskLog, LogOptions, Page, PageId, PageLog, SessionId, SpaceId, Turn
from pagestore.codec import encode_tombstone, tombstone_of_turn
from pagestore.errors import Corrupt, Full, Locked, PageStoreError, Poisoned, ReadOnly, SpaceNotFound
from pagestore.line import decode, encode, line_of, split
from pagestore.testing import S1, S2, odd_turns, said
from tests.pagestore.spyfiles import SpyFiles

SPACE = SpaceId("ann")


class Files(dict[str, bytes]):
    """The files of a log by name; shown by name and length, so that a failure is readable."""

    def __repr__(self) -> str:
        return f"Files({ {name: len(content) for name, content in self.items()} })"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "ann")


def small(files: SpyFiles | None = None, *, folder: str, read_only: bool = False) -> DiskLog:
    """A log whose segments are small enough to roll."""
    options = LogOptions(page_tokens=200, segment_bytes=4_000)
    return DiskLog(folder, SPACE, options=options, files=files, read_only=read_only)


def everything(log: PageLog) -> list[object]:
    """All a reader can see."""
    pages = [log.page(info.id) for info in log.pages()]
    opened = [log.open_page(session) for session in log.sessions()]
    return [log.sessions(), list(log.pages()), pages, opened, list(log.records())]


def filled(log: PageLog, turns: int = 40) -> None:
    """Two sessions taking turns, with records between."""
    for n in range(turns):
        session = (S1, S2)[n % 2]
        log.append(session, [said(f"turn {n} " + "and so on " * (n % 9), turn_id=str(n))])
        if n % 7 == 0:
            log.record("note", {"n": n})


class TestReopening:
    @settings(max_examples=25)
    @given(
        batches=st.lists(st.tuples(st.sampled_from([S1, S2]), st.lists(odd_turns, max_size=4)), max_size=5)
    )
    def test_a_reopened_log_shows_the_same(
        self, tmp_path_factory: pytest.TempPathFactory, batches: list[tuple[SessionId, list[Turn]]]
    ) -> None:
        folder = str(tmp_path_factory.mktemp("log"))
        with small(folder=folder) as log:
            for session, turns in batches:
                log.append(session, turns)
            before = everything(log)
        with small(folder=folder) as log:
            assert everything(log) == before
            assert log.verify().ok

    def test_a_turn_of_a_megabyte_survives(self, folder: str) -> None:
        text = "".join(chr(code) for code in range(0x20, 0x3000)) * 10 + "And then we went home. " * 40_000
        assert len(text) > 1_000_000
        with DiskLog(folder, SPACE) as log:
            log.append(S1, [said(text, turn_id="big")])
            log.seal()
        with DiskLog(folder, SPACE) as log:
            assert log.append(S1, [said(text, turn_id="big")]).new == 0
            lines = [line for info in log.pages() for line in log.page(info.id).lines]
            assert "".join(line.turn.text for line in lines if line.turn) == text

    def test_ingesting_again_after_reopening_writes_nothing(self, folder: str) -> None:
        with small(folder=folder) as log:
            filled(log, 300)
        with small(folder=folder) as log:
            head = log.head
            for n in range(300):
                text = f"turn {n} " + "and so on " * (n % 9)
                assert log.append((S1, S2)[n % 2], [said(text, turn_id=str(n))]).new == 0
            assert log.head == head

    def test_opening_again_and_again_adds_nothing(self, folder: str) -> None:
        small(folder=folder).close()
        with small(folder=folder) as log:
            head = log.head
        with small(folder=folder) as log:
            assert log.head == head

    def test_an_unfinished_erasure_is_finished_at_the_next_opening(self, folder: str) -> None:
        files = SpyFiles()
        with small(files, folder=folder) as log:
            seq = log.append(S1, [said("the secret")]).seqs[0]
            page = opened(log, S1)
            log.append(S1, [said("more")])
            files.failing = {"names": EIO}
            with pytest.raises(PageStoreError):
                log.erase(page.id, seq, "asked to")
        with small(folder=folder, read_only=True) as log:
            assert "secret" not in opened(log, S1).text
        with small(folder=folder) as log:
            assert "secret" not in opened(log, S1).text
            assert log.verify().ok
            assert [record["t"] for record in raw_records(folder)][-2:] == ["open", "erased"]

    def test_record_types_of_a_later_version_are_kept_and_skipped(self, folder: str) -> None:
        with small(folder=folder) as log:
            log.append(S1, [said("one")])
            head = log.head
        segment = Path(folder, "00000001.jsonl")
        line = encode({"q": head + 1, "d": head, "t": "mood", "value": [1, 2]})
        segment.write_bytes(segment.read_bytes() + line)
        with small(folder=folder) as log:
            assert opened(log, S1).lines[0].turn == said("one")
            assert log.verify().ok
            assert not list(log.records())
        assert line in segment.read_bytes()


class TestSegments:
    def test_a_long_log_spreads_over_segments_and_reads_as_one(self, folder: str) -> None:
        with small(folder=folder) as log:
            filled(log, 200)
            log.seal()
            turns = sorted(
                int(line.turn.text.split()[1])
                for info in log.pages()
                for line in log.page(info.id).lines
                if line.turn
            )
            assert turns == list(range(200))
            assert [record.body["n"] for record in log.records(kinds=frozenset({"note"}))] == list(
                range(0, 200, 7)
            )
            assert log.verify().ok
        assert len(segments(folder)) > 5

    def test_opening_reads_the_snapshots_and_the_last_segment_only(self, folder: str) -> None:
        with small(folder=folder) as log:
            filled(log, 200)
        files = SpyFiles()
        small(files, folder=folder).close()
        last = max(segments(folder)).stat().st_size
        snapshots = sum(path.stat().st_size for path in Path(folder).glob("*.idx"))
        assert files.bytes_read < 3 * last + snapshots + 1000
        assert files.bytes_read < sum(path.stat().st_size for path in segments(folder))

    @pytest.mark.parametrize("harm", ["delete", "empty", "flip", "truncate", "swap"])
    def test_snapshots_are_a_cache_and_nothing_more(self, folder: str, harm: str) -> None:
        with small(folder=folder) as log:
            filled(log, 100)
            before = everything(log)
        one, other = sorted(Path(folder).glob("*.idx"))[:2]
        data = one.read_bytes()
        match harm:
            case "delete":
                one.unlink()
            case "empty":
                one.write_bytes(b"")
            case "flip":
                one.write_bytes(data[:90] + bytes([data[90] ^ 1]) + data[91:])
            case "truncate":
                one.write_bytes(data[: len(data) // 2])
            case "swap":
                one.write_bytes(other.read_bytes())
        with small(folder=folder) as log:
            assert everything(log) == before
            assert log.verify().ok
        assert one.read_bytes() == data

    def test_reading_a_page_reads_little_more_than_the_page(self, folder: str) -> None:
        files = SpyFiles()
        with small(files, folder=folder) as log:
            filled(log, 200)
            info = log.pages()[len(log.pages()) // 2]
            files.bytes_read = 0
            log.page(info.id)
            assert files.bytes_read < 4_000

    def test_records_of_one_kind_are_read_without_the_turns(self, folder: str) -> None:
        files = SpyFiles()
        with small(files, folder=folder) as log:
            filled(log, 200)
            files.bytes_read = 0
            assert len(list(log.records(kinds=frozenset({"note"})))) == 29
            assert files.bytes_read < 29 * 200

    def test_a_failing_roll_over_loses_nothing_and_is_tried_again(self, folder: str) -> None:
        files = SpyFiles()
        with small(files, folder=folder) as log:
            files.failing = {"open": EIO}
            filled(log, 60)
            assert len(segments(folder)) == 1
            files.failing = {}
            log.append(S1, [said("now")])
            assert len(segments(folder)) == 2
            before = everything(log)
        with small(folder=folder) as log:
            assert everything(log) == before


def run_while_one_syncs(log: DiskLog, files: SpyFiles, calls: Sequence[Callable[[], object]]) -> None:
    """Make the first call, and in its sync the others, each in a thread; all are over afterwards."""
    under_way, go_on = Event(), Event()

    def hold() -> None:
        under_way.set()
        assert go_on.wait(60)

    files.before_sync = hold
    first, *others = (Thread(target=call) for call in calls)
    first.start()
    assert under_way.wait(60)
    for thread in others:
        thread.start()
    while len(log._group._waiting) < len(others):
        sleep(0.001)
    go_on.set()
    for thread in (first, *others):
        thread.join()


class TestSharing:
    def test_threads_that_append_at_once_share_their_syncs(self, folder: str) -> None:
        files = SpyFiles()
        with DiskLog(folder, SPACE, files=files) as log:
            files.calls.clear()
            names = [SessionId(f"s{n}") for n in range(8)]
            run_while_one_syncs(log, files, [partial(log.append, name, [said("hi")] * 10) for name in names])
            assert sum(len(opened(log, session).lines) for session in log.sessions()) == 80
        assert files.calls["sync"] == 2

    def test_a_conflict_refuses_its_own_append_and_no_other(self, folder: str) -> None:
        files = SpyFiles()
        failures: list[Exception] = []

        def append(session: SessionId, text: str) -> None:
            try:
                log.append(session, [said(text, turn_id="1")])
            except PageStoreError as error:
                failures.append(error)

        with DiskLog(folder, SPACE, files=files) as log:
            log.append(S1, [said("one", turn_id="1")])
            names = [S2, S1, SessionId("third"), S1, SessionId("fourth")]
            run_while_one_syncs(log, files, [partial(append, name, "other") for name in names])
            assert len(failures) == 2
            assert set(log.sessions()) == set(names)

    def test_a_second_opener_is_told_who_holds_the_log(self, folder: str) -> None:
        with small(folder=folder), pytest.raises(Locked) as told:
            small(folder=folder)
        assert f"pid {os.getpid()} on host {socket.gethostname()}" in str(told.value)
        small(folder=folder).close()

    def test_readers_need_no_lock_and_write_nothing(self, folder: str) -> None:
        with small(folder=folder) as log:
            filled(log)
            files = SpyFiles()
            with small(files, folder=folder, read_only=True) as reader:
                assert everything(reader) == everything(log)
                assert reader.verify().ok
                for write in (
                    lambda: reader.append(S1, [said("no")]),
                    lambda: reader.record("note", {}),
                    reader.seal,
                    reader.checkpoint,
                    lambda: reader.erase(reader.pages()[0].id, 2, "no"),
                ):
                    with pytest.raises(ReadOnly):
                        write()
            assert (files.calls["write"], files.calls["open for writing"]) == (0, 0)

    def test_reading_a_log_that_is_not_there_is_an_error(self, folder: str) -> None:
        with pytest.raises(PageStoreError):
            small(folder=folder, read_only=True)
        Path(folder).mkdir()
        with pytest.raises(SpaceNotFound):
            small(folder=folder, read_only=True)


class TestFailures:
    def test_after_a_failed_sync_nothing_is_acknowledged_until_reopened(self, folder: str) -> None:
        files = SpyFiles()
        with small(files, folder=folder) as log:
            log.append(S1, [said("one", turn_id="1")])
            files.failing = {"sync": EIO}
            with pytest.raises(Poisoned):
                log.append(S1, [said("two", turn_id="2")])
            files.failing = {}
            with pytest.raises(Poisoned):
                log.append(S1, [said("three", turn_id="3")])
            assert [line.turn for line in opened(log, S1).lines] == [said("one", turn_id="1")]
        with small(folder=folder) as log:
            log.append(S1, [said("two", turn_id="2")])
            texts = [line.turn.text for line in opened(log, S1).lines if line.turn]
            assert texts == ["one", "two"]

    def test_a_full_disk_refuses_a_batch_whole_and_goes_on(self, folder: str) -> None:
        files = SpyFiles()
        with small(files, folder=folder) as log:
            log.append(S1, [said("one")])
            files.failing = {"write": ENOSPC}
            with pytest.raises(Full):
                log.append(S1, [said("two")] * 50)
            assert len(opened(log, S1).lines) == 1
            files.failing = {}
            log.append(S1, [said("three")])
            assert [line.turn for line in opened(log, S1).lines] == [said("one"), said("three")]
            assert log.verify().ok

    def test_a_torn_tail_is_set_aside_and_reported(self, folder: str) -> None:
        with small(folder=folder) as log:
            log.append(S1, [said("one")])
        segment = Path(folder, "00000001.jsonl")
        segment.write_bytes(segment.read_bytes() + b'{"q":99,"half a li')
        with small(folder=folder, read_only=True) as log:
            assert len(log.verify().torn) == 1
        with small(folder=folder) as log:
            report = log.verify()
            assert report.ok
            (torn,) = report.torn
            assert Path(folder, torn).read_bytes() == b'{"q":99,"half a li'
            assert len(opened(log, S1).lines) == 1

    def test_erasing_destroys_torn_tails(self, folder: str) -> None:
        with small(folder=folder) as log:
            log.append(S1, [said("one")])
        segment = Path(folder, "00000001.jsonl")
        segment.write_bytes(segment.read_bytes() + b'{"q":99,"x":"the secret')
        with small(folder=folder) as log:
            seq = log.append(S1, [said("the secret")]).seqs[0]
            log.erase(opened(log, S1).id, seq, "asked to")
            assert not log.verify().torn
        assert not any(b"secret" in path.read_bytes() for path in Path(folder).iterdir())


class TestDamage:
    @pytest.fixture(scope="class")
    @classmethod
    def sound(cls, tmp_path_factory: pytest.TempPathFactory) -> Files:
        """The files of a small log with every kind of record, closed after a checkpoint and an opening."""
        folder = tmp_path_factory.mktemp("sound")
        with small(folder=str(folder)) as log:
            filled(log, 30)
            seq = log.append(S1, [said("the secret")]).seqs[0]
            log.erase(opened(log, S1).id, seq, "asked to")
            log.append(S2, [said("word " * 3000)])
            log.checkpoint()
        return Files({path.name: path.read_bytes() for path in folder.iterdir()})

    def test_a_flipped_byte_of_an_erasure_that_is_done_is_found(self, tmp_path: Path, sound: Files) -> None:
        """Its intent could say what belongs there; only an erasure that is not done is finished from it."""
        name, content = next((n, c) for n, c in sound.items() if n.endswith(".jsonl") and b'"t":"gone"' in c)
        folder = laid_out(tmp_path / "log", sound)
        at = content.index(b'"t":"gone"')
        Path(folder, name).write_bytes(content[:at] + b"#" + content[at + 1 :])
        with small(folder=folder, read_only=True) as log:
            assert any(name in found.where for found in log.verify().damage)

    @settings(max_examples=120)
    @given(file=st.integers(0, 2**16), place=st.integers(0, 2**32), flip=st.integers(1, 255))
    def test_a_flipped_byte_is_always_found(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        sound: Files,
        file: int,
        place: int,
        flip: int,
    ) -> None:
        segments = sorted(name for name in sound if name.endswith(".jsonl"))
        name = segments[file % len(segments)]
        at = place % len(sound[name])
        folder = laid_out(tmp_path_factory.mktemp("flipped"), sound)
        content = bytearray(sound[name])
        content[at] ^= flip
        Path(folder, name).write_bytes(content)
        with small(folder=folder, read_only=True) as log:
            report = log.verify()
        assert report.damage or report.torn

    def test_a_damaged_log_is_read_and_not_written(self, tmp_path: Path, sound: Files) -> None:
        folder = laid_out(tmp_path / "log", sound)
        segment = Path(folder, "00000002.jsonl")
        content = segment.read_bytes()
        for idx in Path(folder).glob("*.idx"):
            idx.unlink()
        offset, raw = next((at, raw) for at, raw in split(content) if b'"t":"turn"' in raw)
        segment.write_bytes(content[: offset + 60] + b"#" + content[offset + 61 :])
        with pytest.raises(Corrupt, match=f"00000002.jsonl at byte {offset}"):
            small(folder=folder)
        fields = decode(raw)
        assert fields is not None
        with small(folder=folder, read_only=True) as log:
            damage = log.verify().damage
            assert any(f"00000002.jsonl at byte {offset}" in found.where for found in damage)
            assert any(f"record {fields['q']} is unreadable" in found.what for found in damage)
            readable = [info for info in log.pages() if reads(log, info.id)]
            assert len(readable) == len(log.pages()) - 1

    def test_an_edit_with_a_correct_checksum_is_found_by_the_page_it_is_on(
        self, tmp_path: Path, sound: Files
    ) -> None:
        folder = laid_out(tmp_path / "log", sound)
        edit(Path(folder, "00000001.jsonl"), lambda fields: fields["t"] == "turn", x="I never said so")
        with small(folder=folder, read_only=True) as log:
            assert any("not the ones it was sealed with" in found.what for found in log.verify().damage)

    def test_a_rewritten_log_is_found_by_a_checkpoint_kept_elsewhere(self, folder: str) -> None:
        with small(folder=folder) as log:
            log.record("note", {"n": 1})
            log.record("note", {"n": 2})
            checkpoint = log.checkpoint()
        path = Path(folder, "00000001.jsonl")
        edit(path, lambda fields: fields["t"] == "rec", b={"n": 7})
        kept = [raw for _, raw in split(path.read_bytes()) if b'"t":"ckpt"' not in raw]
        path.write_bytes(b"".join(kept))
        with small(folder=folder, read_only=True) as log:
            assert log.verify().ok
            assert not log.verify(checkpoint).ok

    def test_words_altered_on_an_open_page_while_the_log_is_open_are_found(self, folder: str) -> None:
        with small(folder=folder) as log:
            log.append(S1, [said("I owe you 7.")])
            assert log.verify().ok
            path = Path(folder, "00000001.jsonl")
            (spoken,) = (raw for _, raw in split(path.read_bytes()) if b'"t":"turn"' in raw)
            fields = {name: value for name, value in (decode(spoken) or {}).items() if name != "c"}
            altered = encode({**fields, "x": "I owe you 9."})
            assert len(altered) == len(spoken)
            path.write_bytes(path.read_bytes().replace(spoken, altered))
            assert not log.verify().ok

    def test_words_altered_on_an_open_page_are_found_by_a_checkpoint_kept_elsewhere(
        self, folder: str
    ) -> None:
        with small(folder=folder) as log:
            log.append(S1, [said("I owe you 7.")])
            checkpoint = log.checkpoint()
        path = Path(folder, "00000001.jsonl")
        edit(path, lambda fields: fields["t"] == "turn", x="I owe you 9.")
        with small(folder=folder, read_only=True) as log:
            (found,) = log.verify().damage
            assert "the tree so far is not the one it commits to" in found.what
        kept = [raw for _, raw in split(path.read_bytes()) if b'"t":"ckpt"' not in raw]
        path.write_bytes(b"".join(kept))
        with small(folder=folder, read_only=True) as log:
            assert log.verify().ok
            (found,) = log.verify(checkpoint).damage
            assert "does not begin with what it commits to" in found.what

    def test_a_log_cut_off_at_a_line_is_found_by_a_checkpoint_kept_elsewhere(self, folder: str) -> None:
        with small(folder=folder) as log:
            log.record("note", {"n": 1})
            start = Path(folder, "00000001.jsonl").read_bytes()
            log.record("note", {"n": 2})
            checkpoint = log.checkpoint()
        Path(folder, "00000001.jsonl").write_bytes(start)
        with small(folder=folder) as log:
            assert log.verify().ok
            report = log.verify(checkpoint)
            assert not report.ok or report.checkpoint.root != checkpoint.root

    def test_where_the_clock_was_set_back_is_told_after_every_opening(self, folder: str) -> None:
        start = datetime(2024, 1, 1, tzinfo=UTC)
        days = chain([0, 1, 2, 5_000, 3, 4], count(5))
        options = LogOptions(
            page_tokens=200, segment_bytes=4_000, clock=lambda: start + timedelta(days=next(days))
        )
        with DiskLog(folder, SPACE, options=options) as log:
            filled(log)
            told = log.times()
        (back,) = told.set_back
        assert (back.was, back.now) == (start + timedelta(days=5_000), start + timedelta(days=3))
        assert list(Path(folder).glob("*.idx"))
        with small(folder=folder, read_only=True) as log:
            assert log.times() == told
        for idx in Path(folder).glob("*.idx"):
            idx.unlink()
        with small(folder=folder, read_only=True) as log:
            assert log.times() == told

    def test_a_turn_erased_behind_the_logs_back_is_found(self, tmp_path: Path, sound: Files) -> None:
        folder = laid_out(tmp_path / "log", sound)
        path = Path(folder, "00000001.jsonl")
        content = path.read_bytes()
        offset, raw = next((at, raw) for at, raw in split(content) if b'"t":"turn"' in raw)
        fields = decode(raw)
        assert fields is not None
        line = line_of(raw, fields)
        tombstone = encode_tombstone(tombstone_of_turn(fields, line.digest, 40, salt=b""), len(raw))
        path.write_bytes(content[:offset] + tombstone + content[offset + len(raw) :])
        with small(folder=folder, read_only=True) as log:
            assert any("no record says so" in found.what for found in log.verify().damage)

    @pytest.mark.parametrize("harm", ["swapped", "missing", "of another space"])
    def test_segments_that_do_not_belong_are_refused(self, tmp_path: Path, sound: Files, harm: str) -> None:
        folder = laid_out(tmp_path / "log", sound)
        one, two = Path(folder, "00000001.jsonl"), Path(folder, "00000002.jsonl")
        for idx in Path(folder).glob("*.idx"):
            idx.unlink()
        match harm:
            case "swapped":
                first = one.read_bytes()
                one.write_bytes(two.read_bytes())
                two.write_bytes(first)
            case "missing":
                one.unlink()
            case "of another space":
                edit(two, lambda fields: fields["t"] == "seg", space="bob")
        with pytest.raises(Corrupt):
            small(folder=folder)
        with small(folder=folder, read_only=True) as log:
            assert not log.verify().ok

    def test_the_head_of_the_only_segment_may_be_damaged_and_the_rest_is_read(self, folder: str) -> None:
        with small(folder=folder) as log:
            log.append(S1, [said("one")])
            log.append(S1, [said("two")])
        path = Path(folder, "00000001.jsonl")
        path.write_bytes(b"#" + path.read_bytes()[1:])
        with pytest.raises(Corrupt):
            small(folder=folder)
        with small(folder=folder, read_only=True) as log:
            assert [line.turn for line in opened(log, S1).lines] == [said("one"), said("two")]


def opened(log: PageLog, session: SessionId) -> Page:
    page = log.open_page(session)
    assert page is not None
    return page


def segments(folder: str) -> list[Path]:
    return sorted(Path(folder).glob("*.jsonl"))


def raw_records(folder: str) -> Iterator[dict[str, object]]:
    for path in segments(folder):
        for _, raw in split(path.read_bytes()):
            fields = decode(raw)
            assert fields is not None
            yield fields


def laid_out(folder: Path, files: Files) -> str:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        Path(folder, name).write_bytes(content)
    return str(folder)


def edit(path: Path, which: Callable[[dict[str, object]], bool], **changes: object) -> None:
    """Change the first record that `which` picks, with a correct checksum."""
    content = path.read_bytes()
    for at, raw in split(content):
        fields = decode(raw)
        if fields is not None and which(fields):
            path.write_bytes(content[:at] + encode({**fields, **changes}) + content[at + len(raw) :])
            return
    raise LookupError(path)


def reads(log: PageLog, page_id: PageId) -> bool:
    try:
        return bool(log.page(page_id).text)
    except Corrupt:
        return False

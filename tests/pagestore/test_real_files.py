"""The log on real files: whose they are, what is not followed, who notices that one was taken away."""

import gc
import os
from collections.abc import Callable
from dataclasses import replace
from errno import ENOSPC
from functools import partial
from pathlib import Path

import pytest

from pagestore import DiskLog, MemoryLog, SessionId, SpaceId, Span, Store, parse
from pagestore.errors import (
    Corrupt,
    Full,
    Inaccessible,
    InvalidInput,
    Locked,
    PageStoreError,
    Poisoned,
)
from pagestore.files import RealFiles
from pagestore.line import decode, encode, split
from pagestore.testing import S1, S2, said
from tests.pagestore.spyfiles import SpyFiles
from tests.pagestore.test_disk_log import SPACE, filled, opened, segments, small


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "ann")


def texts(log: DiskLog, session: SessionId = S1) -> list[str]:
    return [line.turn.text for line in opened(log, session).lines if line.turn]


class TestWhoseTheyAre:
    def test_files_are_their_owners_alone_whatever_the_folder_is(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o777)
        before = os.umask(0)
        try:
            with Store(tmp_path / "memory").open_space(SPACE) as log:
                log.append(S1, [said("one")])
            folder = tmp_path / "memory" / "spaces" / "ann"
            segment = folder / "00000001.jsonl"
            segment.write_bytes(segment.read_bytes() + b'{"q":99,"half a li')
            with small(folder=str(folder)) as log:
                filled(log)
        finally:
            os.umask(before)
        made = [tmp_path / "memory", *(tmp_path / "memory").rglob("*")]
        modes = {path.suffix if path.is_file() else "folder": path.stat().st_mode & 0o777 for path in made}
        assert set(modes) == {"folder", "", ".jsonl", ".idx", ".torn"}
        assert modes.pop("folder") == 0o700
        assert set(modes.values()) == {0o600}

    @pytest.mark.parametrize("name", ["LOCK", "00000001.jsonl", "00000002.jsonl"])
    def test_a_link_is_not_followed(self, tmp_path: Path, folder: str, name: str) -> None:
        with small(folder=folder) as log:
            filled(log, 12)
        theirs = tmp_path / "theirs"
        theirs.write_text("not yours")
        Path(folder, name).unlink(missing_ok=True)
        Path(folder, name).symlink_to(theirs)
        with pytest.raises(Inaccessible, match=f"a link, and links are not followed.*{name}"):
            small(folder=folder)
        assert theirs.read_text() == "not yours"

    def test_what_is_kept_beside_the_log_goes_through_no_link_either(
        self, tmp_path: Path, folder: str
    ) -> None:
        with small(folder=folder) as log:
            filled(log)
            before = list(log.pages())
        theirs = tmp_path / "theirs"
        theirs.write_text("not yours")
        cache = Path(folder, "00000001.idx")
        cache.unlink()
        cache.symlink_to(theirs)
        with small(folder=folder) as log:
            assert list(log.pages()) == before
        assert theirs.read_text() == "not yours"

    def test_the_folder_of_a_store_may_be_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "disk").mkdir()
        (tmp_path / "memory").symlink_to(tmp_path / "disk")
        with Store(tmp_path / "memory").open_space(SPACE) as log:
            log.append(S1, [said("one")])
        assert (tmp_path / "disk" / "FORMAT").exists()

    @pytest.mark.parametrize("read_only", [True, False])
    def test_a_pipe_in_place_of_a_segment_is_refused_and_not_waited_for(
        self, folder: str, read_only: bool
    ) -> None:
        small(folder=folder).close()
        os.mkfifo(Path(folder, "00000002.jsonl"))
        with pytest.raises(Inaccessible, match="no plain file"):
            small(folder=folder, read_only=read_only)

    def test_names_that_only_look_like_segments_are_none(self, folder: str) -> None:
        with small(folder=folder) as log:
            log.append(S1, [said("one")])
        for name in ("1.jsonl", "000000001.jsonl", "٠٠٠٠٠٠٠١.jsonl", "00000001.jsonl.old", "x.jsonl"):
            Path(folder, name).write_text("not a segment")
        with small(folder=folder) as log:
            assert texts(log) == ["one"]
            assert log.verify().ok


class TestTakenAway:
    def test_without_its_lock_file_a_log_is_not_written_and_nobody_else_gets_it(self, folder: str) -> None:
        with small(folder=folder) as log:
            log.append(S1, [said("one")])
            Path(folder, "LOCK").unlink()
            with pytest.raises(Locked, match="written elsewhere"):
                small(folder=folder)
            for write in (lambda: log.append(S1, [said("two")]), log.seal, log.checkpoint):
                with pytest.raises(Poisoned, match="LOCK' was removed or replaced"):
                    write()
            assert texts(log) == ["one"]
        with small(folder=folder) as log:
            log.append(S1, [said("three")])
            assert texts(log) == ["one", "three"]

    def test_a_lock_file_removed_while_it_is_taken_is_not_the_one_that_counts(self, folder: str) -> None:
        class Slow(RealFiles):
            def hold(self, fd: int) -> None:
                super().hold(fd)
                if not removed:
                    Path(folder, "LOCK").unlink()
                    removed.append(fd)

        removed: list[int] = []
        with DiskLog(folder, SPACE, files=Slow()):
            assert removed
            with pytest.raises(Locked, match=f"pid {os.getpid()}"):
                small(folder=folder)

    @pytest.mark.parametrize("harm", ["removed", "replaced"])
    @pytest.mark.parametrize("when", ["before", "while it is synced"])
    def test_a_segment_taken_away_acknowledges_nothing(self, folder: str, harm: str, when: str) -> None:
        files = SpyFiles()
        segment = Path(folder, "00000001.jsonl")

        def take_away() -> None:
            content = segment.read_bytes()
            segment.unlink()
            if harm == "replaced":
                segment.write_bytes(content)

        with small(files, folder=folder) as log:
            log.append(S1, [said("one")])
            if when == "before":
                take_away()
            else:
                files.before_sync = take_away
            with pytest.raises(Poisoned, match=r"00000001.jsonl' was removed or replaced"):
                log.append(S1, [said("two")])
            files.before_sync = None
            with pytest.raises(Poisoned):
                log.append(S1, [said("three")])
            assert texts(log) == ["one"]
            assert any("removed or replaced" in damage.what for damage in log.verify().damage)

    def test_an_erasure_in_a_segment_that_was_replaced_is_not_called_done(self, folder: str) -> None:
        with small(folder=folder) as log:
            seq = log.append(S1, [said("the secret")]).seqs[0]
            page = opened(log, S1).id
            filled(log)
            segment = Path(folder, "00000001.jsonl")
            content = segment.read_bytes()
            segment.unlink()
            segment.write_bytes(content)
            with pytest.raises(Poisoned):
                log.erase(page, seq, "asked to")
        with small(folder=folder):
            assert not any(b"secret" in path.read_bytes() for path in Path(folder).iterdir())

    def test_a_segment_shorter_than_its_snapshot_says_is_not_believed(self, folder: str) -> None:
        with small(folder=folder) as log:
            filled(log)
        one = segments(folder)[0]
        *kept, last = (raw for _, raw in split(one.read_bytes()))
        one.write_bytes(b"".join(kept))
        with pytest.raises(Corrupt, match=r"records \d+ to \d+ are missing|is not the one the header names"):
            small(folder=folder)
        one.write_bytes(b"".join([*kept, last]))
        small(folder=folder).close()

    def test_a_process_that_was_forked_does_not_write(self, folder: str) -> None:
        with small(folder=folder) as log:
            log.append(S1, [said("one")])
            writes: list[Callable[[], object]] = [log.seal, log.checkpoint]
            writes += [lambda: log.append(S1, [said("two")]), lambda: log.record("note", {})]
            refused = in_a_fork(
                *(partial(raises, Locked, write) for write in writes), lambda: texts(log) == ["one"]
            )
            assert refused
            log.append(S1, [said("three")])
            assert log.verify().ok
            with pytest.raises(Locked):
                small(folder=folder)


class TestWhatIsPromised:
    def test_damage_in_the_last_acknowledged_turn_but_one_is_no_torn_tail(self, folder: str) -> None:
        """The last line proves that the one before it was durable: nothing may be cut off."""
        with small(folder=folder) as log:
            log.append(S1, [said("one")])
            log.append(S1, [said("two")])
        segment = Path(folder, "00000001.jsonl")
        before = segment.read_bytes()
        offset, raw = list(split(before))[-2]
        assert (decode(raw) or {}).get("x") == "one"
        damaged = before[: offset + 20] + b"#" + before[offset + 21 :]
        segment.write_bytes(damaged)
        with pytest.raises(Corrupt, match=f"at byte {offset}"):
            small(folder=folder)
        assert segment.read_bytes() == damaged

    def test_a_torn_tail_is_cut_off_the_file(self, folder: str) -> None:
        with small(folder=folder) as log:
            log.append(S1, [said("one")])
        segment = Path(folder, "00000001.jsonl")
        segment.write_bytes(segment.read_bytes() + b'{"q":99,' + b"x" * 5_000)
        with small(folder=folder) as log:
            assert texts(log) == ["one"]
        assert b"xxx" not in segment.read_bytes()

    @pytest.mark.parametrize("call", ["sync", "sync_directory"])
    def test_a_sync_that_fails_while_a_segment_begins_is_not_passed_over(
        self, folder: str, call: str
    ) -> None:
        files = SpyFiles()
        with small(files, folder=folder) as log:
            log.append(S1, [said("and so on " * 5)])
            files.failing_after = (call, 1 if call == "sync" else 0)
            kept = log.append(S1, [said("the last of this segment " * 200)])
            assert len(segments(folder)) == 2
            files.failing_after = None
            with pytest.raises(Poisoned):
                log.append(S1, [said("more")])
        with small(folder=folder) as log:
            assert kept.seqs[0] in {
                line.seq
                for page in (*(log.page(info.id) for info in log.pages()), opened(log, S1))
                for line in page.lines
            }

    def test_a_full_disk_says_what_became_of_this_write_and_no_more(self, folder: str) -> None:
        files = SpyFiles()
        with small(files, folder=folder) as log:
            log.append(S1, [said("one")])
            files.failing = {"write": ENOSPC}
            with pytest.raises(Full, match="this write was taken back, and what was stored before it stays"):
                log.append(S1, [said("two")])

    def test_no_room_in_the_middle_of_an_erasure_is_not_called_taken_back(self, folder: str) -> None:
        files = SpyFiles()
        with small(files, folder=folder) as log:
            seq = log.append(S1, [said("the secret")]).seqs[0]
            files.failing_after = ("write", 1)
            files.failing_with = ENOSPC
            with pytest.raises(Poisoned, match="the next opening does the rest"):
                log.erase(opened(log, S1).id, seq, "asked to")
            files.failing_after = None
        with small(folder=folder):
            assert b"secret" not in Path(folder, "00000001.jsonl").read_bytes()

    def test_opening_fails_without_leaving_anything_open(self, folder: str) -> None:
        with small(folder=folder) as log:
            filled(log)
        os.mkfifo(Path(folder, "00009999.jsonl"))
        before = descriptors()
        for read_only in (True, False):
            with pytest.raises(Inaccessible):
                small(folder=folder, read_only=read_only)
        assert descriptors() == before
        Path(folder, "00009999.jsonl").unlink()
        with small(folder=folder):
            held = descriptors()
            with pytest.raises(Locked):
                small(folder=folder)
            assert descriptors() == held

    def test_an_open_log_takes_a_descriptor_a_segment_and_one_for_the_lock(self, folder: str) -> None:
        before = descriptors()
        with small(folder=folder) as log:
            filled(log)
            assert len(segments(folder)) > 1
            assert descriptors() - before == len(segments(folder)) + 1
            with small(folder=folder, read_only=True):
                assert descriptors() - before == 2 * len(segments(folder)) + 1
        assert descriptors() == before

    def test_a_path_that_no_file_system_could_have_is_refused_as_such(self) -> None:
        for path in ("a\0b", "a/\ud800"):
            with pytest.raises(InvalidInput, match="cannot be a path"):
                Store(path)
            with pytest.raises(InvalidInput, match="cannot be a path"):
                DiskLog(path, SPACE)

    def test_somebody_elses_file_among_the_spaces_is_no_space(self, tmp_path: Path) -> None:
        store = Store(tmp_path)
        for name in ("ann", "Zoë"):
            store.open_space(SpaceId(name)).close()
        (tmp_path / "spaces" / "notes").write_text("mine")
        (tmp_path / "spaces" / "x-0000").mkdir()
        header = encode({"q": 0, "d": -1, "t": "seg", "space": 7})
        (tmp_path / "spaces" / "x-0000" / "00000001.jsonl").write_bytes(header)
        assert store.spaces() == ("Zoë", "ann")
        assert not store.has_space(SpaceId("notes"))
        with pytest.raises(Inaccessible):
            store.open_space(SpaceId("notes"))

    @pytest.mark.parametrize("size", [-1, -(10**30), 10**30])
    def test_a_checkpoint_of_an_impossible_size_is_refused_at_once(self, size: int) -> None:
        log = MemoryLog()
        log.append(S1, [said("one")])
        (page,) = log.seal()
        checkpoint = replace(log.checkpoint(), size=size)
        assert not log.verify(checkpoint).ok
        with pytest.raises(Corrupt):
            log.prove(page, checkpoint)

    def test_what_is_no_page_and_no_place_on_one_is_refused_as_such(self) -> None:
        log = MemoryLog()
        log.append(S1, [said("one")])
        page = log.open_page(S1)
        assert page is not None
        refused: list[Callable[[], object]] = [
            lambda: parse("no page"),
            lambda: page.words(Span(page_id=page.id, start=2, end=1)),
            lambda: page.line_at(10**6),
        ]
        for ask in refused:
            with pytest.raises(InvalidInput):
                ask()

    def test_a_body_nested_so_deeply_that_it_might_not_be_read_again_is_refused(self) -> None:
        log = MemoryLog()
        assert log.record("note", nested(100)).body == nested(100)
        for levels in (101, 500, 5_000, 100_000):
            with pytest.raises(InvalidInput):
                log.record("note", nested(levels))
        assert log.verify().ok

    @pytest.mark.parametrize(
        "change",
        [{"w": []}, {"s": {}}, {"at": 7}, {"x": [1]}, {"p": 3}, {"q": 2**63}, {"h": [1]}, {"u": 0}, {"e": 5}],
        ids=str,
    )
    def test_an_intact_line_that_is_none_of_this_format_is_damage_and_no_other_error(
        self, folder: str, change: dict[str, object]
    ) -> None:
        with small(folder=folder) as log:
            filled(log, 3)
            log.record("note", {"n": 1})
            seq = log.append(S1, [said("the secret")]).seqs[0]
            log.erase(opened(log, S1).id, seq, "asked to")
            log.seal()
            log.append(S2, [said("on an open page")])
        segment = Path(folder, "00000001.jsonl")
        sound = segment.read_bytes()
        raised = 0
        for offset, raw in split(sound):
            fields = decode(raw) or {}
            if not fields.keys() & change.keys():
                continue
            del fields["c"]
            segment.write_bytes(sound[:offset] + encode({**fields, **change}) + sound[offset + len(raw) :])
            for read_only in (True, False):
                raised += not_sound(partial(use_all, folder, read_only=read_only))
        assert raised

    def test_what_an_erasure_left_may_be_damaged_and_the_rest_is_read(self, folder: str) -> None:
        with small(folder=folder) as log:
            seq = log.append(S1, [said("the secret")]).seqs[0]
            log.append(S2, [said("two")])
            log.erase(opened(log, S1).id, seq, "asked to")
        segment = Path(folder, "00000001.jsonl")
        content = segment.read_bytes()
        offset, raw = next((at, raw) for at, raw in split(content) if b'"t":"gone"' in raw)
        fields = decode(raw) or {}
        changed = encode({name: value for name, value in fields.items() if name != "c"} | {"h": "no hash"})
        segment.write_bytes(content[:offset] + changed + content[offset + len(raw) :])
        with small(folder=folder, read_only=True) as log:
            assert any(f"record {seq} " in damage.what for damage in log.verify().damage)
            assert texts(log, S2) == ["two"]


def use_all(folder: str, *, read_only: bool) -> bool:
    """Whether everything that can be asked of a log was answered and found sound."""
    with small(folder=folder, read_only=read_only) as log:
        sound = log.verify().ok
        asked: list[Callable[[], object]] = [lambda: list(log.records()), log.filling, log.current_checkpoint]
        asked += [partial(log.open_page, session) for session in log.sessions()]
        asked += [partial(log.page, info.id) for info in log.pages()]
        asked += [partial(log.prove_page, info.id, log.current_checkpoint()) for info in log.pages()]
        asked += [partial(log.read, seq) for seq in range(min(log.head, 50))]
        if not read_only:
            asked.append(lambda: log.append(S1, [said("turn 0 ", turn_id="0")]))
        for ask in asked:
            not_sound(ask)
    return sound


def not_sound(ask: Callable[[], object]) -> bool:
    """Whether an answer was refused, or was that something is not sound; any error of ours will do."""
    try:
        return ask() is False
    except PageStoreError:
        return True


def nested(levels: int) -> dict[str, object]:
    body: dict[str, object] = {}
    for _ in range(levels - 1):
        body = {"a": body}
    return body


def descriptors() -> int:
    gc.collect()  # what earlier tests left behind is not counted
    return len(list(Path("/dev/fd").iterdir()))


def raises(error: type[Exception], call: Callable[[], object]) -> bool:
    try:
        call()
    except error:
        return True
    return False


def in_a_fork(*checks: Callable[[], bool]) -> bool:
    """Whether all checks hold in a process forked from this one."""
    pid = os.fork()
    if pid == 0:
        held = False
        try:
            held = all(check() for check in checks)
        finally:
            os._exit(0 if held else 1)
    return os.waitpid(pid, 0)[1] == 0

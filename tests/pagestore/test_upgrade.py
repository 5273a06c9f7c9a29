"""A store of format 1, upgraded: what was shown, proved and kept elsewhere before stays true.

`golden/format-1-answered` (a store with two answers, bundles of both, checkpoints) and
`golden/format-1-erasing` (a store left in the middle of an erasure) were written by the last version of
format 1.
"""

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pagestore import Checkpoint, CheckpointOfFormat1, DiskLog, LogOptions, SpaceId, Store, upgrade
from pagestore.__main__ import main
from pagestore.backup import restore_backup, write_backup
from pagestore.bundle import decode, encode, make_bundle, verify_bundle, verify_growth
from pagestore.errors import Corrupt, Locked, OlderFormat, PageNotFound, RecordNotFound
from pagestore.files import RealFiles
from pagestore.line import decode as decode_line
from pagestore.line import encode as encode_line
from pagestore.line import split
from pagestore.testing import S1, proves, said
from pagestore.values import checkpoint_of
from tests.pagestore.faults.simfiles import LOSSES, Crash, Image, SimFiles

GOLDEN = Path(__file__).parent / "golden"
ANSWERED = GOLDEN / "format-1-answered"
TOLD: dict[str, Any] = json.loads((ANSWERED / "told.json").read_text())
KEPT, LATER = checkpoint_of(TOLD["kept"]), checkpoint_of(TOLD["later"])
FIRST, SECOND = TOLD["answers"]
SPACE = SpaceId("ann")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The store with answers, of format 1."""
    shutil.copytree(ANSWERED / "store", tmp_path / "store")
    return tmp_path / "store"


def opened(store: Path, *, read_only: bool = False) -> DiskLog:
    return Store(store, read_only=read_only).open_space(SPACE)


def segments(store: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((store / "spaces" / "ann").glob("*.jsonl"))}


def test_every_line_stays_where_it_was(store: Path) -> None:
    before = segments(store)
    assert upgrade(store) == (SPACE,)
    after = segments(store)
    assert after.keys() == before.keys()
    assert all(after[name].startswith(data) for name, data in before.items())
    added = [decode_line(raw) or {} for raw in after["00000002.jsonl"].splitlines(keepends=True)]
    assert [fields["t"] for fields in added[-2:]] == ["upgraded", "open"]
    assert (store / "FORMAT").read_text() == "tiermem-store 2\n"
    assert upgrade(store) == ()
    assert segments(store) == after


def test_what_others_know_a_log_by_stays(store: Path) -> None:
    upgrade(store)
    with opened(store) as log:
        assert log.identity == TOLD["identity"] == Store(store).identity(SPACE)
        told = [log.history(number) for number in range(len(TOLD["histories"]))]
        assert [one.digest for one in told if one] == TOLD["histories"]
        every = [log.history(number) for number in range(log.head + 1)]
        assert len(set(every)) == log.head + 1
        assert log.history() == every[-1]


def test_checkpoints_made_before_verify_and_say_what_waited_on_open_pages(store: Path) -> None:
    for _ in range(2):
        with opened(store, read_only=True) as log:
            for kept in (KEPT, LATER):
                assert isinstance(kept, CheckpointOfFormat1)
                report = log.verify(kept)
                assert (report.ok, report.unproved) == (True, ())
                assert log.verify(kept.tree).unproved
                for other in (
                    replace(kept, root="00" * 32),
                    replace(kept, size=kept.size - 1),
                    replace(kept, waiting="00" * 32),
                    replace(kept, head=log.head),
                    Checkpoint(space=kept.space, size=kept.size, root=kept.root),
                ):
                    assert not log.verify(other).ok
        upgrade(store)


def test_bundles_made_before_verify(store: Path) -> None:
    upgrade(store)
    for name in ("bundle.json", "grown.json"):
        data = (ANSWERED / name).read_bytes()
        assert encode(decode(data)) == data
        assert verify_bundle(data).ok
        report = verify_bundle(data, KEPT)
        assert report.ok
        assert "kept elsewhere" in report.proved[0]
        assert not verify_bundle(data, replace(KEPT, root="00" * 32)).ok
        same_numbers = Checkpoint(space=KEPT.space, size=KEPT.size, root=KEPT.root)
        assert not verify_bundle(data, same_numbers).ok


def test_old_answers_are_bundled_as_they_were_and_new_ones_grow_from_old_checkpoints(store: Path) -> None:
    with opened(store, read_only=True) as log:
        assert encode(make_bundle(log, FIRST, checkpoint=KEPT)) == (ANSWERED / "bundle.json").read_bytes()
    upgrade(store)
    with opened(store) as log:
        assert encode(make_bundle(log, FIRST, checkpoint=KEPT)) == (ANSWERED / "bundle.json").read_bytes()
        now = log.checkpoint()
        for seq in (FIRST, SECOND):
            assert verify_bundle(encode(make_bundle(log, seq)), log.current_checkpoint()).ok
            assert verify_bundle(encode(make_bundle(log, seq, checkpoint=now)), now).ok
        grown = encode(make_bundle(log, SECOND, checkpoint=KEPT))
        report = verify_bundle(grown, KEPT)
        assert report.ok
        assert "no record or sealed page before it was changed" in report.proved[0]
        assert encode(decode(grown)) == grown
        assert decode(grown).checkpoint.format == 2


def test_growth_leads_from_an_old_checkpoint_over_the_upgrade_to_a_new_one(store: Path) -> None:
    upgrade(store)
    with opened(store) as log:
        log.append(S1, [said("one more")])
        new = log.checkpoint()
        log.append(S1, [said("and one")])
        newer = log.checkpoint()
        for old in (KEPT, LATER):
            for to in (new, newer):
                proof = log.prove_growth(old, to)
                assert verify_growth(proof)
                upgraded = proof.upgraded
                assert upgraded is not None
                (other,) = (record for record in log.records() if record.seq == FIRST)
                forged = [
                    replace(proof, upgraded=None),
                    replace(proof, old=replace(proof.old, root="00" * 32)),
                    replace(proof, new=replace(proof.new, root="00" * 32)),
                    replace(proof, new=replace(proof.new, space=SpaceId("bob"))),
                    replace(proof, path=proof.path[1:]),
                    replace(proof, upgraded=log.prove_record(other.seq, to)),
                    replace(proof, upgraded=altered(upgraded, n=old.size)),
                ]
                assert not any(verify_growth(one) for one in forged if one != proof)
        assert verify_growth(log.prove_growth(KEPT, LATER))
        assert verify_growth(log.prove_growth(new, newer))
        for backwards in ((new, KEPT), (LATER, KEPT), (newer, new)):
            with pytest.raises(Corrupt, match="only grows"):
                log.prove_growth(*backwards)


def altered(record: Any, **changes: object) -> Any:
    fields = {name: value for name, value in json.loads(record.line).items() if name != "c"}
    return replace(record, line=encode_line({**fields, **changes}).decode().removesuffix("\n"))


def test_proofs_are_made_in_the_tree_of_the_checkpoint_they_are_asked_for(store: Path) -> None:
    upgrade(store)
    with opened(store) as log:
        now = log.checkpoint()
        pages = log.pages()
        for checkpoint in (KEPT, now):
            assert proves(log.prove(pages[0].id, checkpoint), checkpoint)
            assert proves(log.prove_record(FIRST, checkpoint).proof, checkpoint)
        with pytest.raises(RecordNotFound):
            log.prove_record(SECOND, KEPT)
        log.append(S1, [said("after the upgrade")])
        (page,) = log.seal(S1)
        record = log.record("note", {})
        for old in (KEPT, log.verify().checkpoint):
            if old.format == 1:
                with pytest.raises(PageNotFound):
                    log.prove(page, old)
                with pytest.raises(RecordNotFound):
                    log.prove_record(record.seq, old)
            else:
                assert proves(log.prove(page, old), old)


@pytest.mark.parametrize("name", ["format-1", "format-1-times", "format-1-salted", "format-1-answered/store"])
def test_an_upgraded_log_reads_the_same_with_its_caches_and_without(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "store"
    shutil.copytree(GOLDEN / name, folder)
    upgrade(folder)
    options = LogOptions(segment_bytes=4_000)
    with Store(folder, options=options).open_space(SPACE) as log:
        for number in range(60):
            log.append(S1, [said(f"turn {number} " + "so " * 60, turn_id=f"new {number}")])
    with opened(folder) as log:
        before = seen(log)
    assert list(folder.rglob("*.idx"))
    with opened(folder) as log:
        assert seen(log) == before
        assert log.append(S1, [said("turn 7 " + "so " * 60, turn_id="new 7")]).new == 0
    for path in folder.rglob("*.idx"):
        path.unlink()
    with opened(folder, read_only=True) as log:
        assert seen(log) == before
        assert log.verify().ok


def seen(log: DiskLog) -> list[object]:
    pages = [log.page(info.id) for info in log.pages()]
    told = [log.history(number) for number in range(log.head + 1)]
    return [
        log.identity,
        pages,
        log.filling(),
        list(log.records()),
        told,
        log.current_checkpoint(),
        log.times(),
    ]


class TestErasing:
    @pytest.fixture
    def begun(self, tmp_path: Path) -> Path:
        """A store with an intent and tombstones, and no word that they are done."""
        shutil.copytree(GOLDEN / "format-1-erasing", tmp_path / "store")
        return tmp_path / "store"

    @pytest.mark.parametrize("half_written", [False, True])
    def test_an_erasure_that_was_begun_before_is_finished(self, begun: Path, half_written: bool) -> None:
        path = begun / "spaces" / "ann" / "00000001.jsonl"
        content = path.read_bytes()
        tombstones = [(at, raw) for at, raw in split(content) if b'"t":"gone"' in raw or b'"t":"void"' in raw]
        assert len(tombstones) == 2
        if half_written:
            at, _ = tombstones[0]
            path.write_bytes(content[: at + 70] + b"x" * 40 + content[at + 110 :])
        with opened(begun, read_only=True) as log:
            assert log.page(log.pages()[0].id).lines[0].turn is None
            assert log.verify().ok
        upgrade(begun)
        assert path.read_bytes() == content
        with opened(begun) as log:
            assert log.verify().ok
            assert [record.kind for record in log.records(kinds=frozenset({"note", "void"}))] == ["void"]
            assert not log._state.erasing

    def test_turns_and_records_of_before_are_erased_and_checkpoints_of_before_stay(self, store: Path) -> None:
        upgrade(store)
        with opened(store) as log:
            page = log.page(log.pages()[0].id)
            log.erase_together([(page.id, page.lines[1].seq)], records=[FIRST], reason="asked to")
        assert not any(b"Pixel" in data for data in segments(store).values())
        with opened(store) as log:
            assert log.verify(KEPT).ok
            assert log.page(page.id).id == page.id
            assert proves(log.prove(page.id, KEPT), KEPT)
            with pytest.raises(RecordNotFound, match="erased"):
                log.prove_record(FIRST, KEPT)
            assert verify_bundle((ANSWERED / "bundle.json").read_bytes(), KEPT).ok


class TestCutShort:
    def test_a_store_that_says_format_2_and_has_a_log_of_format_1_is_upgraded_further(
        self, store: Path
    ) -> None:
        (store / "FORMAT").write_text("tiermem-store 2\n")
        with pytest.raises(OlderFormat, match="upgrade"):
            opened(store)
        with opened(store, read_only=True) as log:
            assert log.verify(KEPT).ok
        assert upgrade(store) == (SPACE,)
        with opened(store) as log:
            assert log.verify(KEPT).ok

    def test_a_damaged_log_leaves_the_store_as_it_was(self, store: Path) -> None:
        path = store / "spaces" / "ann" / "00000001.jsonl"
        path.write_bytes(path.read_bytes().replace(b"Pixel", b"Rover"))
        before = segments(store)
        with pytest.raises(Corrupt, match="is damaged and is not upgraded"):
            upgrade(store)
        assert segments(store) == before
        assert (store / "FORMAT").read_text() == "tiermem-store 1\n"

    def test_a_log_that_somebody_writes_leaves_the_store_as_it_was(self, store: Path) -> None:
        held = RealFiles().lock(str(store / "spaces" / "ann" / "LOCK"))
        with pytest.raises(Locked):
            upgrade(store)
        assert (store / "FORMAT").read_text() == "tiermem-store 1\n"
        RealFiles().close(held)
        assert upgrade(store) == (SPACE,)

    def test_a_power_cut_at_any_moment_leaves_a_log_that_can_be_upgraded(self) -> None:
        image: Image = {
            f"/log/{path.name}": path.read_bytes()
            for path in (ANSWERED / "store" / "spaces" / "ann").glob("*.jsonl")
        }
        whole = SimFiles(image)
        DiskLog("/log", SPACE, files=whole, upgraded=True).close()
        for point in range(1, whole.operations + 2):
            for number, loss in enumerate(LOSSES):
                chance = Random(point * 100 + number)
                files = SimFiles(image, crash_at=point, tear=chance.randrange(900))
                with suppress(Crash):
                    DiskLog("/log", SPACE, files=files, upgraded=True)
                again = SimFiles(files.image(loss, chance))
                log = DiskLog("/log", SPACE, files=again, upgraded=True)
                assert log.current_checkpoint().format == 2
                assert log.verify(KEPT).ok
                assert log.verify(LATER).ok
                lines = b"".join(data for name, data in again.contents().items() if ".jsonl" in name)
                assert lines.count(b'"t":"upgraded"') == 1


@pytest.mark.parametrize(
    "forge",
    [
        lambda fields: {**fields, "n": fields["n"] - 1},
        lambda fields: {**fields, "root": "00" * 32},
        lambda fields: {**fields, "waiting": "00" * 32},
        lambda fields: {**fields, "head": fields["head"] - 1},
    ],
    ids=["size", "root", "waiting", "head"],
)
def test_an_upgrade_that_says_something_else_of_what_was_is_damage(
    store: Path, forge: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    upgrade(store)
    path = store / "spaces" / "ann" / "00000002.jsonl"
    kept = []
    for _, raw in split(path.read_bytes()):
        fields = decode_line(raw) or {}
        fields.pop("c")
        kept.append(encode_line(forge(fields)) if fields["t"] == "upgraded" else raw)
    path.write_bytes(b"".join(kept))
    with opened(store, read_only=True) as log:
        assert any("not the one it commits to" in damage.what for damage in log.verify().damage)


def test_a_store_of_format_1_is_backed_up_as_one_and_a_backup_of_one_is_upgraded(
    store: Path, tmp_path: Path
) -> None:
    before = segments(store)
    (saved,) = write_backup(store, tmp_path / "backup")
    assert saved.checkpoint.format == 1
    restore_backup(tmp_path / "backup", tmp_path / "restored")
    assert segments(tmp_path / "restored") == before
    assert (tmp_path / "restored" / "FORMAT").read_text() == "tiermem-store 1\n"
    upgrade(tmp_path / "restored")
    (saved,) = write_backup(tmp_path / "restored", tmp_path / "again")
    restore_backup(tmp_path / "again", tmp_path / "twice")
    with opened(tmp_path / "twice") as log:
        assert log.verify(KEPT).ok
        assert log.verify(saved.checkpoint).ok


def test_the_command_upgrades_and_says_what_it_did(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upgrade", str(store)]) == 0
    assert "'ann'" in capsys.readouterr().out
    assert main(["upgrade", str(store)]) == 0
    assert "nothing" in capsys.readouterr().out
    assert main(["upgrade", str(store / "nowhere")]) == 1
    assert "error: " in capsys.readouterr().err

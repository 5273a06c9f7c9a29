"""Erasing turns and records in one step: wherever the power goes, all of it happens or none."""

from datetime import UTC, datetime
from itertools import count
from random import Random

import pytest

from pagestore import DiskLog, LogOptions, PageId, SessionId, SpaceId, Turn
from pagestore.errors import Corrupt
from tests.pagestore.faults.simfiles import LOSSES, Crash, Image, SimFiles

S1 = SessionId("s1")
MOMENT = datetime(2024, 3, 1, tzinfo=UTC)
TURNS = [Turn(speaker="Ann", text=f"<canary-{n}> {'x' * 90}", turn_id=f"k{n}", trust="web") for n in range(8)]
CANARIES = [f"<canary-{n}>".encode() for n in (1, 2, 5)] + [b"<record-canary>"]


def open_log(files: SimFiles, *, read_only: bool = False) -> DiskLog:
    numbers = count(1)
    options = LogOptions(
        page_tokens=60,
        segment_bytes=1_500,
        salt=lambda size: next(numbers).to_bytes(size, "big"),
        clock=lambda: MOMENT,
    )
    return DiskLog("/log", SpaceId("ann"), options=options, files=files, read_only=read_only)


def written(log: DiskLog) -> tuple[list[tuple[PageId, int]], list[int]]:
    """Pages over several segments, records between them, and what of both is to be erased."""
    records = []
    for number, turn in enumerate(TURNS):
        log.append(S1, [turn])
        records.append(log.record("note", {"n": number, "text": "<record-canary>" * (number in (0, 6))}).seq)
    pages = [log.page(info.id) for info in log.pages()]
    opened = log.open_page(S1)
    lines = [(page.id, line) for page in (*pages, *([opened] if opened else [])) for line in page.lines]
    turns = [(page, line.seq) for page, line in lines if line.turn in (TURNS[1], TURNS[2], TURNS[5])]
    return turns, [records[0], records[6]]


def erase(log: DiskLog, turns: list[tuple[PageId, int]], records: list[int]) -> None:
    log.erase_together(
        turns, records=records, instead=[("copy", {"for": seq}) for seq in records], reason="asked to"
    )


def seen(log: DiskLog) -> tuple[int, list[str]]:
    """How many turns are erased, and the kinds of all records written by the caller."""
    pages = [log.page(info.id) for info in log.pages()]
    opened = log.open_page(S1)
    lines = [line for page in (*pages, *([opened] if opened else [])) for line in page.lines]
    assert len(lines) == len(TURNS)
    return sum(line.turn is None for line in lines), [r.kind for r in log.records() if r.kind != "page"]


BEFORE = (0, ["note"] * 8)
AFTER = (3, ["void", *["note"] * 5, "void", "note", "copy", "copy"])


def canaries_on(image: Image) -> list[bytes]:
    return [canary for canary in CANARIES if any(canary in content for content in image.values())]


def test_a_power_cut_at_any_moment_leaves_all_of_it_or_none() -> None:
    files = SimFiles()
    log = open_log(files)
    turns, records = written(log)
    start = files.operations
    erase(log, turns, records)
    assert seen(log) == AFTER
    assert canaries_on(files.contents()) == []
    images = 0
    for point in range(start + 1, files.operations + 2):
        for number, loss in enumerate(LOSSES):
            chance = Random(point * 100 + number)
            crashing = SimFiles(crash_at=point, tear=chance.randrange(2_000))
            acknowledged = True
            try:
                log = open_log(crashing)
                erase(log, *written(log))
            except Crash:
                acknowledged = False
            image = crashing.image(loss, chance)
            reader = open_log(SimFiles(dict(image)), read_only=True)
            assert seen(reader)[0] in (0, 3)
            again = SimFiles(image)
            log = open_log(again)
            found = seen(log)
            torn_off = [
                kinds for kinds in (BEFORE[1] + ["copy"], BEFORE[1] + ["copy"] * 2) if not acknowledged
            ]
            assert found in (AFTER, *([] if acknowledged else [BEFORE, *((0, kinds) for kinds in torn_off)]))
            assert log.verify().ok
            if found == AFTER:
                assert canaries_on(again.contents()) == []
            else:
                erase(log, turns, records)
                assert seen(log)[0] == 3
                assert canaries_on(again.contents()) == []
            log.close()
            assert seen(open_log(SimFiles(again.contents())))[0] == 3
            images += 1
    assert images > 60


def test_a_record_cannot_be_voided_or_altered_behind_the_logs_back() -> None:
    files = SimFiles()
    log = open_log(files)
    erase(log, *written(log))
    log.close()
    image = files.contents()
    name = next(name for name, data in image.items() if b'"t":"void"' in data)
    line = next(line for line in image[name].split(b"\n") if b'"t":"void"' in line)
    from pagestore.line import decode, encode

    fields = decode(line + b"\n")
    assert fields is not None
    del fields["c"]
    forged = encode({**fields, "n": "nope"})
    assert len(forged) == len(line) + 1
    altered = {**image, name: image[name].replace(line + b"\n", forged)}
    report = open_log(SimFiles(altered), read_only=True).verify()
    assert any("what is left of it" in damage.what for damage in report.damage)


def test_what_was_erased_is_no_longer_proved_and_says_so() -> None:
    from pagestore.errors import RecordNotFound

    log = open_log(SimFiles())
    turns, records = written(log)
    log.seal()
    checkpoint = log.checkpoint()
    before = log.prove_record(records[0], checkpoint)
    erase(log, turns, records)
    with pytest.raises(RecordNotFound, match="erased"):
        log.prove_record(records[0], checkpoint)
    after = log.prove_record(records[1] - 2, checkpoint)
    assert (after.proof.size, before.proof.size) == (checkpoint.size,) * 2
    page = log.prove_page(log.page(turns[0][0]).id, checkpoint)
    assert any(turn.erased for turn in page.turns)
    assert log.verify(checkpoint).ok


def test_a_line_too_short_for_its_tombstone_is_refused_before_anything_is_written() -> None:
    from unittest.mock import patch

    from pagestore.staging import Batch

    log = open_log(SimFiles())
    with patch.object(Batch, "add_record", lambda self, fields: self.add("rec", fields)):
        record = log.record("n", {})
    head = log.head
    with pytest.raises(ValueError, match="too short"):
        log.erase_together(records=[record.seq], reason="asked to")
    assert log.head == head
    assert not isinstance(log.read(record.seq), Corrupt)

"""The format on disk is a promise: what an earlier version wrote is read, and still written the same way.

`golden/format-2` was written once by `write` below. What earlier versions can read as well keeps the number.
Until there is a release, a format may change without a way to read what was written before.
"""

import json
import shutil
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from pagestore import (
    Checkpoint,
    DiskLog,
    LogOptions,
    SessionId,
    SpaceId,
    Store,
    Turn,
)
from pagestore.errors import Corrupt, OlderFormat
from pagestore.line import encode
from pagestore.testing import proves

GOLDEN = Path(__file__).parent / "golden" / "format-2"
SPACE, FIRST, SECOND = SpaceId("ann"), SessionId("first"), SessionId("second \u2028 é")
CHECKPOINT = Checkpoint(
    space=SPACE,
    size=20,
    root="3138fadd14403e19ddf778c711ec44632b77384778dfb6303065fcfee8a5bc2c",
)
IDENTITY = "2369a2750e504f748442c275a9ae87aa48b15a5df294164763732a95de0c2932"
PAGES = [
    "p1:46ab8cd67f4d0273900bd72d12f80fa80676252f06505804b55acc80125c9afb",
    "p1:79e1fbc4098561b33d107c5cce36cd5f7356e3dc0650ed23ee0c884b54d8aea8",
    "p1:440f81a1ff7219284b65d3a9de2431b118d1b9175101a6c6bf2cb887820a4ceb",
    "p1:a39f0421f7b7031040a3d314faa53ac44eca754e561e3e7b8a5097464b1b0be0",
    "p1:76b27bb212ee9dd12c5901ec7e6707d9656ff51f781ff861aefdda236028c83b",
    "p1:4e0fbb4d57935c17536beae215d3c9bd5c6f87907569254e86912f6d2c42b8c4",
    "p1:f4e2994807ff470992e7ac3f1b16cfb98cd3da95f844ea61969f610c7e736e57",
]


def write(folder: Path) -> Checkpoint:
    """A store with every kind of record, in two segments."""
    salts, moments = count(1), count()
    options = LogOptions(
        page_tokens=60,
        hard_limit=2,
        segment_bytes=4_000,
        salt=lambda size: next(salts).to_bytes(size, "big"),
        clock=lambda: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=next(moments)),
    )
    with Store(folder, options=options).open_space(SPACE) as log:
        said_at = datetime.fromisoformat("2023-05-08T13:56:00")
        log.append(
            FIRST, [Turn(speaker="Caroline", text="I went.\nIt was good.", said_at=said_at, turn_id="1")]
        )
        log.append(SECOND, [Turn(speaker="Bob", text="\ud800 \0 😀 \x85", role="user", turn_id="1")])
        log.append(FIRST, [Turn(speaker="Ann", text="The code is 7731.", turn_id="2", trust="web")])
        log.append(FIRST, [Turn(speaker="Mel", text="And then we talked. " * 50, turn_id="3")])
        log.record("answered", {"text": "It is so.", "n": [1, 2.5, None]})
        secret = log.record("answered", {"text": "The code is 7731."})
        log.seal()
        checkpoint = log.checkpoint()
        page = log.page(log.pages(FIRST)[0].id)
        log.erase(page.id, page.lines[1].seq, "asked to")
        log.erase_together(records=[secret.seq], reason="asked to")
        log.append(FIRST, [Turn(speaker="Ann", text="Still open.", said_at=said_at.replace(tzinfo=UTC))])
        return checkpoint


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a store but the locks, which name this machine."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != "LOCK")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def without_caches(folder: Path) -> dict[str, bytes]:
    """Every file of a store that cannot be made again."""
    return {name: data for name, data in files(folder).items() if not name.endswith(".idx")}


def test_a_store_of_this_format_is_written_the_same_way_today(tmp_path: Path) -> None:
    assert write(tmp_path) == CHECKPOINT
    assert files(tmp_path) == files(GOLDEN)


def shows_what_it_showed(log: DiskLog, checkpoint: Checkpoint, pages: list[str]) -> None:
    """The log of the golden store says what it said when it was written."""
    report = log.verify(checkpoint)
    assert report.ok
    assert [info.id for info in log.pages()] == pages
    (filling,) = log.filling()
    assert filling.turns[0].recorded_at is not None
    first = log.page(log.pages()[0].id)
    assert first.text.startswith("[2023-05-08T13:56:00] Caroline: I went.\n\tIt was good.\n[erased] _: █")
    assert log.sessions() == (FIRST, SECOND)
    kinds = [record.kind for record in log.records()]
    assert (kinds.count("answered"), kinds.count("void"), kinds.count("page")) == (1, 1, len(pages))
    assert log.pages_of_turn("3") == tuple(dict.fromkeys(log.pages_of_turn("3")))
    for info in log.pages():
        proof = log.prove(info.id, checkpoint) if info.seq < 19 else None
        assert proof is None or proves(proof, checkpoint)


def test_a_store_of_this_format_is_read_and_written_on(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    shutil.copytree(GOLDEN, folder)
    for read_only in (True, False):
        with Store(folder, read_only=read_only).open_space(SPACE) as log:
            shows_what_it_showed(log, CHECKPOINT, PAGES)
            assert log.identity == IDENTITY
    with Store(folder).open_space(SPACE) as log:
        goes_on(log, CHECKPOINT)


def goes_on(log: DiskLog, checkpoint: Checkpoint) -> None:
    """What was stored is stored once, what was erased stays away, and what is new is taken."""
    again = log.append(FIRST, [Turn(speaker="Mel", text="And then we talked. " * 50, turn_id="3")])
    erased = Turn(speaker="Ann", text="The code is 7731.", turn_id="2")
    assert (again.new, log.append(FIRST, [erased]).new) == (0, 0)
    assert log.append(FIRST, [Turn(speaker="Mel", text="New.")]).new == 1
    assert log.verify(checkpoint).ok


def test_a_store_of_an_earlier_format_is_refused_and_the_error_says_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    shutil.copytree(GOLDEN, folder)
    (folder / "FORMAT").write_text("tiermem-store 1\n")
    for read_only in (True, False):
        with pytest.raises(OlderFormat, match=r"has format 1, .*; make a new store of the files") as refused:
            Store(folder, read_only=read_only)
        assert "\n" not in str(refused.value)


def test_a_log_of_an_earlier_format_in_a_store_of_this_one_is_damage(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    shutil.copytree(GOLDEN, folder)
    segment = folder / "spaces" / "ann" / "00000001.jsonl"
    header, *lines = segment.read_bytes().splitlines(keepends=True)
    fields = {name: value for name, value in json.loads(header).items() if name != "c"}
    segment.write_bytes(b"".join([encode({**fields, "v": 1}), *lines]))
    with pytest.raises(Corrupt, match="the segment has format 1, and this version reads 2"):
        Store(folder).open_space(SPACE)

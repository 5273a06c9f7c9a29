"""The format on disk is a promise: what an earlier version wrote is read, and still written the same way.

`golden/format-2` was written once by `write` below. What earlier versions can read as well keeps the number.
When the format changes on purpose, it gets a new number and a golden folder of its own; these stay and must
stay readable, and writable once they are upgraded (`test_upgrade.py`).

Of format 1, `golden/format-1-salted` was written by `write` too, `golden/format-1-times` by `write` before
logs and their first records had salts, `golden/format-1` before turns had the time they were recorded at.
"""

import re
import shutil
from base64 import b64decode, b64encode
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from pagestore import (
    Checkpoint,
    CheckpointOfFormat1,
    DiskLog,
    LogOptions,
    SessionId,
    SpaceId,
    Store,
    Turn,
    upgrade,
)
from pagestore.codec import key_of
from pagestore.errors import OlderFormat
from pagestore.testing import proves

GOLDEN = Path(__file__).parent / "golden" / "format-2"
SALTED = Path(__file__).parent / "golden" / "format-1-salted"
TIMES = Path(__file__).parent / "golden" / "format-1-times"
BEFORE = Path(__file__).parent / "golden" / "format-1"
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
CHECKPOINT_SALTED = CheckpointOfFormat1(
    space=SPACE,
    size=12,
    root="4c9fd1496a7a5ea61a744d0e5c72839f77e168778941464dd7af5078407e9870",
    head=19,
    waiting="6fd6b2380e501947798ab44cfbb6a3325dfd53f571e9f76d3238097f3dc5c454",
)
PAGES_SALTED = [
    "p1:1234e96455a680aa18523f81b8592c8ab6d74ae04d34f6df4f9d0eed717bbdb5",
    "p1:352e79b1b2d5976850d6c9ea96c28619b1bfea39f729050f209505c607f51c8f",
    "p1:87800180b525c22041374dc35b8a85c5526c30202d09e412db842da5d2d763c8",
    "p1:c069c75b36b84afbb3cf158b9a3f291fa4822cc8f3878e57ddf4503d06d8279a",
    "p1:b3f951901651c7ea02eb25deb9859dbcaa63b816af5291d8cfb3fcef83b25766",
    "p1:a5f0765d4e4529be3a0b1ec0a0294cc1ff89f390a3ad5e1d7d2f2e42b0528144",
    "p1:c28c292a93807cf0f9a71febd95da386d3e197c25b7b5432bffefafdec8c873f",
]
CHECKPOINT_TIMES = CheckpointOfFormat1(
    space=SPACE,
    size=12,
    root="396e7cba635d9377c167902321ff1db3c2b967709e215a8f687e740244ca941c",
    head=19,
    waiting="6fd6b2380e501947798ab44cfbb6a3325dfd53f571e9f76d3238097f3dc5c454",
)
PAGES_TIMES = [
    "p1:4d8cf3cf80408b1a753f8aeed20525bde982b1049aff17f1e4de8968ce44297e",
    "p1:f9499356408baf1ade388432545be1d36951baaa2a78708d1b2dd1db25d0b7f7",
    "p1:b7f3812191db1ed94042d14ad3c33317dd3c35c37603d0641fa9467050c18b17",
    "p1:d62b6d4f830f8318c7a46b7df4550045995e7408ff14fabe3c3a4fc64ba00e3d",
    "p1:817af6a0da82b648ec279cf203efdba76f437ba8339e2b30ccc6d392777b8c20",
    "p1:8f3bad60c26fb77e336c7063221918271fbe2eaf6255e4cb99bc222fb52665d2",
    "p1:68f4e2be65239f9cfbbb5e6e279636f44dc8d6640e9c647e99b77d4d94a20ebd",
]
CHECKPOINT_BEFORE = CheckpointOfFormat1(
    space=SPACE, size=12, root="cfd301001064c0907859c0005a0797b72e7f51234e6ab4857a85e2606b05c67e"
)
PAGES_BEFORE = [
    "p1:047eaf45d480ef753ce1b1e08d2a633ee754097ddf8506553997db8c0badbea1",
    "p1:a8eb42936bba308e4b590a128c664b0fff7c074f6ec3a0e0d47328212013d267",
    "p1:8f1338e5cbe6f2dc04d15e27262de7995142eb8fe2838dd783601400bca9490e",
    "p1:1567178832b5e5f79cf9c8bcc44f08c871e5af6ae221b84b0854f74292ac0bc4",
    "p1:28802e2fa47e170107ed7a42182a157a3b11422bdaac2ee59ca9d8ea1949e4fa",
    "p1:e6e040420c2e6997fa4fb4c82404fa94477cbfe26ec3251f6ec0956dd3a06761",
    "p1:abdffb6fff7b119d1eb5e6da3922db09e9a7cd9bb7c4344c14853c1043a0639a",
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


OF_FORMAT_1 = pytest.mark.parametrize(
    ("golden", "checkpoint", "pages"),
    [
        (SALTED, CHECKPOINT_SALTED, PAGES_SALTED),
        (TIMES, CHECKPOINT_TIMES, PAGES_TIMES),
        (BEFORE, CHECKPOINT_BEFORE, PAGES_BEFORE),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)


def shows_what_it_showed(log: DiskLog, checkpoint: Checkpoint, pages: list[str], golden: Path) -> None:
    """A log of one of the golden stores says what it said when it was written."""
    report = log.verify(checkpoint)
    assert report.ok
    assert bool(report.unproved) == (golden == BEFORE)
    assert [info.id for info in log.pages()] == pages
    (filling,) = log.filling()
    assert (filling.turns[0].recorded_at is None) == (golden == BEFORE)
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
            shows_what_it_showed(log, CHECKPOINT, PAGES, GOLDEN)
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


@OF_FORMAT_1
def test_a_store_of_format_1_is_read_as_it_is_and_written_once_it_is_upgraded(
    tmp_path: Path, golden: Path, checkpoint: Checkpoint, pages: list[str]
) -> None:
    folder = tmp_path / "memory"
    shutil.copytree(golden, folder)
    with Store(folder, read_only=True).open_space(SPACE) as log:
        shows_what_it_showed(log, checkpoint, pages, golden)
        assert log.current_checkpoint().format == 1
    with pytest.raises(OlderFormat, match="upgrade"):
        Store(folder).open_space(SPACE)
    with pytest.raises(OlderFormat, match="upgrade"):
        DiskLog(str(folder / "spaces" / "ann"), SPACE)
    assert without_caches(folder) == without_caches(golden)
    assert upgrade(folder) == (SPACE,)
    for read_only in (True, False):
        with Store(folder, read_only=read_only).open_space(SPACE) as log:
            shows_what_it_showed(log, checkpoint, pages, golden)
    with Store(folder).open_space(SPACE) as log:
        goes_on(log, checkpoint)


@OF_FORMAT_1
def test_what_is_erased_from_a_store_of_format_1_stays_away_and_leaves_no_unsalted_key(
    tmp_path: Path, golden: Path, checkpoint: Checkpoint, pages: list[str]
) -> None:
    folder = tmp_path / "memory"
    shutil.copytree(golden, folder)
    upgrade(folder)
    spoken = Turn(speaker="Bob", text="\ud800 \0 😀 \x85", role="user", turn_id="1")
    for _ in range(2):
        with Store(folder).open_space(SPACE) as log:
            page = log.page(log.pages(SECOND)[0].id)
            log.erase(page.id, page.lines[0].seq, "asked to")
            assert log.append(SECOND, [spoken]).new == 0
            assert log.verify(checkpoint).ok
            assert [info.id for info in log.pages()][: len(pages)] == pages
        key = key_of(SECOND, "1", b"")
        for data in files(folder).values():
            assert not any(form in data for form in (key, key.hex().encode(), b64encode(key)[:16]))
            # The keys of a cache lie in one text of base64, at any of three places in it.
            assert key not in b"".join(b64decode(found) for found in re.findall(rb'"keys":"([^"]*)"', data))

"""The files of the embedded index are readable by their owner alone, and no link leads out of it."""

import stat
from pathlib import Path

import pytest

from pagestore import SessionId, SpaceId
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import IndexUnavailable
from tiermem.index.embedded import open_embedded
from tiermem.index.values import Entry

ONE = SpaceId("one")
NOTES = [Entry(id=f"u{n}", session=SessionId("s"), text=f"The note {n}.") for n in range(300)]


@pytest.mark.anyio
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o2770])
async def test_files_and_directories_are_their_owners_alone(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    folder.chmod(mode)
    index = open_embedded(folder, HashEmbedder())
    await index.put(ONE, "units", NOTES)
    await index.compact()
    await index.close()
    found = {file: stat.S_IMODE(file.stat().st_mode) for file in folder.rglob("*")}
    assert set(found.values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.anyio
async def test_a_lock_that_is_a_link_is_refused_and_what_it_leads_to_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("precious")
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "LOCK").symlink_to(tmp_path / "theirs")
    with pytest.raises(IndexUnavailable, match="cannot use"):
        open_embedded(tmp_path / "index", HashEmbedder())
    assert (tmp_path / "theirs").read_text() == "precious"


@pytest.mark.anyio
async def test_a_description_does_not_overwrite_what_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("precious")
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "index.new").symlink_to(tmp_path / "theirs")
    await open_embedded(tmp_path / "index", HashEmbedder()).close()
    assert (tmp_path / "theirs").read_text() == "precious"

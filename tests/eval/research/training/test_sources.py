"""What weights may be given away: said of every source, and refused by the exporter."""

import json
from pathlib import Path

import numpy as np
import pytest

from eval.research.training.data.mix import lessons
from eval.research.training.data.sources import SOURCES, check_may_ship, learned_in_package, to_measure_with
from eval.research.training.reader.export import LARGEST, give_away
from eval.research.training.reader.factors import pack
from tiermem.errors import InvalidInput


@pytest.mark.parametrize("name", ["locomo", "locomo-facts", "realtalk", "beam", "squad2"])
def test_what_is_there_to_measure_with_is_not_given_away(name: str) -> None:
    assert not SOURCES[name].may_ship
    assert to_measure_with(["qamr", name]) == (name,)
    with pytest.raises(InvalidInput, match=rf"{name}.*{SOURCES[name].licence}"):
        check_may_ship(["qamr", name])


def test_what_may_be_given_away_is_named() -> None:
    check_may_ship([*learned_in_package(), "changes"])
    assert set(learned_in_package()) == {
        "squad", "friendsqa", "qamr", "nq", "clapnq", "longmemeval", "written",
    }  # fmt: skip


def weights(file: Path, **header: str) -> Path:
    file.write_bytes(pack({}, header))
    return file


def test_weights_trained_to_measure_with_are_refused(tmp_path: Path) -> None:
    seen = weights(tmp_path / "seen", trained_on=json.dumps(["squad", "locomo"]))
    with pytest.raises(InvalidInput, match=r"locomo \(CC BY-NC 4.0\)"):
        give_away(seen, tmp_path / "package" / "reader")
    assert not (tmp_path / "package").exists()


def test_weights_that_do_not_say_what_they_saw_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not say"):
        give_away(weights(tmp_path / "silent"), tmp_path / "out")


def test_weights_too_large_for_a_wheel_are_refused(tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(pack({"filler": np.ones((1, LARGEST), np.float32)}, {"trained_on": '["squad"]'}))
    with pytest.raises(InvalidInput, match="larger than"):
        give_away(large, tmp_path / "out")


def test_weights_that_may_be_given_away_are(tmp_path: Path) -> None:
    good = weights(tmp_path / "good", trained_on='["squad", "qamr"]')
    assert give_away(good, tmp_path / "package" / "reader").read_bytes() == good.read_bytes()


@pytest.mark.parametrize("name", ["squad2", "wikipedia"])
def test_nothing_is_learned_from_a_test_or_from_what_there_is_not(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=f"nothing is learned from '{name}'"):
        lessons(tmp_path, [name], found={})

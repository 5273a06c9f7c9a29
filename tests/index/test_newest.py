"""Vectors that were made a moment ago are kept, and the oldest of them go first."""

from tiermem.index.newest import Newest


def test_a_vector_that_is_put_again_is_among_the_newest() -> None:
    newest: Newest[str] = Newest()
    for name in ("ann", "bob", "ann", "cleo"):
        newest.put({name: [1.0]}, most=2)
    assert newest.of(["ann", "bob", "cleo"]).keys() == {"ann", "cleo"}

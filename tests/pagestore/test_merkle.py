"""The tree against RFC 6962: known roots, every proof holds, no other does."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore.merkle import MerkleTree, leaf_hash, node_hash, verify_consistency, verify_inclusion

KNOWN_LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
KNOWN_ROOT = "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"


def tree_of(size: int) -> MerkleTree:
    tree = MerkleTree()
    for n in range(size):
        tree.add(leaf_hash(n.to_bytes(4, "big")))
    return tree


def by_definition(leaves: list[bytes]) -> bytes:
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    left = 1
    while left * 2 < len(leaves):
        left *= 2
    return node_hash(by_definition(leaves[:left]), by_definition(leaves[left:]))


BIG = tree_of(1200)
sizes = st.integers(1, 1200)


def test_the_root_is_the_published_one() -> None:
    tree = MerkleTree()
    for content in KNOWN_LEAVES:
        tree.add(leaf_hash(content))
    assert tree.root().hex() == KNOWN_ROOT


@given(st.integers(0, 600))
def test_every_root_is_the_one_of_the_definition(size: int) -> None:
    assert BIG.root(size) == by_definition([BIG.leaf(n) for n in range(size)])
    assert tree_of(size).root() == BIG.root(size)


@given(sizes, st.data())
def test_every_leaf_is_proved_and_no_other_passes(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    path, root = BIG.inclusion(index, size), BIG.root(size)
    assert verify_inclusion(BIG.leaf(index), index, size, path, root)
    assert not verify_inclusion(leaf_hash(b"other"), index, size, path, root)
    assert not verify_inclusion(BIG.leaf(index), index + 1, size, path, root)
    assert not verify_inclusion(BIG.leaf(index), index, size, [*path, root], root)
    assert not verify_inclusion(BIG.leaf(index), index, size, path, leaf_hash(b"other"))
    for dropped in range(len(path)):
        assert not verify_inclusion(BIG.leaf(index), index, size, path[:dropped] + path[dropped + 1 :], root)


@given(sizes, sizes)
def test_every_beginning_is_proved_and_no_other_passes(one: int, other: int) -> None:
    old, new = min(one, other), max(one, other)
    proof = BIG.consistency(old, new)
    assert verify_consistency(old, new, BIG.root(old), BIG.root(new), proof)
    assert not verify_consistency(old, new, leaf_hash(b"other"), BIG.root(new), proof)
    assert not verify_consistency(old, new, BIG.root(old), leaf_hash(b"other"), proof)
    if old < new:
        assert not verify_consistency(new, old, BIG.root(new), BIG.root(old), proof)
        assert not verify_consistency(old, new, BIG.root(old), BIG.root(new), proof[:-1])


@given(st.integers(0, 1_100), st.integers(0, 1_100), st.integers(0, 300))
def test_a_tree_goes_on_from_what_another_gave_of_itself(begun: int, size: int, more: int) -> None:
    begun = min(begun, size)
    whole, tree = tree_of(size), tree_of(begun)
    tree.extend(whole.leaves(begun), whole.blocks(begun), whole.peaks())
    for at in range(size, size + more):
        tree.add(leaf_hash(b"%d" % at))
        whole.add(leaf_hash(b"%d" % at))
    assert len(tree) == len(whole)
    for checked in {0, begun, size // 2, size, size + more}:
        assert tree.root(checked) == whole.root(checked)
    if size:
        assert tree.inclusion(begun // 2, size) == whole.inclusion(begun // 2, size)


@pytest.mark.parametrize("wrong", ["peaks", "blocks", "leaves"])
def test_parts_that_are_of_no_tree_are_refused(wrong: str) -> None:
    whole, tree = tree_of(700), tree_of(10)
    given = {"leaves": whole.leaves(10), "blocks": whole.blocks(10), "peaks": whole.peaks()}
    given[wrong] = given[wrong][:-1]
    with pytest.raises(ValueError, match="not"):
        tree.extend(**given)  # type: ignore[arg-type]
    assert tree.root() == tree_of(10).root()

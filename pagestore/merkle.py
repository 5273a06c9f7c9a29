"""The Merkle tree of RFC 6962: a root commits to every leaf and to their order.

An inclusion proof shows that a leaf is in the tree of a root; a consistency proof shows that one tree
is the beginning of another. The verifiers need neither the tree nor the log.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

_BLOCK_LEVEL = 8
_BLOCK = 1 << _BLOCK_LEVEL
_EMPTY = hashlib.sha256(b"").digest()


def leaf_hash(content: bytes) -> bytes:
    """The hash of one leaf."""
    return hashlib.sha256(b"\0" + content).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node."""
    return hashlib.sha256(b"\1" + left + right).digest()


class MerkleTree:
    """An append-only tree that knows its root at every earlier size."""

    def __init__(self) -> None:
        self._leaves = bytearray()
        self._peaks: list[bytes] = []
        # Roots of full blocks of 256 leaves, so that old roots and proofs do not rehash every leaf.
        self._blocks = bytearray()

    def __len__(self) -> int:
        return len(self._leaves) // 32

    def add(self, leaf: bytes) -> None:
        """Append the hash of one leaf."""
        self._leaves += leaf
        node, size, level = leaf, len(self), 0
        while size & 1 == 0:
            node = node_hash(self._peaks.pop(), node)
            size >>= 1
            level += 1
            if level == _BLOCK_LEVEL:
                self._blocks += node
        self._peaks.append(node)

    def leaf(self, index: int) -> bytes:
        """The hash of leaf `index`."""
        return bytes(self._leaves[32 * index : 32 * index + 32])

    def leaves(self, start: int) -> bytes:
        """The hashes of every leaf from `start` on, one after another."""
        return bytes(self._leaves[32 * start :])

    def blocks(self, start: int) -> bytes:
        """The roots of every full block of 256 leaves that ends after leaf `start`, one after another."""
        return bytes(self._blocks[32 * (start >> _BLOCK_LEVEL) :])

    def peaks(self) -> tuple[bytes, ...]:
        """The roots of the full subtrees that the tree consists of, the largest first."""
        return tuple(self._peaks)

    def extend(self, leaves: bytes, blocks: bytes, peaks: Sequence[bytes]) -> None:
        """Append the hashes of leaves, with what `blocks` and `peaks` gave for the larger tree.

        Raises `ValueError` where these are not of a tree of that size.
        """
        size = len(self) + len(leaves) // 32
        if len(leaves) % 32 or len(peaks) != size.bit_count():
            raise ValueError(f"{len(peaks)} peaks are not of a tree of {size} leaves")
        if len(self._blocks) + len(blocks) != 32 * (size >> _BLOCK_LEVEL):
            raise ValueError(f"{len(blocks)} bytes are not the blocks of a tree of {size} leaves")
        self._leaves += leaves
        self._blocks += blocks
        self._peaks = list(peaks)

    def root(self, size: int | None = None) -> bytes:
        """The root over the first `size` leaves, over all when `None`."""
        if size is not None:
            return self._subtree(0, size) if size else _EMPTY
        if not self._peaks:
            return _EMPTY
        node = self._peaks[-1]
        for peak in reversed(self._peaks[:-1]):
            node = node_hash(peak, node)
        return node

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """The path that leads from leaf `index` to the root over `size` leaves."""
        path: list[bytes] = []
        start, end = 0, size
        while end - start > 1:
            middle = start + _left_size(end - start)
            if index < middle:
                path.append(self._subtree(middle, end))
                end = middle
            else:
                path.append(self._subtree(start, middle))
                start = middle
        return path[::-1]

    def consistency(self, old: int, new: int) -> list[bytes]:
        """The proof that the tree of `old` leaves is the beginning of the tree of `new` leaves."""
        return self._consistency(old, 0, new, whole=True) if 0 < old < new else []

    def _consistency(self, size: int, start: int, end: int, *, whole: bool) -> list[bytes]:
        if size == end - start:
            return [] if whole else [self._subtree(start, end)]
        left = _left_size(end - start)
        middle = start + left
        if size <= left:
            return [*self._consistency(size, start, middle, whole=whole), self._subtree(middle, end)]
        return [*self._consistency(size - left, middle, end, whole=False), self._subtree(start, middle)]

    def _subtree(self, start: int, end: int) -> bytes:
        if end - start == 1:
            return self.leaf(start)
        if end - start == _BLOCK and start % _BLOCK == 0:
            block = start // _BLOCK
            return bytes(self._blocks[32 * block : 32 * block + 32])
        middle = start + _left_size(end - start)
        return node_hash(self._subtree(start, middle), self._subtree(middle, end))


def _left_size(size: int) -> int:
    """How many of `size` leaves hang on the left: the largest power of two below `size`."""
    return 1 << ((size - 1).bit_length() - 1)


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether `path` proves that `leaf` is leaf `index` of the tree of `size` leaves with this root."""
    if not 0 <= index < size:
        return False
    position, last, node = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if position & 1 or position == last:
            node = node_hash(sibling, node)
            while position and not position & 1:
                position, last = position >> 1, last >> 1
        else:
            node = node_hash(node, sibling)
        position, last = position >> 1, last >> 1
    return last == 0 and node == root


def verify_consistency(old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether `proof` shows that the tree of `old` leaves is the beginning of the tree of `new` leaves."""
    if old == new:
        return old_root == new_root and not proof
    if not 0 <= old < new:
        return False
    if old == 0:
        return old_root == _EMPTY and not proof
    nodes = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    if not nodes:
        return False
    position, last = old - 1, new - 1
    while position & 1:
        position, last = position >> 1, last >> 1
    of_old = of_new = nodes[0]
    for sibling in nodes[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            of_old, of_new = node_hash(sibling, of_old), node_hash(sibling, of_new)
            while position and not position & 1:
                position, last = position >> 1, last >> 1
        else:
            of_new = node_hash(of_new, sibling)
        position, last = position >> 1, last >> 1
    return last == 0 and of_old == old_root and of_new == new_root

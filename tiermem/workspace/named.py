"""Policies by name: a line for each here, and those that installed packages bring."""

from __future__ import annotations

from collections.abc import Callable

from tiermem.named import Registry
from tiermem.workspace import evict

POLICIES: Registry[Callable[[], evict.Eviction]] = Registry(
    sort="policy",
    group="tiermem.policies",
    own={
        "hybrid": evict.Hybrid,
        "lru": evict.Lru,
        "lfu": evict.Lfu,
        "fifo": evict.Fifo,
        "random": evict.Random,
        "importance": evict.Importance,
        "access": evict.Access,
        "ear": evict.Ear,
        "balanced": evict.FadingImportance,
    },
)

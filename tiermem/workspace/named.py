"""Policies by name: a line for each here, and those that installed packages bring."""

from __future__ import annotations

from collections.abc import Callable

from tiermem.named import Registry
from tiermem.workspace.evict import (
    Access,
    Balanced,
    Ear,
    Eviction,
    Fifo,
    Hybrid,
    Importance,
    Lfu,
    Lru,
    Random,
)

POLICIES: Registry[Callable[[], Eviction]] = Registry(
    sort="policy",
    group="tiermem.policies",
    own={
        "hybrid": Hybrid,
        "lru": Lru,
        "lfu": Lfu,
        "fifo": Fifo,
        "random": Random,
        "importance": Importance,
        "access": Access,
        "ear": Ear,
        "balanced": Balanced,
    },
)

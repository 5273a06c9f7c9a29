"""Policies by name: those of `RANKS`, and those that installed packages bring."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tiermem.named import Registry
from tiermem.workspace.evict import RANKS, Eviction, NamedPolicy

POLICIES: Registry[Callable[[], Eviction]] = Registry(
    sort="policy",
    group="tiermem.policies",
    own={name: partial(NamedPolicy, name) for name in RANKS},
)

"""What a bundle holds, and what a check of one says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pagestore.values import Checkpoint, Damage, GrowthProof, ProvedPage, ProvedRecord, SpaceId


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Somebody's Ed25519 signature of a checkpoint, and their public key, both in hex."""

    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """An answer with all it takes to check, far from the log, what it rests on.

    `record` is the answer as it was logged, `answer` the same for people. `pages` carry the words it
    cites. `growth` leads from an older checkpoint, kept elsewhere, to this one.
    """

    space: SpaceId
    checkpoint: Checkpoint
    answer: Mapping[str, Any]
    record: ProvedRecord
    pages: tuple[ProvedPage, ...]
    growth: GrowthProof | None = None
    signature: Signature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleReport:
    """What a check of a bundle proved, what it could not prove, and what is wrong, each in words."""

    space: str
    checkpoint: Checkpoint | None
    proved: tuple[str, ...]
    unproved: tuple[str, ...]
    failed: tuple[Damage, ...]

    @property
    def ok(self) -> bool:
        """True when nothing in the bundle contradicts its proofs."""
        return not self.failed

"""Variants of TierMem that repeat a paper, by the name that `--systems` gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eval.research.ear.entity_score import EntityScore
from eval.research.ear.gate import with_nearest
from eval.systems.registry import TIERMEM, Variant

VARIANTS: Final[Mapping[str, Variant]] = {
    **TIERMEM,
    "tiermem:nearest": Variant(
        given={"router": None}, engine=lambda engine, embedder: with_nearest(engine, embedder.name)
    ),
    "tiermem:entities": Variant(given={"reranker": EntityScore()}),
}
"""TierMem's own, HTM-EAR's gate as its router, and HTM-EAR's score as its reranker."""

"""Rerankers by the names that settings use: a line for each here, and those that other packages bring."""

from __future__ import annotations

from tiermem.named import Registry
from tiermem.reading.rerank.cross_encoder import open_cross_encoder
from tiermem.reading.rerank.interface import OpenReranker
from tiermem.reading.rerank.learned import NAME, open_learned

RERANKERS: Registry[OpenReranker] = Registry(
    sort="reranker",
    group="tiermem.rerankers",
    own={
        NAME: open_learned,
        "cross-encoder:<directory>": open_cross_encoder,
    },
)

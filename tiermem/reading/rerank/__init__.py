"""Optional reranking of pages that a search found, with a rule that protects sure finds from it."""

from tiermem.reading.rerank.interface import FoundPage, OpenReranker, Reranker, RerankerRequest
from tiermem.reading.rerank.named import RERANKERS
from tiermem.reading.rerank.order import reordered, reranked

__all__ = [
    "RERANKERS",
    "FoundPage",
    "OpenReranker",
    "Reranker",
    "RerankerRequest",
    "reordered",
    "reranked",
]

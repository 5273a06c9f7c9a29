"""Optional reranking of pages and turns that a search found, with a rule that protects sure finds from it."""

from tiermem.reading.rerank.interface import FoundPage, OpenReranker, RanksTurns, Reranker, RerankerRequest
from tiermem.reading.rerank.named import RERANKERS
from tiermem.reading.rerank.order import PROTECTED, order_pages, rerank_pages, reranked_turns

__all__ = [
    "PROTECTED",
    "RERANKERS",
    "FoundPage",
    "OpenReranker",
    "RanksTurns",
    "Reranker",
    "RerankerRequest",
    "order_pages",
    "rerank_pages",
    "reranked_turns",
]

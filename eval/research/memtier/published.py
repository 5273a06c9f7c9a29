"""What MemTier prints, as numbers to hold others against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Row:
    """A row of Table 2: what was changed, the accuracy, and the printed difference to the whole system."""

    name: str
    accuracy: float
    difference: float


WHOLE: Final = 0.382
ABLATION: Final = (
    Row("BM25 only", 0.252, -0.128),
    Row("no retrieval", 0.050, -0.330),
    Row("without decay", 0.394, 0.012),
    Row("without cognitive weight", 0.396, 0.014),
    Row("without tier", 0.394, 0.012),
    Row("without two stages", 0.342, -0.040),
    Row("k = 1", 0.386, -0.006),
    Row("k = 2", 0.402, 0.022),
    Row("k = 8", 0.394, 0.014),
    Row("150 tokens", 0.374, -0.006),
    Row("600 tokens", 0.412, 0.032),
)


def implied(row: Row) -> float:
    """The accuracy of the whole system that a printed difference counts from."""
    return round(row.accuracy - row.difference, 3)


RECALL: Final[Mapping[int, float]] = {1: 0.330, 2: 0.390, 4: 0.430}
NDCG: Final = 0.384
RECALL_BY_TYPE: Final[Mapping[str, float]] = {
    "single-session-user": 0.857,
    "single-session-assistant": 0.818,
    "knowledge-update": 0.500,
    "temporal-reasoning": 0.333,
    "multi-session": 0.038,
    "single-session-preference": 0.000,
}
"""Table 5, at 2; the same for BM25, dense and hybrid first stages."""
ACCURACY_BY_TYPE: Final[Mapping[str, float]] = {
    "knowledge-update": 0.500,
    "temporal-reasoning": 0.370,
    "multi-session": 0.115,
}
"""Table 7, the same 100 questions and the same two entries, with BM25."""
SCOPES: Final[Mapping[int | None, tuple[float, float]]] = {
    1: (0.280, 0.18),
    3: (0.360, 0.19),
    5: (0.360, 0.19),
    10: (0.360, 0.19),
    None: (0.340, 1.00),
}
"""Table 8: accuracy and share of the sessions searched, by how many sessions the first stage takes."""
LEARNED: Final[Mapping[str, float]] = {"bm25": 0.024, "tier": 0.033, "decay": -0.027, "weight": -0.030}
"""What training on 100 questions changed of each weight."""

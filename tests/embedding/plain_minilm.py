"""all-MiniLM-L6-v2 written out in NumPy and float64: slow, and independent of the ONNX graph."""

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiermem.embedding.tensors import LAYERS, read_safetensors

HEADS = 12
EPSILON = 1e-12

Array = NDArray[np.float64]
_erf = np.vectorize(math.erf)


class PlainMiniLM:
    def __init__(self, weights: Path) -> None:
        self._weights = {name: array.astype(np.float64) for name, array in read_safetensors(weights).items()}

    def vector(self, ids: list[int]) -> Array:
        of = self._weights
        x = of["embeddings.word_embeddings.weight"][ids]
        x = x + of["embeddings.position_embeddings.weight"][: len(ids)]
        x = x + of["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings")
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}."
            x = self._norm(
                x + self._dense(self._attend(x, at), at + "attention.output.dense"), at + "attention.output"
            )
            wide = self._dense(x, at + "intermediate.dense")
            wide = wide * 0.5 * (1 + _erf(wide / math.sqrt(2)))
            x = self._norm(x + self._dense(wide, at + "output.dense"), at + "output")
        mean: Array = x.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _attend(self, x: Array, at: str) -> Array:
        query, key, value = (
            self._dense(x, f"{at}attention.self.{part}").reshape(len(x), HEADS, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed: Array = (weights @ value).transpose(1, 0, 2).reshape(len(x), -1)
        return mixed

    def _dense(self, x: Array, at: str) -> Array:
        result: Array = x @ self._weights[at + ".weight"].T + self._weights[at + ".bias"]
        return result

    def _norm(self, x: Array, at: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread: Any = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
        result: Array = (
            centred / spread * self._weights[at + ".LayerNorm.weight"] + self._weights[at + ".LayerNorm.bias"]
        )
        return result

"""The reader on ONNX Runtime: the installed weights with what was learned merged onto them, in 8 or 32 bits.

The graphs beside this file are structure without values, as those of the embedder are; how they are made:
`tests/reasoning/reader_graph.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tiermem.embedding.onnx import session, tokenizer
from tiermem.embedding.tensors import initializers, quantize, read_safetensors
from tiermem.embedding.weights import TOKENIZER, WEIGHTS
from tiermem.reasoning.learned.factors import HEADS, merge_weights, unpack
from tiermem.reasoning.learned.pieces import Pieces, encode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tiermem.embedding.tensors import Weights


Precision = Literal["fp32", "int8"]


class LearnedReader:
    """Reads two texts at once. `weights` is MiniLM's directory, `factors` the bytes of what was learned.

    `ValueError` where either is something else. Safe from many threads.
    """

    def __init__(
        self, weights: Path, factors: bytes, *, precision: Precision = "int8", threads: int = 1
    ) -> None:
        learned, self.header = unpack(factors)
        values = reader_initializers(merge_weights(read_safetensors(weights / WEIGHTS), learned), learned)
        graph = Path(__file__).with_name(f"reader_{precision}.onnx").read_bytes()
        handed = quantize(values) if precision == "int8" else values
        self._session = session(graph, threads=threads, initializers=handed)
        self._tokenizer: Any = tokenizer(weights / TOKENIZER)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def pieces(self, first: str, second: str) -> Pieces:
        """Both texts as they are read."""
        return encode(self._tokenizer, first, second)

    def outputs(self, pieces: Pieces) -> dict[str, NDArray[np.float32]]:
        """By head: two numbers a piece for `span`; for `suffices`, `bears` and `grade` those of the whole.

        Raises `FloatingPointError` where one of them is not finite.
        """
        import numpy as np

        ids = np.array([pieces.ids], np.int32)
        segments = np.zeros_like(ids)
        segments[0, pieces.second :] = 1
        given = {"ids": ids, "segments": segments, "mask": np.ones_like(ids)}
        span, whole = self._session.run(None, given)
        if not (np.isfinite(span).all() and np.isfinite(whole).all()):
            raise FloatingPointError("it gives a number that is not finite")
        return {
            "span": span[0],
            "suffices": whole[0, 0:1],
            "bears": whole[0, 1:2],
            "grade": whole[0, 2:5],
        }


def reader_initializers(whole: Weights, learned: Weights) -> Weights:
    """Merged weights and heads as the graph wants them."""
    import numpy as np

    ready = initializers(whole)
    ready["positions"] = whole["embeddings.position_embeddings.weight"]
    ready["types"] = whole["embeddings.token_type_embeddings.weight"]
    ready["span.head"] = np.ascontiguousarray(learned["heads.span.weight"].T)
    ready["span.bias"] = learned["heads.span.bias"]
    others = [f"heads.{name}" for name in HEADS if name != "span"]
    ready["whole.head"] = np.ascontiguousarray(np.concatenate([learned[f"{one}.weight"] for one in others]).T)
    ready["whole.bias"] = np.concatenate([learned[f"{one}.bias"] for one in others])
    for name, array in ready.items():
        if name != "words" and not np.isfinite(array).all():
            raise ValueError(f"{name!r} holds a number that is not finite")
    return {name: np.ascontiguousarray(array, np.float32) for name, array in ready.items()}

"""What a reader learned, made up: nothing, but heads drawn by chance; and a tokenizer of words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from tiermem.embedding.tensors import LAYERS
from tiermem.reasoning.learned.factors import _NORMS, _PARTS

if TYPE_CHECKING:
    from tiermem.embedding.tensors import Weights

RANK = 4


def splitting() -> Any:
    """A tokenizer of words, each with an id of its own by its length."""
    words = Tokenizer(models.WordLevel({"[CLS]": 1, "[SEP]": 2, "[UNK]": 3}, unk_token="[UNK]"))  # noqa: S106
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return words


def learned(installed: Weights, *, seed: int = 7, up: float = 0.0) -> dict[str, NDArray[Any]]:
    """Factors whose product is nothing, or is drawn with the spread `up`; and heads by chance."""
    drawn = np.random.default_rng(seed)

    def chance(*shape: int) -> NDArray[Any]:
        return drawn.normal(size=shape).astype(np.float32)

    made: dict[str, NDArray[Any]] = {
        "types": np.repeat(installed["embeddings.token_type_embeddings.weight"][:1], 2, axis=0),
        "norm.weight": installed["embeddings.LayerNorm.weight"],
        "norm.bias": installed["embeddings.LayerNorm.bias"],
    }
    for layer in range(LAYERS):
        at, mine = f"encoder.layer.{layer}.", f"layers.{layer}."
        for part, name in _PARTS.items():
            rows, columns = installed[f"{at}{name}.weight"].shape
            made[f"{mine}{part}.bias"] = installed[f"{at}{name}.bias"]
            made[f"{mine}{part}.down"] = chance(RANK, columns) / columns**0.5
            made[f"{mine}{part}.up"] = up * chance(rows, RANK)
        for part, name in _NORMS.items():
            for of in ("weight", "bias"):
                made[f"{mine}{part}.{of}"] = installed[f"{at}{name}.{of}"]
    for name, count in {"span": 2, "suffices": 1, "bears": 1, "grade": 3}.items():
        made[f"heads.{name}.weight"] = chance(count, 384)
        made[f"heads.{name}.bias"] = chance(count)
    return made

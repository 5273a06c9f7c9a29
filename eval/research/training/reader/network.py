"""The network in PyTorch: MiniLM with adapters of low rank in every matrix of its layers, and four heads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tiermem.embedding.tensors import LAYERS
from tiermem.reasoning.learned.factors import FACTOR

HEADS: Final = 12
_EPSILON: Final = 1e-12
OUTPUTS: Final = {"span": 2, "suffices": 1, "bears": 1, "grade": 3}
"""Heads and how many numbers each gives: for every piece, and for the whole by the first piece."""


class Adapted(nn.Module):
    """A matrix of the backbone; with a rank it stays, and the product of two thin ones is learned."""

    def __init__(self, weight: Tensor, bias: Tensor, rank: int) -> None:
        super().__init__()
        self.rank = rank
        self.weight = nn.Parameter(weight, requires_grad=not rank)
        self.bias = nn.Parameter(bias)
        if rank:
            self.down = nn.Parameter(torch.randn(rank, weight.shape[1]) / math.sqrt(weight.shape[1]))
            self.up = nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, x: Tensor) -> Tensor:
        """What it makes of the input."""
        y: Tensor = nn.functional.linear(x, self.weight, self.bias)
        if self.rank:
            thin = nn.functional.linear(x, self.down)
            y = y + FACTOR * nn.functional.linear(thin, self.up)
        return y


class Layer(nn.Module):
    """One layer of the transformer."""

    def __init__(self, tensors: Mapping[str, Tensor], at: str, rank: int) -> None:
        super().__init__()

        def dense(name: str) -> Adapted:
            return Adapted(tensors[f"{at}{name}.weight"], tensors[f"{at}{name}.bias"], rank)

        self.query = dense("attention.self.query")
        self.key = dense("attention.self.key")
        self.value = dense("attention.self.value")
        self.mix = dense("attention.output.dense")
        self.up = dense("intermediate.dense")
        self.out = dense("output.dense")
        self.mixed = norm(tensors, f"{at}attention.output.LayerNorm")
        self.done = norm(tensors, f"{at}output.LayerNorm")

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """The layer's output for `x`; `mask` is added to how much a piece looks at another."""
        count, length, width = x.shape
        query, key, value = (
            part(x).view(count, length, HEADS, width // HEADS).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        # Written out: the fused one is several times slower backwards on processors, in 16 bits.
        scores = query @ key.transpose(-1, -2) * (width // HEADS) ** -0.5
        heads = (scores + mask).softmax(-1).to(value.dtype) @ value
        x = self.mixed(x + self.mix(heads.transpose(1, 2).reshape(count, length, width)))
        made: Tensor = self.done(x + self.out(nn.functional.gelu(self.up(x))))
        return made


def norm(tensors: Mapping[str, Tensor], name: str) -> nn.LayerNorm:
    """A layer norm with the weights of this name."""
    made = nn.LayerNorm(len(tensors[f"{name}.bias"]), eps=_EPSILON)
    made.weight.data.copy_(tensors[f"{name}.weight"])
    made.bias.data.copy_(tensors[f"{name}.bias"])
    return made


class Reader(nn.Module):
    """The whole. With `rank` 0 every matrix of the layers is learned; the embeddings of words never are."""

    def __init__(self, weights: Mapping[str, NDArray[np.float32]], *, rank: int) -> None:
        super().__init__()
        tensors = {name: torch.from_numpy(np.array(array)) for name, array in weights.items()}
        tables = ("word", "position", "token_type")
        words, places, types = (tensors[f"embeddings.{name}_embeddings.weight"] for name in tables)
        self.register_buffer("words", words, persistent=False)
        self.register_buffer("places", places, persistent=False)
        self.types = nn.Parameter(types)
        self.norm = norm(tensors, "embeddings.LayerNorm")
        self.layers = nn.ModuleList(Layer(tensors, f"encoder.layer.{n}.", rank) for n in range(LAYERS))
        width = words.shape[1]
        self.heads = nn.ModuleDict({name: nn.Linear(width, count) for name, count in OUTPUTS.items()})

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> dict[str, Tensor]:
        """By head: two numbers a piece for `span`, and numbers a row for the others."""
        words: Any = self.words
        places: Any = self.places
        x = words[ids] + places[: ids.shape[1]] + nn.functional.embedding(types, self.types)
        x = self.norm(x)
        seen = torch.zeros_like(mask, dtype=x.dtype).masked_fill(~mask, -1e4)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, seen)
        whole = x[:, 0]
        made = {name: head(whole).float() for name, head in self.heads.items() if name != "span"}
        return made | {"span": self.heads["span"](x).float()}

    @property
    def device(self) -> torch.device:
        """Where its numbers are."""
        return self.types.device

    def learned(self) -> dict[str, NDArray[np.float32]]:
        """What was learned, by name: everything but what the installed weights hold already."""
        return {
            name: value.detach().float().cpu().numpy().copy()
            for name, value in self.named_parameters()
            if value.requires_grad
        }


def loss_of(made: Mapping[str, Tensor], labels: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """The loss of every task that the batch has labels for."""
    start, end, suffices, bears, grade = labels.unbind(1)
    span = made["span"].masked_fill(~mask[:, :, None], -1e4)
    losses = {}
    if (start >= 0).any():
        both = (nn.functional.cross_entropy(span[:, :, n], at) for n, at in enumerate((start, end)))
        losses["span"] = sum(both, torch.zeros(())) / 2
    for name, wanted in (("suffices", suffices), ("bears", bears)):
        known = wanted >= 0
        if known.any():
            losses[name] = nn.functional.binary_cross_entropy_with_logits(
                made[name][known, 0], wanted[known].float()
            )
    if (grade >= 0).any():
        losses["grade"] = nn.functional.cross_entropy(made["grade"], grade)
    return losses

"""Embedders by the names that settings use: a line for each here, and those that other packages bring."""

from __future__ import annotations

from tiermem.embedding.endpoint import open_endpoint
from tiermem.embedding.hashed import open_hashed
from tiermem.embedding.interface import OpenEmbedder
from tiermem.embedding.minilm import open_minilm
from tiermem.named import Registry

EMBEDDERS: Registry[OpenEmbedder] = Registry(
    sort="embedder",
    group="tiermem.embedders",
    own={
        "minilm": open_minilm,
        "minilm:int8": open_minilm,
        "openai:<model name>": open_endpoint,
        "hashed": open_hashed,
    },
)

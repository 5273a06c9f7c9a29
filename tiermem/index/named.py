"""Indexes by the names that settings use: a line for each here, and those that other packages bring."""

from __future__ import annotations

from tiermem.index.interface import OpenIndex
from tiermem.named import Registry

INDEXES: Registry[OpenIndex] = Registry(
    sort="index",
    group="tiermem.indexes",
    imported={
        "embedded": "tiermem.index.embedded:open_in_folder",
        "memory": "tiermem.index.memory:open_in_process",
        "http://<Qdrant server>": "tiermem.index.qdrant:open_server",
        "https://<Qdrant server>": "tiermem.index.qdrant:open_server",
        "pgvector": "tiermem.index.postgres:open_in_store",
        "postgresql://<database with pgvector>": "tiermem.index.postgres:open_database",
    },
)

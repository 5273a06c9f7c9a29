"""Indexes by the names that settings use: a line for each here, and those that other packages bring."""

from __future__ import annotations

from tiermem.index.embedded import open_in_folder
from tiermem.index.interface import OpenIndex
from tiermem.index.memory import open_in_process
from tiermem.index.qdrant import open_server
from tiermem.named import Registry

INDEXES: Registry[OpenIndex] = Registry(
    sort="index",
    group="tiermem.indexes",
    own={
        "embedded": open_in_folder,
        "memory": open_in_process,
        "http://<Qdrant server>": open_server,
        "https://<Qdrant server>": open_server,
    },
)

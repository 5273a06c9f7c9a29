"""Where the real dialogue lies; rows that need it say so when it is not there."""

from __future__ import annotations

import os
from pathlib import Path

from tests.torture.harness import Missing

LOCOMO = Path("data/locomo/locomo_dev7.json")


def shared() -> Path:
    """The folder of real evaluation data; raises `Missing`."""
    root = Path(os.environ.get("TIERMEM_SHARED", Path(__file__).resolve().parents[3] / "shared"))
    if not (root / LOCOMO).is_file():
        raise Missing("no evaluation data here (set TIERMEM_SHARED)")
    return root

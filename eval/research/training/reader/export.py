"""What was learned as a file: factors and heads in 8 bits, and how closely that agrees with 32 bits.

Only what the installed weights of MiniLM do not hold is written: two thin matrices for each of its own, the
small vectors beside them, the heads. They are merged onto the installed weights when a reader is opened.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eval.research.training.data.sources import SOURCES, check_may_ship
from eval.research.training.reader.factors import pack
from eval.research.training.reader.marks import Outputs, read
from eval.research.training.reader.prepare import Prepared
from tiermem.errors import InvalidInput
from tiermem.reasoning.learned.factors import unpack
from tiermem.reasoning.learned.graph import LearnedReader

LARGEST: Final = 5_000_000
"""Bytes that a wheel has room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """The file, its size and digest, and by head how far 8 bits agree with 32 bits."""

    file: Path
    bytes: int
    sha256: str
    may_ship: bool
    agreement: Mapping[str, float]


def write_factors(
    learned: Mapping[str, NDArray[np.float32]],
    file: Path,
    *,
    trained_on: Sequence[str],
    notes: Mapping[str, str],
) -> str:
    """Write the file of factors, with what it was trained on in it; its SHA-256."""
    notices = {name: SOURCES[name].notice for name in trained_on}
    header = {"trained_on": json.dumps(list(trained_on)), "notices": json.dumps(notices), **notes}
    raw = pack(learned, header)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(raw)
    return hashlib.sha256(raw).hexdigest()


def mean_of(files: Sequence[bytes]) -> dict[str, NDArray[np.float32]]:
    """The mean of what several readers learned from the same weights.

    A mean of products of thin matrices is the product of all of them side by side: its rank is their sum.
    What was learned from one beginning may be averaged, and the mean is often better than each (Wortsman and
    others, "Model soups", 2022).
    """
    learned = [unpack(raw)[0] for raw in files]
    mean: dict[str, NDArray[np.float32]] = {}
    for name in learned[0]:
        every = [one[name] for one in learned]
        if name.endswith(".down"):
            mean[name] = np.concatenate(every, axis=0)
        elif name.endswith(".up"):
            mean[name] = np.concatenate(every, axis=1) / np.float32(len(every))
        else:
            mean[name] = np.mean(every, axis=0, dtype=np.float32)
    return mean


def give_away(file: Path, to: Path) -> Path:
    """Copy weights into a package. `InvalidInput` where they were trained on data that is there to measure
    with, do not say what they were trained on, or are larger than a wheel has room for.
    """
    raw = file.read_bytes()
    _, header = unpack(raw)
    if "trained_on" not in header:
        raise InvalidInput(f"{str(file)!r} does not say what it was trained on")
    check_may_ship(json.loads(header["trained_on"]))
    if len(raw) > LARGEST:
        raise InvalidInput(f"{str(file)!r} is larger than {LARGEST:,} bytes")
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(raw)
    return to


def agreement(reader: LearnedReader, prepared: Prepared, exact: Sequence[Outputs]) -> dict[str, float]:
    """By head: the share of lessons to which the reader says what `exact` (32 bits) says."""
    same: dict[str, list[bool]] = {}
    for lesson, pieces, sure in zip(prepared.lessons, prepared.pieces, exact, strict=True):
        made = reader.outputs(pieces)
        if lesson.task == "read":
            mine, other = read(lesson, pieces, made), read(lesson, pieces, sure)
            same.setdefault("span", []).append(mine.words == other.words)
            same.setdefault("no answer", []).append((mine.margin > 0) == (other.margin > 0))
            same.setdefault("suffices", []).append((mine.suffices > 0) == (other.suffices > 0))
        elif lesson.task == "rank":
            same.setdefault("bears", []).append(bool((made["bears"][0] > 0) == (sure["bears"][0] > 0)))
        else:
            same.setdefault("grade", []).append(bool(made["grade"].argmax() == sure["grade"].argmax()))
    return {name: float(np.mean(of)) for name, of in same.items()}

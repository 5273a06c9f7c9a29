"""The training itself: fixed order, one seed, a checkpoint now and then to go on from."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from eval.progress import Watcher
from eval.research.training.reader.encode import Encoded, batch, batches
from eval.research.training.reader.network import Reader, loss_of
from eval.types import CaseId
from tiermem.errors import InvalidInput

Device = Literal["cpu", "cuda"]
"""What PyTorch computes on: processors, or one GPU of NVIDIA."""
_SHARE: Final = {"span": 1.0, "suffices": 0.5, "bears": 0.5, "grade": 0.5}
"""How much the tasks count."""
_AT_ONCE: Final = 32
"""Lessons read at once where nothing is learned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What is chosen for a training. `rank` 0 learns every matrix; `pieces` are those of one step."""

    seed: int = 0
    rank: int = 32
    epochs: int = 2
    pieces: int = 4096
    rate: float = 1e-3
    warm: float = 0.06
    threads: int = 1
    device: Device = "cpu"
    looks: int = 8
    """How often the lessons of `dev` are looked at."""
    steps: int | None = None
    """Steps to stop after; `None` for all there are."""


@dataclass(slots=True, kw_only=True)
class Curve:
    """Losses by step, and what looking at `dev` found; `seconds` of this processor's time so far."""

    losses: list[dict[str, float]] = field(default_factory=list)
    looks: list[dict[str, float]] = field(default_factory=list)
    seconds: float = 0.0


def check_device(device: Device) -> None:
    """Raise `InvalidInput` for a GPU where PyTorch finds none."""
    if device == "cuda" and not torch.cuda.is_available():
        raise InvalidInput("PyTorch finds no GPU here: leave --device out to learn on processors")


Look = Callable[[Sequence[Mapping[str, NDArray[np.float32]]]], dict[str, float]]
"""What the outputs for the lessons of `dev`, in their order, are worth."""


def train(
    weights: Mapping[str, NDArray[np.float32]],
    lessons: Sequence[Encoded],
    dev: Sequence[Encoded],
    look: Look,
    *,
    recipe: Recipe,
    folder: Path,
    watcher: Watcher,
    course: Sequence[Sequence[int]] | None = None,
    save_every: float = 120.0,
) -> tuple[Reader, Curve]:
    """The trained network and how it went. Goes on from the checkpoint in `folder`, if one is there.

    `course` is the places of the lessons of every epoch; without one, every epoch is over all of them.

    `InvalidInput` where that checkpoint is of another recipe or of other lessons.
    """
    torch.set_num_threads(recipe.threads)
    torch.manual_seed(recipe.seed)
    reader = Reader(weights, rank=recipe.rank).to(recipe.device)
    order, rates = _order(lessons, recipe, course or [range(len(lessons))] * recipe.epochs)
    optimizer = torch.optim.AdamW(
        [one for one in reader.parameters() if one.requires_grad], lr=recipe.rate, weight_decay=0.01
    )
    state = _State(reader, optimizer, Curve(), folder / "checkpoint.pt", _named(recipe, lessons))
    first = state.resume()
    name = f"train, seed {recipe.seed}"
    watcher.starts(name, len(order) - first)
    saved, began = time.monotonic(), time.process_time() - state.curve.seconds
    every = max(1, len(order) // recipe.looks)
    for step in range(first, len(order)):
        optimizer.param_groups[0]["lr"] = rates[step]
        losses = _step(reader, optimizer, [lessons[at] for at in order[step]])
        state.curve.losses.append({"step": float(step), **losses})
        last = step + 1 == len(order)
        if last or (step + 1) % every == 0:
            found = look(outputs(reader, dev))
            state.curve.looks.append({"step": step + 1.0, **found})
        watcher.step(name, CaseId(" ".join(f"{name} {value:.3f}" for name, value in losses.items())))
        state.curve.seconds = time.process_time() - began
        if last or time.monotonic() - saved > save_every:
            state.save(step + 1)
            saved = time.monotonic()
    return reader, state.curve


def _order(
    lessons: Sequence[Encoded], recipe: Recipe, course: Sequence[Sequence[int]]
) -> tuple[list[list[int]], list[float]]:
    """The lessons of every step, and its rate, which rises and falls in every epoch, after the first half
    as high.
    """
    order: list[list[int]] = []
    rates: list[float] = []
    for epoch, of in enumerate(course):
        lengths = [len(lessons[place].ids) for place in of]
        made = list(batches(lengths, pieces=recipe.pieces, seed=1000 * recipe.seed + epoch))
        order += [[of[at] for at in one] for one in made]
        high = recipe.rate if epoch == 0 else recipe.rate / 2
        rates += [high * _ramp(step, len(made), recipe.warm) for step in range(len(made))]
    return order[: recipe.steps], rates[: recipe.steps]


def _ramp(step: int, steps: int, warm: float) -> float:
    """Up to the full rate, and down to nothing in a straight line."""
    rise = max(1, round(warm * steps))
    return (step + 1) / rise if step < rise else (steps - step) / max(1, steps - rise)


def _step(reader: Reader, optimizer: torch.optim.Optimizer, of: Sequence[Encoded]) -> dict[str, float]:
    made = batch(of)
    ids, mask, types, labels = _tensors(reader, made.ids, made.mask, made.types, made.labels)
    with torch.autocast(reader.device.type, dtype=torch.bfloat16):
        found = reader(ids, mask, types)
    losses = loss_of(found, labels, mask)
    total = sum((_SHARE[name] * value for name, value in losses.items()), torch.zeros(()))
    optimizer.zero_grad(set_to_none=True)
    total.backward()
    torch.nn.utils.clip_grad_norm_([one for one in reader.parameters() if one.requires_grad], 1.0)
    optimizer.step()
    return {name: float(value.detach()) for name, value in losses.items()}


def _tensors(reader: Reader, *arrays: NDArray[Any]) -> list[torch.Tensor]:
    """The arrays as tensors where the reader is."""
    return [torch.from_numpy(array).to(reader.device) for array in arrays]


def outputs(reader: Reader, of: Sequence[Encoded]) -> list[dict[str, NDArray[np.float32]]]:
    """What the network says of every lesson, in their order, in 32 bits."""
    found: list[dict[str, NDArray[np.float32]]] = [{} for _ in of]
    by_length = sorted(range(len(of)), key=lambda at: len(of[at].ids))
    with torch.inference_mode():
        for start in range(0, len(of), _AT_ONCE):
            places = by_length[start : start + _AT_ONCE]
            made = batch([of[at] for at in places])
            said = {
                name: values.cpu()
                for name, values in reader(*_tensors(reader, made.ids, made.mask, made.types)).items()
            }
            for row, at in enumerate(places):
                length = len(of[at].ids)
                found[at] = {
                    name: (values[row, :length] if name == "span" else values[row]).numpy()
                    for name, values in said.items()
                }
    return found


class _State:
    """What a training goes on from."""

    def __init__(
        self, reader: Reader, optimizer: torch.optim.Optimizer, curve: Curve, file: Path, named: str
    ) -> None:
        self.reader = reader
        self.optimizer = optimizer
        self.curve = curve
        self._file = file
        self._named = named

    def resume(self) -> int:
        """The step to go on with; 0 where nothing was done yet."""
        if not self._file.exists():
            return 0
        there: dict[str, Any] = torch.load(self._file, weights_only=True, map_location="cpu")
        if there["named"] != self._named:
            raise InvalidInput(
                f"{str(self._file)!r} is of another training: delete it, or name another --out"
            )
        self.reader.load_state_dict(there["reader"])
        self.optimizer.load_state_dict(there["optimizer"])
        self.curve = Curve(**json.loads(there["curve"]))
        return int(there["step"])

    def save(self, step: int) -> None:
        """Written beside and put in place whole."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        curve = {"losses": self.curve.losses, "looks": self.curve.looks, "seconds": self.curve.seconds}
        beside = self._file.with_suffix(".new")
        torch.save(
            {
                "named": self._named,
                "step": step,
                "reader": self.reader.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "curve": json.dumps(curve),
            },
            beside,
        )
        beside.replace(self._file)


def _named(recipe: Recipe, lessons: Sequence[Encoded]) -> str:
    """One training from another: by its recipe, and the number and length of its lessons."""
    return f"{recipe!r} over {len(lessons)} lessons of {sum(len(one.ids) for one in lessons)} pieces"

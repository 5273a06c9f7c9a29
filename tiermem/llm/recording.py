"""Records real model calls, and plays them again without a model.

A call is known by the hash of everything that decides its answer: prompt, role, messages, schema,
limits. Change one word of a prompt and its calls are unknown, which is an error and never a guess.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pagestore.files import new_file
from tiermem.errors import TierMemError
from tiermem.llm.interface import Call, LanguageModel, Reply, Role
from tiermem.llm.meter import check_budget, pay
from tiermem.model import Usage


class UnrecordedCall(TierMemError, LookupError):
    """The recording holds no such call. No `ModelError` on purpose: nothing should carry on from it."""


def key_of(call: Call) -> str:
    """What a call is recorded under."""
    canonical = json.dumps(asdict(call), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


class RecordingModel:
    """Asks another model and appends each call with its reply to a JSONL file. Failures are not kept."""

    def __init__(self, model: LanguageModel, path: Path) -> None:
        self._model = model
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)

    def model_for(self, role: Role) -> str:
        """The model name that serves this role."""
        return self._model.model_for(role)

    async def complete(self, call: Call) -> Reply:
        """The other model's reply, recorded before it is returned."""
        reply = await self._model.complete(call)
        self._write({"key": key_of(call), "call": asdict(call), "reply": asdict(reply)})
        return reply

    def _write(self, line: dict[str, Any]) -> None:
        with open(self._path, "a", encoding="utf-8", opener=_open_private) as file:
            file.write(json.dumps(line) + "\n")

    async def forget(self, holds: Callable[[str], bool]) -> int:
        """Write the recording again without the calls whose messages or reply `holds`."""
        return forget_calls(self._path, holds)

    async def count_kept(self, holds: Callable[[str], bool]) -> int:
        """Count the calls that `forget` would destroy."""
        return len(_lines_with(self._path, holds)[1])

    async def close(self) -> None:
        """Close the other model."""
        await self._model.close()


def _open_private(path: str, flags: int) -> int:
    """Open a file, for its owner alone where it is new."""
    return os.open(path, flags, 0o600)


def forget_calls(path: Path, holds: Callable[[str], bool]) -> int:
    """Leave out of a recording every call any text of which `holds`, or that cannot be read; atomic."""
    kept, going = _lines_with(path, holds)
    if going:
        with new_file(path, replace=True) as file:
            file.writelines(line.encode() for line in kept)
    return len(going)


def _lines_with(path: Path, holds: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """The lines of a recording: those that stay, and those of which any text `holds`."""
    kept: list[str] = []
    going: list[str] = []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    for line in lines:
        (going if _holds(line, holds) else kept).append(line)
    return kept, going


def _holds(line: str, holds: Callable[[str], bool]) -> bool:
    try:
        record = json.loads(line)
        texts = [message["content"] for message in record["call"]["messages"]]
        return any(map(holds, [*texts, record["reply"]["text"]]))
    except (ValueError, KeyError, TypeError):
        return True


class ReplayingModel:
    """Answers from a recording, paying what was paid then. Of two recordings of a call the newer counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._replies: dict[str, Reply] = {}
        self._models: dict[str, str] = {}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            self._learn(number, line)

    def _learn(self, number: int, line: str) -> None:
        try:
            record = json.loads(line)
            recorded = record["reply"]
            reply = Reply(text=recorded["text"], usage=Usage(**recorded["usage"]), model=recorded["model"])
            self._replies[record["key"]] = reply
            self._models[record["call"]["role"]] = reply.model
        except (ValueError, KeyError, TypeError) as error:
            raise UnrecordedCall(f"line {number} of {self._path} is no recorded call: {error!r}") from error

    def model_for(self, role: Role) -> str:
        """The model that answered calls of this role when they were recorded."""
        return self._models.get(role, "replayed")

    async def complete(self, call: Call) -> Reply:
        """The recorded reply; `UnrecordedCall` for a call that was never recorded."""
        check_budget()
        reply = self._replies.get(key_of(call))
        if reply is None:
            raise UnrecordedCall(f"{self._path} holds no such call of {call.prompt!r}; record it again")
        pay(reply.usage, prompt=call.prompt, model=reply.model)
        return reply

    async def close(self) -> None:
        """Nothing to close."""

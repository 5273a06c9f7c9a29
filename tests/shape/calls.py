"""The functions and value types that one `add` and one `ask` pass through."""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, is_dataclass
from types import FrameType
from typing import Any

from anyio import to_thread
from pydantic import BaseModel

import tiermem
from tests.shape.code import PACKAGES, ROOT

_FOLDERS = tuple(f"{ROOT / package}/" for package in PACKAGES)
_WORKERS = 3


@dataclass
class Passage:
    """What one request passed through."""

    functions: set[tuple[str, str]] = field(default_factory=set)
    values: set[type] = field(default_factory=set)

    @property
    def files(self) -> set[str]:
        """The files of the functions."""
        return {file for file, _ in self.functions}

    def record(self, frame: FrameType, event: str, argument: object) -> None:
        """Record a call, as a profile function."""
        if event != "call":
            return
        code = frame.f_code
        if code.co_filename.startswith(_FOLDERS):
            self.functions.add((code.co_filename, code.co_qualname))
        if code.co_name in ("__init__", "__new__", "__post_init__"):
            made = frame.f_locals.get("self", frame.f_locals.get("_cls"))
            kind = made if isinstance(made, type) else type(made)
            if kind.__module__.partition(".")[0] in PACKAGES and is_value(kind):
                self.values.add(kind)


def is_value(kind: type) -> bool:
    """Whether a type is a dataclass, a model or a named tuple."""
    return is_dataclass(kind) or issubclass(kind, BaseModel) or hasattr(kind, "_fields")


async def trace_call(call: Callable[[], Awaitable[Any]], memory: tiermem.AsyncMemory) -> Passage:
    """Trace one request and the work it leaves in the background, in worker threads too."""
    passage = Passage()
    threading.setprofile(passage.record)
    sys.setprofile(passage.record)
    for _ in range(_WORKERS):
        await to_thread.run_sync(sys.setprofile, passage.record)
    try:
        await call()
        await memory._jobs.drain()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return passage


async def trace_requests() -> tuple[Passage, Passage]:
    """Trace an `add` and an `ask` of a small memory that has had one of each."""
    with tempfile.TemporaryDirectory() as folder:
        memory = await tiermem.AsyncMemory.open(folder, space="ann", embedder="hashed")
        question, speaker = "What is Biscuit allergic to?", "Ann"
        await memory.add(
            "My dog Biscuit is allergic to chicken.", speaker=speaker, said_at="2023-05-08T13:56"
        )
        await memory.ask(question)
        await memory._jobs.drain()
        said, said_at = "The vet said fish is fine for Biscuit.", "2023-05-09T10:00"
        add = await trace_call(lambda: memory.add(said, speaker=speaker, said_at=said_at), memory)
        ask = await trace_call(lambda: memory.ask(question), memory)
        await memory.close()
    return add, ask

"""One question, and all that answering it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tiermem.model import AskMode
from tiermem.reading.options import ReadingOptions
from tiermem.reading.rerank import Reranker
from tiermem.reading.steps import Steps
from tiermem.reading.view import View
from tiermem.reasoning import Engine
from tiermem.text.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRequest:
    """One question and all that answering it needs."""

    question: Question
    mode: AskMode = "router"
    view: View
    engine: Engine
    options: ReadingOptions
    count: Callable[[str], int]
    reranker: Reranker | None = None
    steps: Steps = field(default_factory=Steps)

"""The demo with a language model's replies, which were recorded beforehand (`replies.jsonl`).

Nothing but the replies is recorded: pages, units, links, routes, proofs and audits are made again each time.
A reply belongs to the exact words of its request. Prompts hold no ids, no times of today and no random
marks, so requests are the same on every machine, as long as what may differ there is fixed here: the
settings, and the embedder.

To record replies again, with any model: `python -m tiermem.apps.cli.demo.record`.
"""

from __future__ import annotations

from functools import partial
from importlib.resources import as_file, files
from pathlib import Path

import tiermem
from pagestore.errors import NotAStore
from tiermem.apps.cli.demo.run import DemoPlan, read_questions
from tiermem.errors import InvalidInput
from tiermem.llm.interface import Call, LanguageModel, Reply
from tiermem.llm.recording import ReplayingModel, UnrecordedCall

SPACE = "demo-recorded"
CAREFUL_READER = "careful-reader"
"""Who wrote the replies that ship with TierMem, as a name of a model."""
REPLIES = "replies.jsonl"


class RecordedReplies(ReplayingModel):
    """The recorded replies. `check` raises `UnrecordedCall` where one was missing."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._missing: list[str] = []

    async def complete(self, call: Call) -> Reply:
        """The recorded reply; `UnrecordedCall` says how to record it."""
        try:
            return await super().complete(call)
        except UnrecordedCall:
            self._missing.append(call.prompt)
            raise self._error() from None

    def check(self) -> None:
        """Raise `UnrecordedCall` where a call had no reply, also one whose error was left for later."""
        if self._missing:
            raise self._error()

    def _error(self) -> UnrecordedCall:
        prompts = ", ".join(sorted(set(self._missing)))
        return UnrecordedCall(
            f"the recorded replies are of other prompts: none belongs to this request of {prompts}. Record "
            "them again: TIERMEM_MODEL=… TIERMEM_BASE_URL=… python -m tiermem.apps.cli.demo.record"
        )


def read_replies() -> RecordedReplies:
    """The replies that ship with TierMem."""
    with as_file(files(__package__) / REPLIES) as path:
        return RecordedReplies(path)


def plan_with(model: LanguageModel) -> DemoPlan:
    """The demo of the whole pipeline with a model."""
    name = model.model_for("compose")
    who = "a careful reader" if name == CAREFUL_READER else f"the model {name!r}"
    return DemoPlan(
        notice=f"The replies of the model were written beforehand by {who}: nothing is asked over a network, "
        "and a model of your own would word them differently.",
        space=SPACE,
        questions=read_questions("recorded_questions.json"),
        open_memory=partial(tiermem.open, settings=_settings(), model=model),
        check=model.check if isinstance(model, RecordedReplies) else lambda: None,
    )


def _settings() -> tiermem.Settings:
    """All settings, most at their defaults: the environment changes none of them."""
    return tiermem.Settings.model_construct(
        embedder="hashed",  # the same on every machine, with and without weights
        index="memory",  # a memory that is kept is opened with an embedder of the user's choice
        recall_turns=0,  # as in the TierMem paper: what no unit tells is read on the pages
    )


def check_store(store: Path) -> None:
    """Raise `InvalidInput` where a store has a recorded demo: its findings change what is asked."""
    try:
        known = tiermem.spaces(store)
    except NotAStore:
        return
    if SPACE in known:
        raise InvalidInput(f"{str(store)!r} has a space {SPACE!r} already: name another --store")

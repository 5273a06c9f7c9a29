"""LoCoMo: long conversations of two people over months. The one reader of their dialogue.

A turn that shares a photo carries its caption after its words, as `[shares a photo: <caption>]`, because some
things are only said that way. Session numbers that have a date and no turns are skipped. The questions
in the same file are read where they are asked, in `eval`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pagestore import SessionId, Turn
from tiermem.dialogue.error_location import place
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.messages import turn_of
from tiermem.dialogue.times import parse_time
from tiermem.errors import InvalidInput

_SESSION = re.compile(r"session_(\d{1,9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocomoSample:
    """One conversation: its sessions in order (turn ids are the file's `dia_id`s)."""

    sample_id: str
    speakers: tuple[str, str]
    sessions: tuple[DialogueSession, ...]

    def conversation(self) -> Conversation:
        """The dialogue alone, asking for a space of its own."""
        return Conversation(space_hint=self.sample_id, sessions=self.sessions)


def is_locomo(sample: object) -> bool:
    """Whether one element of a JSON document has LoCoMo's shape."""
    return isinstance(sample, Mapping) and isinstance(sample.get("conversation"), Mapping)


def parse_locomo(document: object) -> tuple[LocomoSample, ...]:
    """Samples of a parsed file (a list, or one sample alone); `NotDialogue` names sample, session, turn."""
    samples = document if isinstance(document, list) else [document]
    return tuple(_read_sample(sample, n) for n, sample in enumerate(samples, start=1))


def _read_sample(sample: object, number: int) -> LocomoSample:
    with place(f"sample {number}"):
        if not isinstance(sample, Mapping) or not is_locomo(sample):
            raise InvalidInput("not a LoCoMo sample (no 'conversation')")
        sample_id = sample.get("sample_id")
        if not isinstance(sample_id, str) or not sample_id:
            raise InvalidInput("no 'sample_id'")
    with place(sample_id):
        return _sample(sample_id, sample)


def _sample(sample_id: str, sample: Mapping[str, Any]) -> LocomoSample:
    conversation: Mapping[str, Any] = sample["conversation"]
    numbers = sorted(int(found[1]) for key in conversation if (found := _SESSION.fullmatch(str(key))))
    names = (f"session_{number}" for number in numbers)
    sessions = tuple(_session(conversation, name) for name in names if conversation[name])
    return LocomoSample(
        sample_id=sample_id,
        speakers=(str(conversation.get("speaker_a", "")), str(conversation.get("speaker_b", ""))),
        sessions=sessions,
    )


def _session(conversation: Mapping[str, Any], name: str) -> DialogueSession:
    with place(name):
        if not isinstance(conversation[name], list):
            raise InvalidInput("not a list of turns")
        said_at = parse_time(conversation.get(f"{name}_date_time"))
        turns = tuple(_turn(turn, said_at, n) for n, turn in enumerate(conversation[name], start=1))
    return DialogueSession(session=SessionId(name), turns=turns)


def _turn(turn: object, said_at: datetime | None, number: int) -> Turn:
    with place(f"turn {number}"):
        if not isinstance(turn, Mapping) or not isinstance(turn.get("dia_id"), str):
            raise InvalidInput("not a turn with a 'dia_id'")
        caption = turn.get("blip_caption")
        said = turn.get("text") or ""
        if not said and not caption:
            raise InvalidInput("no words")
        bare = turn_of({"speaker": turn.get("speaker"), "text": said, "id": turn["dia_id"]})
    text = f"{bare.text} [shares a photo: {caption}]".lstrip() if caption else bare.text
    return replace(bare, text=text, said_at=said_at)

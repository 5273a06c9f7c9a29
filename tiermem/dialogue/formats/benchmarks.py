"""The files of LoCoMo and LongMemEval."""

from __future__ import annotations

from tiermem.dialogue.formats.source import DialogueSource, FormatReader
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.locomo import is_locomo, parse_locomo
from tiermem.dialogue.longmemeval import is_longmemeval, parse_longmemeval


def is_benchmark(value: object) -> bool:
    """Whether one element of a JSON document is of either."""
    return is_locomo(value) or is_longmemeval(value)


def _locomo(source: DialogueSource) -> tuple[Conversation, ...]:
    return tuple(sample.conversation() for sample in parse_locomo(source.document))


def _longmemeval(source: DialogueSource) -> tuple[Conversation, ...]:
    return tuple(question.conversation() for question in parse_longmemeval(source.document))


LOCOMO = FormatReader(name="locomo", knows=lambda source: is_locomo(source.first), read=_locomo)
LONGMEMEVAL = FormatReader(
    name="longmemeval", knows=lambda source: is_longmemeval(source.first), read=_longmemeval
)

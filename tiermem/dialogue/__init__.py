"""Reads dialogue as people have it: chat messages, JSON lines, transcripts, LoCoMo, LongMemEval."""

from tiermem.dialogue.agent_folders import is_of_coding_agent
from tiermem.dialogue.date_order import DateOrder
from tiermem.dialogue.export import line_of
from tiermem.dialogue.formats.agent_turns import Kind as AgentTurnKind
from tiermem.dialogue.formats.agent_turns import untested_version
from tiermem.dialogue.identity import (
    alternatives,
    has_own_id,
    is_payload,
    is_placed,
    own_id,
    payload_id,
    place_of,
    speaker_in,
)
from tiermem.dialogue.interface import (
    FORKS_KEEP_IDS,
    VERSION_OF,
    Conversation,
    DialogueSession,
    Format,
    ImportedTurn,
    chat_of,
    is_of_format,
    without_day,
)
from tiermem.dialogue.messages import as_turns
from tiermem.dialogue.read import read_dialogue, read_opencode_session
from tiermem.dialogue.repository import repository_of
from tiermem.dialogue.times import TimeLike, parse_time, until

__all__ = [
    "FORKS_KEEP_IDS",
    "VERSION_OF",
    "AgentTurnKind",
    "Conversation",
    "DateOrder",
    "DialogueSession",
    "Format",
    "ImportedTurn",
    "TimeLike",
    "alternatives",
    "as_turns",
    "chat_of",
    "has_own_id",
    "is_of_coding_agent",
    "is_of_format",
    "is_payload",
    "is_placed",
    "line_of",
    "own_id",
    "parse_time",
    "payload_id",
    "place_of",
    "read_dialogue",
    "read_opencode_session",
    "repository_of",
    "speaker_in",
    "untested_version",
    "until",
    "without_day",
]

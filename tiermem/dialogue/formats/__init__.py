"""The formats of dialogue files, one file each. A new one is a file here and a line in `READERS`."""

from tiermem.dialogue.formats import (
    benchmarks,
    chatgpt,
    claude,
    claude_code,
    codex,
    copilot_cli,
    cursor,
    discord,
    finetuning,
    gemini_cli,
    hindsight,
    langmem,
    letta,
    markdown,
    mem0,
    slack,
    subtitles,
    table,
    telegram,
    transcripts,
    turns,
    whatsapp,
    zep,
)
from tiermem.dialogue.formats.source import Reader, Source

READERS: tuple[Reader, ...] = (
    claude_code.READER,
    codex.READER,
    copilot_cli.READER,
    gemini_cli.READER,
    cursor.READER,
    subtitles.READER,
    table.READER,
    finetuning.READER,
    mem0.READER,
    zep.READER,
    letta.READER,
    langmem.READER,
    hindsight.READER,
    turns.LINES,
    benchmarks.LOCOMO,
    benchmarks.LONGMEMEVAL,
    chatgpt.READER,
    claude.READER,
    discord.READER,
    telegram.READER,
    slack.READER,
    turns.ARRAY,
    whatsapp.READER,
    markdown.READER,
    transcripts.READER,
)
"""In the order in which a source is looked at; the last one takes what no other knows."""

__all__ = ["READERS", "Reader", "Source"]

"""No reader of a transcript takes quadratic time in the number of records that refer to others."""

import json
from collections.abc import Callable

import pytest

from tests.dialogue.transcripts import ClaudeCode
from tests.growth.measure import growth
from tiermem.dialogue.formats import DialogueSource, FormatReader, claude_code, gemini_cli

SIZE = 10_000
"""How many prompts, records or rewinds there are. With fewer, quadratic time is not seen."""


def queued_prompts(count: int) -> str:
    """Prompts that went through the queue, all of which are records of their own too."""
    log = ClaudeCode()
    for number in range(count):
        log.queue("enqueue", f"Weave {number}.")
        log.queue("remove", f"Weave {number}.")
        log.user(f"Weave {number}.")
    return log.text()


def one_long_branch(count: int) -> str:
    """A session that began with a rewind: the records of its one branch are each below all before."""
    log = ClaudeCode()
    first = log.user("Weave.")
    log.user("Weave linen.", parentUuid=first)
    log.user("Weave wool.", parentUuid=first)
    for number in range(count):
        log.reply(f"Row {number}.")
    return log.text()


def rewinds(count: int) -> str:
    """A chat with as many rewinds to its last message as it has messages."""
    messages = [{"id": f"m{number}", "type": "user", "content": "Weave."} for number in range(count)]
    lines = [{"sessionId": "s", "projectHash": "p"}, *messages, *[{"$rewindTo": messages[-1]["id"]}] * count]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


@pytest.mark.parametrize(
    ("reader", "made"),
    [
        (claude_code.READER, queued_prompts),
        (claude_code.READER, one_long_branch),
        (gemini_cli.READER, rewinds),
    ],
)
def test_a_reader_takes_less_than_quadratic_time(reader: FormatReader, made: Callable[[int], str]) -> None:
    def opened(size: int) -> DialogueSource:
        return DialogueSource(name="chat.jsonl", text=made(size), session="s")

    assert growth(opened, reader.read, SIZE) is None

"""A prompt that a hook kept and the transcript brings later, or brought before, is stored once."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import tiermem
from tests.apps.test_hooks import NOW, event, store, turns_of
from tests.dialogue.transcripts import ClaudeCode, Codex, read_text
from tiermem.apps.hooks.drain import drain_spool
from tiermem.dialogue import Conversation

__all__ = ["store"]


class Typed:
    """A session of Claude Code in which prompts are typed at moments, in seconds after noon."""

    def __init__(self, store: Path, folder: Path, session: str = "s1") -> None:
        self.store, self.session = store, session
        self.log = ClaudeCode(session, cwd=str(folder))
        self.file = folder / f"{session}.jsonl"

    def payload(self, prompt: str, seconds: float, *, ends: bool = True) -> None:
        """Keep a prompt in the spool; with `ends` the session ends too."""
        known: dict[str, Any] = {"session_id": self.session, "transcript_path": str(self.file)}
        event(self.store, "UserPromptSubmit", prompt=prompt, at=_after(seconds), **known)
        if ends:
            event(self.store, "SessionEnd", at=_after(seconds + 60), **known)

    def record(self, prompt: str, seconds: float, **fields: Any) -> None:
        """Write a prompt to the transcript."""
        moment = _after(seconds).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.log.user(prompt, **{"timestamp": moment, **fields})
        self.file.write_text(self.log.text())

    def drain(self) -> int:
        """Drain after a further event, and return how many turns were new."""
        event(self.store, "Stop", session_id=self.session, transcript_path=str(self.file))
        done = drain_spool(self.store, now=NOW)
        assert (done.waiting, done.problems) == (0, ())
        return sum(done.stored.values())


def _after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


@pytest.fixture
def typed(store: Path, tmp_path: Path) -> Typed:
    return Typed(store, tmp_path)


def erase(typed: Typed, words: str) -> None:
    with tiermem.open(typed.store, engine="local") as memory:
        (page,) = memory.open_pages()
        (line,) = (one for one in page.lines if one.turn is not None and words in one.turn.text)
        assert memory.erase(turn=line.address, reason="asked for").leftovers.clean


def test_a_transcript_that_brings_a_prompt_later_does_not_store_it_again(typed: Typed) -> None:
    typed.record("Weave a rug.", -60)
    typed.payload("No,  use wool.", 0.000417)
    assert typed.drain() == 2
    typed.record("No, use wool.", 0.2)
    typed.log.reply("Done.")
    typed.record("Now a second one.", 90)
    assert typed.drain() == 2
    assert typed.drain() == 0
    assert turns_of(typed.store, "default") == [
        "Weave a rug.",
        "No,  use wool.",
        "Done.",
        "Now a second one.",
    ]


def test_an_ingest_that_brings_a_prompt_later_does_not_store_it_again(typed: Typed) -> None:
    typed.payload("Use wool.", 0)
    typed.drain()
    typed.record("Use wool.", 1)
    with tiermem.open(typed.store, engine="local") as memory:
        ((_, added),) = memory.ingest(tiermem.dialogue.read_dialogue(typed.file))
    assert (added.new, added.turns) == (0, 1)


def test_a_prompt_whose_transcript_was_stored_and_is_gone_is_not_stored_again(typed: Typed) -> None:
    typed.record("Use wool.", 1)
    assert typed.drain() == 1
    typed.file.unlink()
    typed.payload("Use wool.", 0)
    assert typed.drain() == 0


def test_the_same_words_typed_again_after_a_resume_are_another_prompt(typed: Typed) -> None:
    typed.payload("yes", 0)
    assert typed.drain() == 1
    typed.record("yes", 0.1)
    typed.record("yes", 1800)
    assert typed.drain() == 1
    typed.payload("yes", 1800)
    assert typed.drain() == 0
    assert turns_of(typed.store, "default") == ["yes", "yes"]


def test_each_of_two_equal_prompts_is_that_of_one_record(typed: Typed) -> None:
    typed.payload("continue", 50, ends=False)
    typed.payload("continue", 110)
    assert typed.drain() == 2
    typed.record("continue", 111)
    assert typed.drain() == 0
    typed.record("continue", 51)
    typed.record("continue", 115)
    assert typed.drain() == 1


def test_prompts_of_one_minute_are_all_stored(typed: Typed) -> None:
    for seconds in range(5):
        typed.payload(f"Prompt {seconds}.", seconds, ends=seconds == 4)
    assert typed.drain() == 5
    for seconds in range(6):
        typed.record(f"Prompt {seconds}.", seconds + 0.5)
    assert typed.drain() == 1


def test_a_hook_that_is_installed_twice_stores_a_prompt_once(typed: Typed) -> None:
    typed.payload("yes", 59.99, ends=False)
    typed.payload("yes", 60.01, ends=False)
    typed.payload("yes", 75)
    assert typed.drain() == 2


def test_a_prompt_is_not_taken_for_an_answer_a_rejection_or_words_of_the_agent(typed: Typed) -> None:
    typed.payload("Use wool.", 0)
    typed.drain()
    refusal = (
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n"
    )
    typed.log.result(f"{refusal}Use wool.", is_error=True, timestamp="2026-03-01T12:00:01.000Z")
    typed.log.reply("Use wool.", timestamp="2026-03-01T12:00:02.000Z")
    typed.record("Use wool.", 100)
    assert typed.drain() == 2


def test_a_record_without_a_time_is_another_turn(typed: Typed) -> None:
    typed.payload("Use wool.", 0)
    typed.drain()
    typed.record("Use wool.", 0, timestamp=...)
    assert typed.drain() == 1


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:01:00+14:00"]
)
def test_a_record_at_an_end_of_the_calendar_is_stored(typed: Typed, moment: str) -> None:
    typed.record("Use wool.", 0, timestamp=moment)
    assert typed.drain() == 1


def test_an_erased_prompt_stays_away_when_the_transcript_brings_it(typed: Typed) -> None:
    typed.payload("My pin is 4711.", 0.000417)
    typed.drain()
    erase(typed, "4711")
    typed.record("My pin is 4711.", 30)
    typed.record("Weave a rug of wool.", 31)
    typed.record("My pet is a cat", 32)
    typed.record("My pin is 4712.", 600)
    assert typed.drain() == 3
    assert turns_of(typed.store, "default") == ["Weave a rug of wool.", "My pet is a cat", "My pin is 4712."]


def test_an_erased_prompt_stays_away_when_its_event_is_read_again(typed: Typed) -> None:
    typed.payload("My pin is 4711.", 0)
    typed.drain()
    erase(typed, "4711")
    typed.payload("My pin is 4711.", 0)
    typed.payload("Use wool.", 5)
    assert typed.drain() == 1
    assert turns_of(typed.store, "default") == ["Use wool."]


@pytest.mark.parametrize("first", ["payload", "record"])
def test_a_fork_has_a_prompt_of_a_payload_as_a_copy(store: Path, tmp_path: Path, first: str) -> None:
    typed = Typed(store, tmp_path)
    if first == "record":
        typed.record("Weave a rug.", -60)
    typed.payload("Use wool.", 0)
    typed.drain()
    typed.record("Use wool.", 1)
    for number in range(3):
        typed.record(f"Then number {number}.", 60 + number)
    typed.drain()
    stored = turns_of(store, "default")
    fork = Typed(store, tmp_path, "fork")
    fork.log.lines = [json.dumps({**json.loads(line), "sessionId": "fork"}) for line in typed.log.lines]
    fork.log.count = 50
    fork.record("Only in the fork.", 120)
    assert fork.drain() == 1
    assert sorted(turns_of(store, "default")) == sorted([*stored, "Only in the fork."])


def test_a_fork_of_codex_has_a_prompt_of_a_payload_as_a_copy(store: Path) -> None:
    def codex(session: str, words: Sequence[str], **known: Any) -> Conversation:
        log = Codex(session, **known)
        for text in words:
            log.item("UserMessage", id=text, content=[{"type": "text", "text": text}])
        return read_text(log.text())

    words = ["Weave a rug.", "Make it red.", "Use wool.", "And long."]
    said = datetime(2026, 9, 20, 17, 0, 2, 500_000, tzinfo=UTC)
    event(store, "UserPromptSubmit", session_id="parent", prompt="Use wool.", at=said)
    (file,) = (store / "spool").glob("*.json")
    file.write_text(file.read_text().replace('"claude-code"', '"codex"'))
    with tiermem.open(store, engine="local") as memory:
        memory.ingest(codex("parent", words[:1]))
    assert drain_spool(store, now=said + timedelta(hours=2)).prompts == 1
    with tiermem.open(store, engine="local") as memory:
        ((_, added),) = memory.ingest(codex("parent", words))
        assert added.new == 2
        fork = codex("fork", [*words, "Only in the fork."], forked_from_id="parent")
        assert [added.new for _, added in memory.ingest(fork)] == [1]

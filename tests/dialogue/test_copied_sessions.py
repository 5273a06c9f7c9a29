"""Sessions of coding agents that begin with a copy of another session: what was said once is stored once."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import tiermem
from tests.dialogue.transcripts import ClaudeCode, Codex, read_text
from tiermem.dialogue import Conversation


def add(memory: tiermem.Memory, conversation: Conversation) -> int:
    """Store a session and return how many turns were new."""
    return sum(added.new for _, added in memory.ingest(conversation))


def written_session(words: int = 4) -> ClaudeCode:
    log = ClaudeCode("original")
    for number in range(words):
        log.user(f"Weave pattern {number}.")
    return log


def fork(log: ClaudeCode, session: str = "fork") -> ClaudeCode:
    """The chain again under another session, with the same ids, as /branch writes it."""
    copy = ClaudeCode(session)
    copy.lines = [json.dumps({**json.loads(line), "sessionId": session}) for line in log.lines]
    copy.count, copy.last = log.count + 50, log.last
    return copy


def test_a_fork_adds_what_was_said_after_it(tmp_path: Path) -> None:
    log = written_session()
    copy = fork(log)
    copy.user("Only in the fork.")
    with tiermem.open(tmp_path / "memory") as memory:
        assert add(memory, log.read()) == 4
        assert add(memory, copy.read()) == 1
        copy.user("And later.")
        log.user("Meanwhile in the original.")
        assert add(memory, copy.read()) == 1
        assert add(memory, log.read()) == 1
        assert len(memory.search("Weave pattern 2", kind="turns", session="claude-code:fork")) == 2


def test_a_fork_that_is_read_first_has_the_turns(tmp_path: Path) -> None:
    log = written_session()
    with tiermem.open(tmp_path / "memory") as memory:
        assert add(memory, fork(log).read()) == 4
        log.user("Then in the original.")
        assert add(memory, log.read()) == 1


def test_what_was_erased_in_the_original_stays_away_in_the_fork(tmp_path: Path) -> None:
    log = written_session()
    with tiermem.open(tmp_path / "memory") as memory:
        add(memory, log.read())
        memory.erase(session="claude-code:original", reason="asked for")
        assert add(memory, fork(log).read()) == 0


def test_two_turns_with_known_ids_are_no_copy(tmp_path: Path) -> None:
    log = written_session(2)
    copy = fork(log)
    copy.user("Third.")
    with tiermem.open(tmp_path / "memory") as memory:
        add(memory, log.read())
        assert add(memory, copy.read()) == 3


def test_sessions_with_the_same_words_are_no_copies(tmp_path: Path) -> None:
    first, second = written_session(), ClaudeCode("other")
    second.count = 100
    for number in range(4):
        second.user(f"Weave pattern {number}.")
    with tiermem.open(tmp_path / "memory") as memory:
        assert [add(memory, log.read()) for log in (first, second)] == [4, 4]


def codex_session(session: str, minutes: int, texts: list[str], **known: object) -> Codex:
    log = Codex(session, **known)
    for number, text in enumerate(texts):
        moment = f"2026-09-20T1{minutes}:00:{number:02}Z"
        log.record("event_msg", {"type": "user_message", "message": text}, timestamp=moment)
    return log


def test_a_fork_of_codex_with_new_times_adds_what_was_said_after_it(tmp_path: Path) -> None:
    texts = ["One.", "Two.", "Three."]
    parent = codex_session("parent", 0, texts)
    child = codex_session("child", 5, [*texts, "Four."], forked_from_id="parent")
    stranger = codex_session("stranger", 6, [*texts, "Four."])
    other = codex_session("other", 7, ["One.", "Two.", "Else."], forked_from_id="parent")
    with tiermem.open(tmp_path / "memory") as memory:
        logs = (parent, child, stranger, other, child)
        assert [add(memory, log.read()) for log in logs] == [3, 1, 4, 3, 0]


@pytest.mark.parametrize("prompt", ["Weave.", "Dye."])
def test_sessions_whose_records_have_no_ids_of_their_own_are_no_copies(tmp_path: Path, prompt: str) -> None:
    def write(words: str) -> str:
        said = [
            (words, "user"),
            ("Done.", "assistant"),
            (f"{words} more.", "user"),
            ("Also done.", "assistant"),
        ]
        lines = ({"role": role, "message": {"content": text}} for text, role in said)
        return "".join(f"{json.dumps(line)}\n" for line in lines)

    with tiermem.open(tmp_path / "memory") as memory:
        first, second = read_text(write("Weave."), "a.jsonl"), read_text(write(prompt), "b.jsonl")
        assert [add(memory, one) for one in (first, second)] == [4, 4]


def test_sessions_of_programs_that_count_their_messages_are_no_copies(tmp_path: Path) -> None:
    def chat(session: str, *texts: str) -> str:
        messages = [
            {"id": f"m{number}", "type": "user", "content": text} for number, text in enumerate(texts)
        ]
        return json.dumps({"sessionId": session, "projectHash": "7", "messages": messages})

    with tiermem.open(tmp_path / "memory") as memory:
        first = read_text(chat("s1", "One.", "Two.", "Three.", "Four."), "a.json")
        second = read_text(chat("s2", "A.", "B.", "C.", "D."), "b.json")
        assert [add(memory, one) for one in (first, second)] == [4, 4]


def test_a_sub_agent_of_codex_that_begins_with_the_history_of_its_parent_adds_its_own(tmp_path: Path) -> None:
    texts = ["One.", "Two.", "Three."]
    parent = codex_session("parent", 0, texts)
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "parent"}}}
    child = codex_session("child", 5, [*texts, "Audit."], source=source, parent_thread_id="parent")
    with tiermem.open(tmp_path / "memory") as memory:
        assert [add(memory, log.read()) for log in (parent, child)] == [3, 1]


def test_a_fork_whose_metadata_is_any_json_is_compared(tmp_path: Path) -> None:
    parent, child = (
        codex_session(name, 0, ["One.", "Two.", "Three."]).read() for name in ("parent", "child")
    )
    (session,) = child.sessions
    odd = {"parent_session": "codex:parent", "kind": ["prompt"], "call_id": {"id": 1}}
    turns = tuple(replace(turn, metadata={**turn.metadata, **odd}) for turn in session.turns)
    with tiermem.open(tmp_path / "memory") as memory:
        assert add(memory, parent) == 3
        assert add(memory, replace(child, sessions=(replace(session, turns=turns),))) == 3

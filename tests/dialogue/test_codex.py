"""Transcripts of Codex, of the paginated form and of older ones: whose words each record has.

The records here are written, in shapes of versions 0.39 to 0.161; published samples are read in
`test_agent_samples.py`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import tiermem
from tests.dialogue.transcripts import Codex, kinds, of_person, only, read_text, turns_of
from tiermem.text.own_context import HEADING, mark_block


def paginated_prompt(log: Codex, words: str) -> None:
    """A prompt as versions from 0.145 to 0.150 on write it: to the model, and as a completed item."""
    log.message("user", words, kinds=["user.text"])
    log.item("UserMessage", id="i1", content=[{"type": "text", "text": words}])


def older_prompt(log: Codex, words: str) -> None:
    """A prompt as versions before write it."""
    log.message("user", words)
    log.event("user_message", message=words, images=[])


@pytest.mark.parametrize("write_prompt", [paginated_prompt, older_prompt])
def test_a_prompt_that_is_in_two_records_is_one_turn(write_prompt: Any) -> None:
    log = Codex()
    write_prompt(log, "Why is the job red?")
    log.message("assistant", "I look.")
    write_prompt(log, "continue")
    write_prompt(log, "continue")
    conversation = log.read()
    assert of_person(conversation) == ["Why is the job red?", "continue", "continue"]
    assert only(conversation).session == "codex:01a1-c0de"


def test_a_prompt_has_what_its_session_says_of_it() -> None:
    git = {"branch": "main", "repository_url": "git@github.com:ann/loom.git"}
    log = Codex(git=git, base_instructions={"provenance": {"model": "gpt-5-codex"}})
    paginated_prompt(log, "First.")
    log.record("turn_context", {"cwd": "/nowhere/loom/src", "model": "gpt-6"})
    paginated_prompt(log, "Second.")
    first, second = turns_of(log.read())
    known = first.metadata
    assert (first.role, known["kind"], known["agent"], known["agent_version"]) == (
        "user",
        "prompt",
        "codex",
        "0.155.0",
    )
    assert (known["model"], known["directory"], known["branch"]) == ("gpt-5-codex", "/nowhere/loom", "main")
    assert (second.metadata["model"], second.metadata["directory"]) == ("gpt-6", "/nowhere/loom/src")
    assert known["repository"] == second.metadata["repository"]
    assert first.said_at is not None
    assert first.said_at.isoformat() == "2026-09-20T17:00:02+00:00"


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>",
        "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>Use pnpm.</INSTRUCTIONS>",
        "<INSTRUCTIONS>Use pnpm.</INSTRUCTIONS>",
        "<user_instructions>Use pnpm.</user_instructions>",
        "<permissions instructions>sandbox off</permissions instructions>",
        "<skill>\n<name>pdf</name>\n</skill>",
        "<turn_aborted>\nThe user interrupted the turn.\n</turn_aborted>",
        "<subagent_notification>done</subagent_notification>",
        "<goal_context>ship it</goal_context>",
        "<codex_internal_context source=x>y</codex_internal_context>",
        '<hook_prompt hook_run_id="stop:0">run the tests</hook_prompt>',
        "<heartbeat>hourly</heartbeat>",
    ],
)
def test_a_text_of_the_program_under_the_role_user_is_no_turn(text: str) -> None:
    log = Codex()
    log.message("user", text)
    log.message("user", text, "Start.")
    log.message("developer", "Be brief.")
    conversation = log.read()
    assert [turn.text for turn in turns_of(conversation)] == ["Start."]
    assert sum(conversation.left_out.values()) == 3


def test_kinds_of_parts_say_whose_they_are() -> None:
    log = Codex()
    log.message("user", "Loom's rules", kinds=["hooks.additional_context"])
    log.message("user", "Loom's rules", "Weave.", kinds=["agents_md.instructions", "user.text"])
    log.message("user", "What is <environment_context>?", kinds=["user.text"])
    assert of_person(log.read()) == ["Weave.", "What is <environment_context>?"]


def test_messages_to_the_model_are_prompts_where_no_event_has_them() -> None:
    log = Codex()
    older_prompt(log, "Start.")
    log.message("user", "Step 1")
    log.message("user", "Start.")
    assert of_person(log.read()) == ["Start.", "Step 1", "Start."]


@pytest.mark.parametrize(
    "context", ["# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n", "<ide>x</ide>\n"]
)
def test_the_words_are_below_the_context_of_the_editor(context: str) -> None:
    log = Codex()
    older_prompt(log, f"{context}## My request for Codex:\nRename it.\n\n## Then\nlint.\n")
    assert of_person(log.read()) == ["Rename it.\n\n## Then\nlint."]


def test_a_person_may_write_the_heading_of_a_request() -> None:
    log = Codex()
    older_prompt(log, "Parse this:\n## My request for Codex:\nx")
    assert of_person(log.read()) == ["Parse this:\n## My request for Codex:\nx"]


def test_a_prompt_of_a_hook_is_not_the_persons() -> None:
    log = Codex()
    paginated_prompt(log, "Go.")
    log.item("HookPrompt", id="h1", fragments=[{"text": "Run the tests first.", "hookRunId": "stop"}])
    log.message("user", "Run the tests first.")
    log.record("event_msg", {"type": "user_message", "message": "Use pnpm.", "kind": "user_instructions"})
    assert of_person(log.read()) == ["Go."]


def test_a_line_for_the_shell_is_a_command_of_the_person() -> None:
    log = Codex()
    log.message(
        "user",
        "<user_shell_command>\n<command>\ngit log -3\n</command>\n<result>\nExit code: 0\n</result>\n"
        "</user_shell_command>",
    )
    (turn,) = turns_of(log.read())
    assert (turn.role, turn.metadata["kind"], turn.text) == ("user", "command", "git log -3")


def test_an_image_without_words_is_a_prompt() -> None:
    log = Codex()
    log.item("UserMessage", content=[{"type": "image", "image_url": "data:image/png;base64,eA=="}])
    assert of_person(log.read()) == ["[image]"]


def test_a_reply_that_is_in_several_records_is_one_turn() -> None:
    log = Codex()
    log.event("task_started", turn_id="t1")
    log.item("AgentMessage", content=[{"type": "Text", "text": "Set HOME."}])
    log.message("assistant", "Set HOME.")
    log.event("agent_message", message="Set HOME.")
    log.event("task_complete", turn_id="t1", last_agent_message="Set HOME.")
    assert [turn.text for turn in turns_of(log.read())] == ["Set HOME."]


def test_a_reply_that_only_an_event_has_is_a_turn_in_each_turn_of_the_agent() -> None:
    log = Codex()
    for turn in ("t1", "t2"):
        log.event("task_started", turn_id=turn)
        log.event("task_complete", turn_id=turn, last_agent_message="Done.")
    assert [(turn.role, turn.text) for turn in turns_of(log.read())] == [("assistant", "Done.")] * 2


def test_calls_and_results_have_tools_ids_and_exit_codes() -> None:
    log = Codex()
    log.call("shell", '{"command": ["ls"]}', "c1")
    log.result(json.dumps({"output": "no such file\n", "metadata": {"exit_code": 2}}), "c1")
    log.call("js", "{}", "c2", namespace="mcp__browser")
    log.result([{"type": "input_text", "text": "Wall time: 1 s"}, {"type": "input_text", "text": "ok"}], "c2")
    log.record(
        "response_item", {"type": "custom_tool_call", "name": "exec", "call_id": "c3", "input": "text(1)"}
    )
    log.result("Wall time: 1 seconds\nProcess exited with code 0\nOutput:\nExit code: 7", "c3")
    log.call("exec_command", "{}", "c4")
    log.event("exec_command_end", call_id="c4", exit_code=1, aggregated_output="")
    log.result("", "c4")
    log.call("noop", "{}", "c5")
    log.result({"content": "refused", "success": False}, "c5")
    turns = turns_of(log.read())
    assert kinds(turns) == ["tool_call", "tool_result"] * 5
    assert [turn.text for turn in turns[::2]] == [
        '[calls shell({"command": ["ls"]})]',
        "[calls mcp__browser__js({})]",
        "[calls exec(text(1))]",
        "[calls exec_command({})]",
        "[calls noop({})]",
    ]
    results = turns[1::2]
    assert [turn.role for turn in results] == ["tool"] * 5
    assert [turn.text for turn in results[:2]] == ["no such file\n", "Wall time: 1 s\nok"]
    assert results[3].text == "[no output]"
    assert [turn.metadata.get("exit_code") for turn in results] == [2, None, 0, 1, None]
    assert [turn.metadata.get("failed") for turn in results] == [True, None, False, True, True]
    assert [turn.metadata["tool"] for turn in results[:3]] == ["shell", "mcp__browser__js", "exec"]


def test_a_patch_names_its_file() -> None:
    log = Codex()
    patch = "*** Begin Patch\n*** Update File: src/loom.py\n@@\n*** End Patch"
    log.record(
        "response_item", {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c", "input": patch}
    )
    log.call("exec", json.dumps({"patch": patch}))
    assert [turn.metadata["path"] for turn in turns_of(log.read())] == ["src/loom.py"] * 2


def test_hidden_reasoning_is_counted_and_kept_only_if_asked_for() -> None:
    log = Codex()
    summary = [{"type": "summary_text", "text": "It is the port."}]
    log.record("response_item", {"type": "reasoning", "summary": summary, "encrypted_content": "x"})
    log.message("assistant", "A port is taken.")
    conversation = log.read()
    assert conversation.left_out == {"hidden reasoning": 1}
    assert "It is the port" not in repr(conversation)
    (reply,) = turns_of(log.read(keep_thinking=True))
    assert reply.metadata["thinking"] == "It is the port."


def test_the_summary_of_a_compaction_is_the_agents_and_its_history_is_not_read_again() -> None:
    log = Codex()
    older_prompt(log, "Weave.")
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Weave."}]}]
    log.record("compacted", {"message": "Ann wants cloth.", "replacement_history": history})
    turns = turns_of(log.read())
    assert [(turn.role, turn.text) for turn in turns] == [
        ("user", "Weave."),
        ("assistant", "Ann wants cloth."),
    ]
    assert turns[1].metadata["kind"] == "summary"


def test_a_sub_agent_has_no_words_of_the_person_and_not_the_history_of_its_parent() -> None:
    log = Codex(
        session="child",
        session_id="parent",
        parent_thread_id="parent",
        source={"subagent": {"thread_spawn": {"parent_thread_id": "parent"}}},
        agent_nickname="Euclid",
        subagent_history_start_ordinal=4,
    )
    log.record("session_meta", {"id": "parent", "cwd": "/nowhere/other"})
    paginated_prompt(log, "The person to the parent.")
    log.message("user", "Audit the parser.")
    log.message("assistant", "It is sound.")
    session = only(log.read())
    assert session.session == "codex:child"
    assert [(turn.role, turn.speaker, turn.text) for turn in session.turns] == [
        ("assistant", "assistant", "Audit the parser."),
        ("assistant", "sub-agent", "It is sound."),
    ]
    known = session.turns[1].metadata
    assert (known["author"], known["sub_agent"], known["parent_session"]) == (
        "sub-agent",
        "Euclid",
        "codex:parent",
    )
    assert known["directory"] == "/nowhere/loom"


def test_what_the_importer_copied_from_another_agent_is_left_out() -> None:
    log = Codex()
    log.event("task_started", turn_id="external-import-turn-1")
    older_prompt(log, "Asked of another agent.")
    log.message("assistant", "[external_agent_tool_call: Bash]\ncommand: ls\n[/external_agent_tool_call]")
    log.message("assistant", "<EXTERNAL SESSION IMPORTED>")
    log.event("task_complete", turn_id="external-import-turn-1")
    log.event("task_started", turn_id="t2")
    paginated_prompt(log, "And now here.")
    conversation = log.read()
    assert [turn.text for turn in turns_of(conversation)] == ["And now here."]
    assert conversation.left_out["turn imported from another agent"] == 2


def test_the_mark_of_the_importer_is_enough() -> None:
    log = Codex()
    older_prompt(log, "Asked of another agent.")
    log.message("assistant", "<EXTERNAL SESSION IMPORTED>")
    older_prompt(log, "And now here.")
    assert of_person(log.read()) == ["And now here."]


def test_a_record_of_another_thread_is_left_out() -> None:
    log = Codex()
    log.event("item_completed", thread_id="parent", item={"type": "UserMessage", "content": "Elsewhere."})
    paginated_prompt(log, "Here.")
    assert of_person(log.read()) == ["Here."]


def test_ordinals_that_repeat_hide_nothing() -> None:
    log = Codex()
    for words in ("One.", "Two."):
        log.record(
            "event_msg",
            {"type": "user_message", "message": words},
            ordinal=7,
            timestamp="2026-09-20T17:00:00Z",
        )
    turns = turns_of(log.read())
    assert [turn.text for turn in turns] == ["One.", "Two."]
    assert turns[0].turn_id != turns[1].turn_id


def test_records_without_a_payload_of_the_first_versions_are_read() -> None:
    lines = [
        {"id": "s-old", "timestamp": "2025-06-01T10:00:00Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Weave."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Woven."}]},
    ]
    session = only(read_text("\n".join(map(json.dumps, lines)) + "\n"))
    assert session.session == "codex:s-old"
    assert [(turn.role, turn.text, turn.said_at) for turn in session.turns] == [
        ("user", "Weave.", None),
        ("assistant", "Woven.", None),
    ]


def test_what_is_not_known_is_noted_and_a_cut_line_waits() -> None:
    log = Codex(cli_version="0.200.0")
    paginated_prompt(log, "Go.")
    log.record("hologram", {"type": "x"})
    log.record("response_item", {"type": "telepathy"})
    log.event("telepathy")
    log.message("assistant", "Went.")
    conversation = read_text(log.text()[:-9])
    assert of_person(conversation) == ["Go."]
    assert len(turns_of(conversation)) == 1
    notes = "".join(conversation.notes)
    assert "0.200.0, newer than" in notes
    assert "hologram (1), response_item/telepathy (1)" in notes
    assert "is cut off" in notes


def test_the_name_of_a_thread_is_the_title() -> None:
    log = Codex()
    paginated_prompt(log, "Go.")
    log.event("thread_name_updated", thread_name="Looms")
    assert only(log.read()).title == "Looms"


def test_a_session_that_grows_adds_only_what_is_new(tmp_path: Path) -> None:
    log = Codex()
    paginated_prompt(log, "Use pnpm here.")
    log.message("assistant", "Understood.")
    with tiermem.open(tmp_path / "memory") as memory:
        ((_, added),) = memory.ingest(log.read())
        assert added.new == 2
        paginated_prompt(log, "And lint first.")
        ((_, added),) = memory.ingest(log.read())
        assert (added.new, added.known, added.edited) == (1, 2, 0)


def test_what_a_hook_of_memory_gave_is_no_turn() -> None:
    block = mark_block(f"{HEADING}\n[1] said 2026-03-01; prompt\n| Weave a rug.", "loom-0123abcd")
    log = Codex()
    log.message("developer", block)
    log.message("user", f"<hook_context_sticky>{block}</hook_context_sticky>")
    log.item("UserMessage", content=[{"type": "text", "text": f"{block}\nBake a cake."}])
    log.message("user", f"{block}\nBake a cake.")
    assert [turn.text for turn in turns_of(log.read())] == ["Bake a cake."]

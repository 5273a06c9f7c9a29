"""What is known without a question: statements, units of a model, corrections and what was said last."""

from datetime import datetime
from pathlib import Path

import pytest

import tiermem
from pagestore import EstimateCounter, Turn
from tests.api.conftest import OpenMemory
from tests.apps.http.conftest import Server
from tests.apps.test_commands import as_json
from tests.apps.test_commands import tiermem as run_command
from tests.engines import quoting_engine
from tests.test_recap import heads, keep, said, words
from tiermem.text.own_context import HEADING, without_own_context


def test_each_kind_is_there_with_its_citation(open_memory: OpenMemory) -> None:
    memory = open_memory(engine="local")
    keep(
        memory,
        one=[
            said("Weave a rug.", 0),
            said("Shall I use wool?", 1, "agent", "reply"),
            said("Not wool.", 2, kind="rejection", tool="Bash"),
            said("[no output]", 3, "program", "tool_result"),
            said("Blue", 4, kind="answer", question="Which colour?"),
            said("And faster.", 5, kind="queued_prompt"),
            said("/compact", 6, kind="command"),
            said("Now the fringe.", 7),
        ],
    )
    memory.add("I live in Riga.", speaker="Ann", session="chat", said_at="2026-02-01T10:00")
    memory.add("How nice.", speaker="bot", role="assistant", session="chat")
    kept = memory.remember("Deploy only from main.", speaker="Ann")
    memory.flush()
    found = memory.profile()
    assert words(found.text) == [
        "Ann: Deploy only from main.",
        "Not wool.",
        "Blue",
        "And faster.",
        "Ann: I live in Riga.",
        "Weave a rug.",
        "Now the fringe.",
    ]
    assert "| asked: Which colour?\n| Blue" in found.text
    assert [head.split("; ")[1] for head in heads(found.text)[1:4]] == [
        "rejection of Bash to claude-code",
        "answer to claude-code",
        "queued prompt to claude-code",
    ]
    cited = [(one.source, one.speaker, one.role) for one in found.sources]
    assert (
        cited
        == [("unit", "Ann", None), *[("turn", "user", "user")] * 3, ("turn", "Ann", None)]
        + [("turn", "user", "user")] * 2
    )
    assert found.sources[0].unit_id == kept.unit.id
    assert found.sources[4].said_at == datetime(2026, 2, 1, 10)  # noqa: DTZ001  (as it was given)
    for head, row, source in zip(heads(found.text), words(found.text), found.sources, strict=True):
        assert source.turn is not None
        assert head.endswith(f"; {source.turn}")
        (line,) = [line for line in memory.page(source.turn).lines if line.address == source.turn]
        assert line.turn is not None
        assert row.removeprefix("Ann: ") == line.turn.text
    assert found.tokens == EstimateCounter().count(found.text) <= 1000
    assert without_own_context(found.text) == "…"


def test_corrections_are_there_however_many_prompts_came_later(open_memory: OpenMemory) -> None:
    memory = open_memory(engine="local", page_tokens=100)
    keep(
        memory,
        old=[said("Not 8080, take 8081.", 0, kind="rejection")],
        new=[said(f"Prompt number {number}.", 10 + number) for number in range(60)],
    )
    memory.flush()
    found = memory.profile(max_tokens=300)
    assert words(found.text)[0] == "Not 8080, take 8081."
    assert words(found.text)[-1] == "Prompt number 59."
    assert len(found.sources) < found.found


def test_what_no_longer_holds_is_not_there(open_memory: OpenMemory) -> None:
    memory = open_memory()
    old = memory.remember("The port is 8080.", speaker="Ann")
    memory.correct(old.unit.id, "The port is 8081.")
    gone = memory.remember("Use Redis.", speaker="Ann")
    memory.withdraw(gone.unit.id, reason="dropped")
    keep(
        memory,
        one=[
            said("The key is 12.", 0, kind="rejection"),
            said("Rewound words.", 1, kind="queued_prompt", abandoned=True),
            said("The loom keeps SQLite files. The mill keeps Postgres tables.", 2, kind="answer"),
        ],
    )
    memory.flush()
    (key,) = memory.search("key", kind="turns", limit=1)
    memory.erase(turn=key.turn, reason="asked to")
    (unit,) = [unit for unit in memory.units() if "SQLite" in unit.text]
    memory.withdraw(unit.id, reason="changed")
    found = memory.profile()
    shown = repr(found)
    assert "8081" in shown
    assert "The mill keeps Postgres tables." in shown
    for word in ("8080", "Redis", "key is 12", "Rewound", "SQLite"):
        assert word not in shown, word


def test_units_of_a_model_that_hold_are_there_and_extracts_are_not(open_memory: OpenMemory) -> None:
    turn = Turn(speaker="Ann", text="The loom is oiled every Monday.", role="assistant")
    memory = open_memory(engine="local")
    memory.add([turn], session="s")
    memory.flush()
    assert memory.units()
    assert memory.profile().text == ""
    memory = open_memory(engine=quoting_engine(), space="worded")
    memory.add([turn], session="s")
    memory.flush()
    found = memory.profile()
    (head,) = heads(found.text)
    assert head.startswith("[1] noted; undated; summarised; trust assistant; t1:")
    assert found.sources[0].unit_id == memory.units()[0].id
    assert found.sources[0].turn is not None


def test_a_statement_is_there_once_and_said_in_a_chat_once(open_memory: OpenMemory) -> None:
    memory = open_memory(engine="local")
    memory.remember("Deploy only from main.")
    memory.add(["Weave.", "weave."], speaker="Ann")
    memory.remember("My loom is old.", speaker="Ann")
    stated = ["Deploy only from main.", "Ann: My loom is old."]
    assert words(memory.profile().text) == [*stated, "Ann: weave."]


@pytest.mark.parametrize("max_tokens", [0, 1, 20, 40, 60, 100, 1_000, 100_000])
def test_it_is_never_longer_than_it_may_be(open_memory: OpenMemory, max_tokens: int) -> None:
    memory = open_memory(engine="local")
    keep(
        memory,
        one=[said(("Weave a long rug. " * 40).strip(), number, kind="rejection") for number in range(9)],
    )
    memory.remember("Deploy only from main.")
    found = memory.profile(max_tokens=max_tokens)
    assert EstimateCounter().count(found.text) == found.tokens <= max_tokens
    if not found.sources:
        assert found.empty_reason == f"{found.found} found, none fits into {max_tokens} tokens"
    if max_tokens >= 1_000:
        assert len(found.sources) == found.found == 2, "the same words are there once"
        assert found.sources[-1].text == f"user: {'Weave a long rug. ' * 40}".rstrip()


def test_statements_for_which_there_is_no_room_are_not_there_as_turns_of_the_user(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(engine="local")
    memory.add("Weave.", role="user", speaker="Ann")
    facts = [f"Rug number {number} is blue." for number in range(9)]
    for fact in facts:
        memory.remember(fact)
    assert words(memory.profile(max_tokens=85).text) == [facts[-1], "Ann: Weave."]
    assert words(memory.profile().text) == [*facts, "Ann: Weave."]


def test_of_each_kind_as_many_are_found_as_might_fit_and_one_at_least(open_memory: OpenMemory) -> None:
    memory = open_memory(engine="local")
    keep(memory, one=[said(f"Prompt number {number}.", number) for number in range(9)])
    memory.remember("Deploy only from main.")
    assert [memory.profile(max_tokens=most).found for most in (0, 1, 60, 1_000)] == [2, 2, 5, 10]


def test_a_space_without_words_of_people_has_none(open_memory: OpenMemory) -> None:
    memory = open_memory(engine="local")
    keep(memory, one=[said("Done.", 0, "agent", "reply"), said("/clear", 1, kind="command")])
    found = memory.profile()
    assert (found.text, found.tokens, found.sources, found.empty_reason) == ("", 0, (), None)


def test_commands_and_a_server_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    store = tmp_path / "memory"
    with tiermem.open(store, engine="local") as memory:
        memory.remember("Deploy only from main.", speaker="Ann")
        text = memory.profile(max_tokens=200).text
    assert HEADING in text
    assert as_json(store, "profile", "--max-tokens", "200")["text"] == text
    assert run_command(store, "profile").stdout.strip() == text
    for most in ("0", "5"):
        shown = run_command(store, "profile", "--max-tokens", most).stdout
        assert f"1 found, none fits into {most} tokens" in shown
    server = Server(store, engine="local", embedder="hashed")
    try:
        with tiermem.open(server.url) as memory:
            found = memory.profile(max_tokens=200)
            assert (type(found), found.text, found.sources[0].speaker) == (tiermem.Context, text, "Ann")
    finally:
        server.stop()

"""The examples do what they say."""

import json
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

import tiermem

EXAMPLES = Path(__file__).parents[1] / "examples"
MEMORIES = Path(__file__).parent / "dialogue" / "memories"
ASKED = "What is my dog called?"


def example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / name))


def open_at(folder: Path, **options: Any) -> tiermem.Memory:
    return tiermem.open(folder / "memory", engine="local", embedder="hashed", **options)


def test_there_is_a_test_of_every_example() -> None:
    tested = {*Path(__file__).read_text().split('"'), "mcp_agent.py"}  # that one: tests/apps/test_mcp_wire.py
    frameworks = "".join(path.read_text() for path in Path(__file__).parent.glob("adapters/test_*.py"))
    others = {path.name for path in EXAMPLES.glob("*.py")} - tested
    assert {name for name in others if name not in frameworks} == set()


def lines_of(name: str) -> int:
    """Lines of code of an example: without its docstrings, and blank ones."""
    code = (EXAMPLES / name).read_text().split('"""')[::2]
    return sum(bool(line.strip()) for part in code for line in part.splitlines())


def test_a_chat_agent_in_30_lines_knows_what_was_said_in_another_run(tmp_path: Path) -> None:
    assert lines_of("chat.py") <= 30
    chat = example("chat.py")
    prompts: list[str] = []

    def scripted(prompt: str) -> str:
        prompts.append(prompt)
        return str(chat["by_rules"](prompt))

    with open_at(tmp_path) as memory:
        assert chat["reply"](memory, scripted, "My dog is called Biscuit.") == "I have not heard of that."
    with open_at(tmp_path) as memory:
        assert chat["reply"](memory, scripted, ASKED) == "My dog is called Biscuit."
        assert memory.stats().turns == 4
    assert "| user: My dog is called Biscuit." in prompts[-1]


@pytest.mark.anyio
async def test_a_chat_agent_that_awaits_does_the_same(tmp_path: Path) -> None:
    assert lines_of("chat_async.py") <= 40  # with two people at once
    chat = example("chat_async.py")
    async with await tiermem.AsyncMemory.open(
        tmp_path / "memory", engine="local", embedder="hashed"
    ) as memory:
        await chat["reply"](memory, chat["by_rules"], "My dog is called Biscuit.")
        assert await chat["reply"](memory, chat["by_rules"], ASKED) == "My dog is called Biscuit."


def chatgpt(folder: Path) -> Path:
    """A small export, as ChatGPT writes it."""

    def node(name: str, parent: str | None, role: str, words: str, at: float) -> dict[str, Any]:
        message = {"id": name, "author": {"role": role}, "create_time": at, "content": {"parts": [words]}}
        return {"id": name, "parent": parent, "children": [], "message": message}

    said = [
        node("m1", None, "user", "I want to plant tomatoes on the balcony.", 1715176560.0),
        node("m2", "m1", "assistant", "Basil would grow beside them.", 1715176620.0),
        node("m3", "m2", "user", "My balcony faces south.", 1715176680.0),
    ]
    chat = {"title": "Balcony", "conversation_id": "c1", "current_node": "m3"}
    (folder / "conversations.json").write_text(
        json.dumps([{**chat, "mapping": {one["id"]: one for one in said}}])
    )
    return folder / "conversations.json"


def test_ones_own_export_of_chatgpt_is_asked_offline(tmp_path: Path) -> None:
    own = example("own_chatgpt.py")
    with open_at(tmp_path) as memory:
        assert own["read_into"](memory, chatgpt(tmp_path)) == 3
        assert own["read_into"](memory, chatgpt(tmp_path)) == 0
        shown = own["answer_of"](memory, "What did I want to plant on the balcony?")
        assert "user, 2024-05-08: “I want to plant tomatoes on the balcony.”" in shown
        assert "Basil" not in shown


def test_a_coding_agent_stores_its_session_by_hooks_and_the_next_one_is_given_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    agent, store, repository = example("coding_agent.py"), tmp_path / "memory", tmp_path / "loom"
    (repository / ".git").mkdir(parents=True)
    open_at(tmp_path).close()
    assert agent["start_second_session"](store, repository) == ""
    agent["play_first_session"](store, repository)
    agent["wait_until_stored"](store)
    block = agent["start_second_session"](store, repository)
    (space,) = (one for one in tiermem.spaces(store) if one.startswith("loom-"))
    assert block.startswith(f'<tiermem-memory space="{space}">\n')
    assert "rejection of Bash to claude-code" in block
    assert [line for line in block.splitlines() if line.startswith("| ")] == [
        "| Start the server.",
        "| Not 8080, take 8081.",
    ]
    with tiermem.open(store, space=space, engine="local", read_only=True) as memory:
        assert memory.stats().turns == 4
    assert not (store / "spool" / "failures").exists()


def test_memory_is_measured_on_ones_own_logs(tmp_path: Path) -> None:
    measuring = example("evaluate_own_logs.py")
    with open_at(tmp_path) as memory:
        memory.add("My dog Biscuit is allergic to chicken.", speaker="Ann", said_at="2023-05-08T13:56")
        memory.flush()
        rows = measuring["evaluate"](
            memory,
            [
                {"question": "What is Biscuit allergic to?", "answer": "chicken", "words": "allergic"},
                {"question": "What is Biscuit allergic to?", "answer": "beef", "words": "beef"},
                {"question": "Which car did Ben buy?"},
            ],
        )
    assert [(row.found, row.right) for row in rows] == [
        (True, True),
        (False, False),
        (True, True),
    ]
    told = measuring["table"](rows)
    assert told.endswith("3 questions: found 67%, right 67%; 0 tokens of a model")


def test_what_mem0_held_is_moved_and_what_only_mem0_says_is_told(tmp_path: Path) -> None:
    moving = example("from_mem0.py")
    with open_at(tmp_path) as memory:
        moved = moving["move"](memory, MEMORIES / "mem0.json")
        assert (moved.said, moved.facts) == (2, 2)
        moving["move"](memory, MEMORIES / "mem0.json")
        assert memory.stats().turns == 4
        assert {unit.text for unit in memory.units() if unit.support == "worded"} == {
            "mem0: User's dog Biscuit is allergic to chicken",
            "mem0: Likes green tea",
        }


def test_a_service_keeps_its_many_users_apart(tmp_path: Path) -> None:
    application: Callable[..., Any] = example("service.py")["application"]
    served = application(tmp_path / "memory", most=2, embedder="hashed")

    async def use() -> None:
        transport = httpx.ASGITransport(app=served)
        async with (
            served.router.lifespan_context(served),
            httpx.AsyncClient(transport=transport, base_url="http://service") as client,
        ):

            async def as_user(user: str, method: str, path: str, **sent: Any) -> Any:
                reply = await client.request(method, path, headers={"X-User": user}, **sent)
                assert reply.status_code == 200, reply.text
                return reply.json()

            async def live(user: str, dog: str) -> None:
                assert (await as_user(user, "POST", "/say", json=f"My dog is called {dog}."))["new"] == 1

            dogs = {"ann": "Biscuit", "ben": "Pixel", "cat": "Rex", "dan": "Fido"}
            async with anyio.create_task_group() as group:
                for user, dog in dogs.items():
                    group.start_soon(live, user, dog)
            for user, dog in dogs.items():
                given = await as_user(user, "GET", "/ask", params={"question": ASKED})
                assert given["words"] == [f"My dog is called {dog}."]
            assert (await as_user("ann", "DELETE", "/me"))["turns"] == 1
            given = await as_user("ann", "GET", "/ask", params={"question": ASKED})
            assert given["words"] == []
            assert (await client.get("/ask", params={"question": ASKED})).status_code == 401
            refused = await client.post("/say", headers={"X-User": "ann"}, json={"role": "user"})
            assert refused.status_code == 400

    anyio.run(use)


def test_two_agents_share_a_project_and_nothing_that_they_do_not_give(tmp_path: Path) -> None:
    with open_at(tmp_path) as memory:
        heard = example("two_agents.py")["work"](memory)
    assert "The launch is on 3 June 2024." in heard.shared
    assert "The launch is on 3 June 2024." in heard.granted
    assert "June" not in heard.before + heard.withdrawn + heard.words


def test_an_agent_talks_on_forgets_nothing_and_shows_where_a_line_came_from(tmp_path: Path) -> None:
    agent = runpy.run_path(str(EXAMPLES / "agent.py"))
    prompts: list[str] = []

    def scripted(prompt: str) -> str:
        prompts.append(prompt)
        return "It is under the stairs, by the ladder." if agent["ASKED"] in prompt else "I see."

    with tiermem.open(tmp_path / "memory", engine="local", embedder="hashed", space="agent") as memory:
        happened = agent["live"](memory, scripted)
        answers = memory.answers()
    assert (happened.turns, len(prompts)) == (200, 101)
    assert happened.most_tokens <= 2_000
    assert happened.evicted > 50
    assert (happened.held_before, happened.held_after) == (False, True)
    assert "ladder under the stairs" in prompts[-1]
    assert happened.reply == "It is under the stairs, by the ladder."
    assert max(happened.weights) > 0
    assert happened.merged > 0
    assert (happened.said_by, happened.line) == ("Ann", "On day 0 I put the ladder under the stairs.")
    assert happened.intact
    assert answers == ()  # no question was asked of memory itself


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("agent.py", "the line: Ann: On day 0 I put the ladder under the stairs. (every hash holds: True)"),
        ("chat_async.py", "My dog is called Biscuit."),
        ("two_agents.py", "shared: Ann: The project is called Lighthouse.; The launch is on 3 June 2024."),
    ],
)
def test_an_example_runs_as_a_script_with_the_default_embedder(
    name: str, printed: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert printed in done.stdout


@pytest.mark.parametrize("name", ["evaluate_own_logs.py", "from_mem0.py", "mcp_agent.py", "own_chatgpt.py"])
def test_an_example_that_needs_arguments_says_which(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"usage: python examples/{name} ")

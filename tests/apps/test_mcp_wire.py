"""The server for agents as programs reach it: in a process of its own, by both transports, and by fuzzing."""

import json
import os
import random
import re
import runpy
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent, TextResourceContents
from typer.main import get_command

import tiermem
from tests.dialogue.mutations import mutated
from tiermem.apps.cli.app import app
from tiermem.apps.mcp import server
from tiermem.apps.mcp.stdio import check_line

EXAMPLES = Path(__file__).parents[2] / "examples"
SAID = "My dog Biscuit is allergic to chicken."
OPTIONS = ("--engine", "local")
ENVIRONMENT = {"TIERMEM_EMBEDDER": "hashed"}


def command(store: Path, *more: str) -> list[str]:
    return ["-m", "tiermem", "mcp", "--store", str(store), *OPTIONS, *more]


def over_stdio(store: Path) -> Any:
    return stdio_client(
        StdioServerParameters(
            command=sys.executable, args=command(store, "--as-user", "--stamps"), env=dict(ENVIRONMENT)
        )
    )


def free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over HTTP."""
    store, port = tmp_path_factory.mktemp("mcp") / "memory", free_port()
    with subprocess.Popen(  # our own program
        [sys.executable, *command(store, "--as-user", "--stamps", "--http", str(port))],
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        for _ in range(600):
            with closing(socket.socket()) as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
        process.terminate()
        process.wait(30)


def text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def every_tool(transport: Any) -> set[str]:
    """The names of the tools that were listed, each of which was called and did what it says."""
    called: set[str] = set()
    async with Client(transport) as client:

        async def call(tool: str, **arguments: Any) -> Any:
            called.add(tool)
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, text(result)
            return json.loads(text(result)) if text(result).startswith("{") else text(result)

        kept = await call("remember", fact=SAID, speaker="Ann", said_at="2023-05-08T13:56")
        assert SAID in await call("recall", question="What is Biscuit allergic to?")
        assert f"| Ann: {SAID}" in await call("profile")
        assert (await call("search", query="Biscuit"))["found"][0]["unit_id"] == kept["unit_id"]
        answer = await call("ask", question="What is Biscuit allergic to?")
        assert SAID in answer["answer"]
        page = answer["said"][0]["span"]["page_id"]
        assert SAID in await call("audit", answer_id=answer["answer_id"])
        assert SAID in await call("page", page_id=page)
        assert (await call("stats"))["turns"] == 1
        judged = await call("feedback", outcome="success", answer_id=answer["answer_id"])
        assert judged["credited"] == []  # it abstains: its lines are displayed, and not cited
        templates = (await client.list_resource_templates()).resource_templates
        assert {one.uri_template for one in templates} == {
            "tiermem://pages/{page_id}",
            "tiermem://answers/{answer_id}",
        }
        read = await client.read_resource(f"tiermem://pages/{page}")
        assert isinstance(read.contents[0], TextResourceContents)
        assert SAID in read.contents[0].text
        assert (await client.get_prompt("from_memory", {"question": "What?"})).messages
        assert "confirm=true" in await call("forget", page_id=page, reason="asked to")
        assert "Destroyed: 1 turn, " in await call("forget", page_id=page, reason="asked to", confirm=True)
        assert (await client.call_tool("page", {"page_id": "p1:nothing"})).is_error
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert called == listed
    return listed


@pytest.mark.timeout(300)
def test_every_tool_is_listed_and_called_over_standard_input_and_output(tmp_path: Path) -> None:
    assert len(anyio.run(every_tool, over_stdio(tmp_path / "memory"))) == 10


@pytest.mark.timeout(300)
def test_every_tool_is_listed_and_called_over_http(address: str) -> None:
    assert len(anyio.run(every_tool, address)) == 10


def test_a_connection_whose_headers_do_not_end_is_closed(address: str) -> None:
    port = int(address.split(":")[2].partition("/")[0])
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        connection.sendall(b"POST /mcp HTTP/1.1\r\nX-Name: ")
        assert connection.recv(12) == b"HTTP/1.1 408"


REQUESTS = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "fuzz", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
    {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": "recall", "arguments": {"question": "What is Biscuit allergic to?"}},
    },
    {"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": {"uri": "tiermem://pages/p1:x"}},
    {
        "jsonrpc": "2.0",
        "id": 5,
        "method": "prompts/get",
        "params": {"name": "from_memory", "arguments": {"question": "?"}},
    },
]


def damaged(count: int) -> list[bytes]:
    """Requests with something wrong with them, one a line."""
    chance = random.Random(7)
    found = []
    for _ in range(count):
        data = json.dumps(chance.choice(REQUESTS)).encode()
        found.append(mutated(chance, "request.json", data)[1].replace(b"\n", b" "))
    return found


@pytest.mark.timeout(300)
def test_damaged_messages_do_not_end_a_server_over_standard_input(tmp_path: Path) -> None:
    lines = [*damaged(60), *(json.dumps(request).encode() for request in REQUESTS)]
    done = subprocess.run(  # our own program
        [sys.executable, *command(tmp_path / "memory")],
        env={**os.environ, **ENVIRONMENT},
        input=b"\n".join(lines) + b"\n",
        capture_output=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stdout
    answered = [json.loads(line) for line in done.stdout.splitlines()]
    assert "recall" in {tool["name"] for one in answered for tool in one.get("result", {}).get("tools", ())}


UNREADABLE = [
    (b'{"jsonrpc":"2.0","id":50,"method":"ping","params":{"a":"\\ud800"}}', 50, -32700),
    (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":{"a":"\xff"}}', "a", -32700),
    (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', None, -32700),
    (b'{"jsonrpc":"2.0","id":"a\xff","method":"ping"}', None, -32700),
    (b'{"jsonrpc":"2.0","id":60,', None, -32700),
    (b"[" * 100_000, None, -32700),
    (b'{"id":' + b"9" * 5_000 + b"}", None, -32700),
    (b'{"jsonrpc":"1.0","id":70,"method":"ping"}', 70, -32600),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None, -32600),
    (b"[]", None, -32600),
    (b"null", None, -32600),
]


@pytest.mark.timeout(300)
def test_messages_that_cannot_be_read_are_answered_with_an_error(tmp_path: Path) -> None:
    lines = [b"", *(line for line, _, _ in UNREADABLE), *(json.dumps(one).encode() for one in REQUESTS)]
    requests = {1, 2, 3, 4, 5}
    with subprocess.Popen(  # our own program
        [sys.executable, *command(tmp_path / "memory")],
        env={**os.environ, **ENVIRONMENT},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n".join(lines) + b"\n")
        process.stdin.flush()
        answers: list[dict[str, Any]] = []
        while not requests <= {one["id"] for one in answers}:
            answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.wait(60) == 0
    refused = [(one["id"], one["error"]["code"]) for one in answers if one["id"] not in requests]
    assert refused == [given[1:] for given in UNREADABLE]


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":"\\ud83d\\ude00"}}',
        '{"jsonrpc":"2.0","id":"\u00e9","method":"ping"}'.encode(),
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}\r\n',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}',
    ],
)
def test_messages_that_can_be_read_get_no_error_of_their_own(line: bytes) -> None:
    assert check_line(line) is None


@pytest.mark.timeout(300)
def test_damaged_messages_over_http_are_refused_and_never_a_fault_of_the_server(address: str) -> None:
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    statuses = []
    with httpx.Client(headers=headers, timeout=60) as client:
        for body in damaged(60):
            reply = client.post(address, content=body)
            assert "Traceback" not in reply.text
            assert str(Path(tiermem.__file__).parent) not in reply.text
            statuses.append(reply.status_code)
    assert max(statuses) < 500
    assert 400 in statuses


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8"), max_size=40)
    | st.sampled_from(["2024-05-08", "units", "success", "main", "p1:", "\x00", "../..", "x" * 5_000]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
Called = Callable[[str, dict[str, Any]], CallToolResult]


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Called, dict[str, list[str]]]]:
    """What calls a tool of a server, and the names of the arguments of each."""

    def entered(portal: BlockingPortal, manager: AbstractAsyncContextManager[Any]) -> Any:
        return portal.wrap_async_context_manager(manager)

    async def opened() -> tiermem.AsyncMemory:
        store = tmp_path_factory.mktemp("fuzzed") / "memory"
        return await tiermem.AsyncMemory.open(store, engine="local", embedder="hashed")

    with start_blocking_portal() as portal, entered(portal, portal.call(opened)) as memory:
        portal.call(lambda: memory.add(SAID, speaker="Ann"))
        with entered(portal, Client(server(memory))) as client:
            listed = portal.call(client.list_tools).tools
            names = {tool.name: list(tool.input_schema["properties"]) for tool in listed}
            yield (lambda name, arguments: portal.call(client.call_tool, name, arguments)), names


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_a_tool_is_given_it_answers_or_says_what_is_wrong(
    called: tuple[Called, dict[str, list[str]]], data: st.DataObject
) -> None:
    call, names = called
    tool = data.draw(st.sampled_from(sorted(names)))
    known = st.sampled_from(names[tool]) if names[tool] else st.text(max_size=5)
    arguments = data.draw(st.dictionaries(known | st.text(max_size=5), values, max_size=5))
    result = call(tool, arguments)
    if result.is_error:
        assert text(result).removeprefix(f"Error executing tool {tool}")  # what else it is given, it crashed
        assert "Traceback" not in text(result)


@pytest.mark.anyio
async def test_what_an_agent_remembers_is_its_own(tmp_path: Path) -> None:
    store = tmp_path / "memory"
    async with await tiermem.AsyncMemory.open(store, engine="local", embedder="hashed") as memory:
        planner, writer = (server(memory.as_agent(name)) for name in ("planner", "writer"))
        async with Client(planner) as one, Client(writer) as other, Client(server(memory)) as owner:
            kept = await one.call_tool("remember", {"fact": "The vault opens with a fern."})
            assert not kept.is_error
            question = {"question": "What does the vault open with?"}
            assert "fern" in text(await one.call_tool("recall", question))
            assert "fern" in text(await owner.call_tool("recall", question))
            assert "fern" not in text(await other.call_tool("recall", question))
            page = json.loads(text(await one.call_tool("ask", question)))["said"][0]["span"]["page_id"]
            asked = {"page_id": page, "reason": "mine", "confirm": True}
            assert (await other.call_tool("forget", asked)).is_error
            assert not (await one.call_tool("forget", asked)).is_error
            assert "fern" not in text(await owner.call_tool("recall", question))


@pytest.mark.timeout(300)
def test_an_agent_loop_remembers_what_was_said_to_another_process(tmp_path: Path) -> None:
    agent = runpy.run_path(str(EXAMPLES / "mcp_agent.py"))
    decides, asked = agent["Decides"], []

    def scripted(messages: list[dict[str, str]], tools: list[Any]) -> Any:
        """A model that notes what it is told, looks up what it is asked, and repeats what it finds."""
        asked.append([tool.name for tool in tools])
        last = messages[-1]["content"]
        if messages[-1]["role"] == "tool":
            return decides(says=last)
        if last.endswith("?"):
            return decides(tool="recall", arguments={"question": last})
        return decides(tool="remember", arguments={"fact": last})

    async def run(said: str) -> str:
        async with Client(over_stdio(tmp_path / "memory")) as client:
            return str(await agent["converse"](client, scripted, said))

    assert "shed" in anyio.run(run, "The spare key hangs in the shed.")
    assert "user: The spare key hangs in the shed." in anyio.run(run, "Where is the spare key?")
    assert len(asked) == 4


@pytest.mark.timeout(300)
def test_what_the_guide_has_one_paste_starts_the_server() -> None:
    guide = (EXAMPLES.parent / "docs" / "guide" / "mcp.md").read_text()
    pasted = [json.loads(block) for block in re.findall(r"```text\n(\{.*?)```", guide, re.DOTALL)]
    servers = [one.get("mcpServers") or one["servers"] for one in pasted]
    added = re.findall(r"^claude mcp add tiermem -- (?:uvx --from \S+ )?\S+ (.*)$", guide, re.MULTILINE)
    args = [*(one["tiermem"]["args"] for one in servers), *(line.split() for line in added)]
    assert len(args) == 5
    program = get_command(app)
    for words in args:
        assert words[0] == "mcp"
        program.commands["mcp"].make_context("mcp", words[1:])  # type: ignore[attr-defined]

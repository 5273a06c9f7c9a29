"""An agent whose memory is a server of the Model Context Protocol: it remembers from one run to the next.

    python examples/mcp_agent.py memory "The spare key hangs in the shed."
    python examples/mcp_agent.py memory "Where is the spare key?"

Each run is a process of its own, and so is each server. In place of a model there are rules; a model decides
in the same place, from the same messages and the same list of tools.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import TextContent, Tool


@dataclass
class Decides:
    """What a model decides: to call a tool, or to say something."""

    says: str = ""
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)


Message = dict[str, str]
Model = Callable[[Sequence[Message], Sequence[Tool]], Decides]
MOST_CALLS = 5


def by_rules(messages: Sequence[Message], tools: Sequence[Tool]) -> Decides:
    """In place of a model: what is stated is remembered, what is asked is looked up, what came is told."""
    said, last = messages[0]["content"], messages[-1]
    known = {tool.name for tool in tools}
    if last["role"] == "tool":
        return Decides(says=f"Memory says: {last['content']}")
    if said.endswith("?") and "ask" in known:
        return Decides(tool="ask", arguments={"question": said})
    return Decides(tool="remember", arguments={"fact": said})


async def converse(client: Client, model: Model, said: str) -> str:
    """One exchange: the model calls tools until it has something to say."""
    tools = (await client.list_tools()).tools
    messages = [{"role": "user", "content": said}]
    for _ in range(MOST_CALLS):
        decided = model(messages, tools)
        if not decided.tool:
            return decided.says
        result = await client.call_tool(decided.tool, decided.arguments)
        content = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
        messages.append({"role": "assistant", "content": json.dumps([decided.tool, decided.arguments])})
        messages.append({"role": "tool", "content": content})
    return "I called too many tools."


async def main(store: str, said: str) -> None:
    """Start the server, say one thing, print what comes back."""
    server = StdioServerParameters(
        command=sys.executable,
        # The rules above pass on the words of the user; what a model writes is the assistant's.
        args=["-m", "tiermem", "mcp", "--store", store, "--engine", "local", "--as-user"],
    )
    async with Client(stdio_client(server)) as client:
        print(await converse(client, by_rules, said))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print("usage: python examples/mcp_agent.py MEMORY WORDS", file=sys.stderr)
        sys.exit(2)
    anyio.run(main, sys.argv[1], sys.argv[2])

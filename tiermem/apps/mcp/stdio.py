"""Standard input and output with an answer to every message, also to one that cannot be read."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    JSONRPC_VERSION,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    RequestId,
    jsonrpc_message_adapter,
)

_SURROGATE = re.compile("[\ud800-\udfff]")


@asynccontextmanager
async def open_stdio() -> AsyncIterator[tuple[Any, Any]]:
    """Open the read and write streams of a server; the SDK's own drop lines that are no messages.

    Such a line is answered with an error, and the server never sees it.
    """
    refusals, refused = anyio.create_memory_object_stream[JSONRPCError]()
    lines = cast("anyio.AsyncFile[str]", _MessageLines(anyio.wrap_file(sys.stdin.buffer), refusals))
    async with stdio_server(stdin=lines) as (read, write), anyio.create_task_group() as tasks:
        tasks.start_soon(_send_refusals, refused, write)
        yield read, write
        tasks.cancel_scope.cancel()


class _MessageLines:
    """The lines that are messages; of each other one a refusal is sent."""

    def __init__(self, lines: AsyncIterable[bytes], refusals: MemoryObjectSendStream[JSONRPCError]) -> None:
        self._lines = lines
        self._refusals = refusals

    async def __aiter__(self) -> AsyncIterator[str]:
        async with self._refusals:
            async for line in self._lines:
                if not line.strip():
                    continue
                refusal = check_line(line)
                if refusal is None:
                    yield line.decode()
                else:
                    await self._refusals.send(refusal)


async def _send_refusals(refused: MemoryObjectReceiveStream[JSONRPCError], write: Any) -> None:
    async with refused:
        async for refusal in refused:
            await write.send(SessionMessage(refusal))


def check_line(line: bytes) -> JSONRPCError | None:
    """Return the error that answers a line, or `None` if the line is a message.

    The error has the id of the request if that can be read.
    """
    try:
        message = jsonrpc_message_adapter.validate_json(line.decode(), by_name=False)
    except UnicodeDecodeError:
        code, reason = PARSE_ERROR, "the message is not valid UTF-8"
    except ValueError:
        code, reason = _explain_line(line)
    else:
        if not isinstance(message, JSONRPCNotification) or "id" not in json.loads(line):
            return None
        code, reason = INVALID_REQUEST, "the id of the message is neither a text nor an integer"
    error = ErrorData(code=code, message=reason)
    return JSONRPCError(jsonrpc=JSONRPC_VERSION, id=_read_request_id(line), error=error)


def _explain_line(line: bytes) -> tuple[int, str]:
    """Return the error code and the reason for which a line of UTF-8 is no message."""
    try:
        message = json.loads(line)
        json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return PARSE_ERROR, "the message has a lone surrogate, which is no character"
    except (ValueError, RecursionError):
        return PARSE_ERROR, "the message is not valid JSON"
    return INVALID_REQUEST, "the message is not valid JSON-RPC 2.0"


def _read_request_id(line: bytes) -> RequestId | None:
    """Return the id in a line that may be damaged elsewhere; `None` if it has none."""
    try:
        message = json.loads(line.decode(errors="surrogateescape"))
    except (ValueError, RecursionError):
        return None
    request_id = message.get("id") if isinstance(message, dict) else None
    if isinstance(request_id, str):
        return None if _SURROGATE.search(request_id) else request_id
    return request_id if isinstance(request_id, int) and not isinstance(request_id, bool) else None

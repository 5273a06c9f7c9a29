"""The OpenAPI 3.1 document of a server, made of the table of operations."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any, get_args

import tiermem
from tiermem.apps.http.service import DEFAULT_SPACE, OPERATIONS
from tiermem.wire import Right, WireOperation, summary
from tiermem.wire.problems import MEDIA_TYPE
from tiermem.wire.schemas import schemas

_SPACE = {
    "name": "space",
    "in": "query",
    "description": "Whose memory.",
    "schema": {"type": "string", "default": DEFAULT_SPACE},
}
_AGENT = {
    "name": "agent",
    "in": "query",
    "description": "As which agent, which sees and adds its own; as the owner where none is named. A key "
    "that is an agent's own is that agent's without it, and no other's.",
    "schema": {"type": "string", "minLength": 1},
}
_ONCE = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A name of this request: sent again under it, it is not done again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}
_STATUSES = {
    "400": "What was sent cannot be used; the detail names it.",
    "401": "No key, or none that is known.",
    "403": "The key does not allow it.",
    "404": "There is no such space, page, unit or answer.",
    "409": "It contradicts what is stored.",
    "413": "More than is taken at once.",
    "415": "The body is not `application/json`.",
    "429": "More than may be asked for in that time; Retry-After says when to go on.",
    "default": "The server or what it depends on is at fault.",
}
_PROBLEM_FIELDS = ("type", "title", "status", "detail", "next", "error")
_PROBLEM = {
    "type": "object",
    "description": "What went wrong (RFC 9457), and what to do next.",
    "properties": {name: {"type": "integer" if name == "status" else "string"} for name in _PROBLEM_FIELDS},
    "required": list(_PROBLEM_FIELDS),
}
_OPENED = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in ("space", "engine", "version")},
        "agent": {"type": ["string", "null"]},
        "may": {"type": "array", "items": {"enum": list(get_args(Right))}},
    },
    "required": ["space", "engine", "version", "agent", "may"],
}
_STREAM = (
    "Where the operation tells of them, `progress` events with the numbers `done` and `known`, or, of a "
    "question, `step` events, each an `AskStep`; then one `result` or one `problem`."
)


@cache
def document() -> dict[str, Any]:
    """The document, for the table as it is in this version."""
    bodies, results, shared = schemas(OPERATIONS.values())
    paths: dict[str, Any] = {
        f"/v1/{one.name}": {"post": _operation(one, bodies[one.name], results[one.name])}
        for one in OPERATIONS.values()
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "TierMem",
            "version": tiermem.__version__,
            "description": "A memory agents can prove. Every operation is one method of `tiermem.Memory`.",
        },
        "paths": paths | _other_paths(),
        "components": {
            "schemas": {**shared, "Problem": _PROBLEM},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"key": []}],
    }


@cache
def encode_document(*, is_open: bool) -> bytes:
    """Return the document as JSON, encoded once: anybody may ask for it. `is_open`: no key is needed."""
    needs: list[dict[str, list[str]]] = [{"key": []}]
    described = {**document(), "security": [*needs, {}] if is_open else needs}
    return json.dumps(described, ensure_ascii=False, separators=(",", ":")).encode()


def _operation(operation: WireOperation, body: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    parameters = [_SPACE, _AGENT]
    if operation.writes and not operation.makes_file:
        parameters.append(_ONCE)
    return {
        "operationId": operation.name,
        "summary": summary(operation),
        "tags": [operation.right],
        "parameters": parameters,
        "requestBody": {
            "required": bool(body["required"]),
            "content": {"application/json": {"schema": body}},
        },
        "responses": {"200": _success_response(operation, result), **_problems(_STATUSES)},
    }


def _success_response(operation: WireOperation, result: dict[str, Any]) -> dict[str, Any]:
    if operation.makes_file:
        headers = {"TierMem-Result": {"description": "What it is, as JSON.", "schema": {"type": "string"}}}
        file = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        return {"description": "The file.", "headers": headers, "content": file}
    stream = {"schema": {"type": "string", "description": _STREAM}}
    return {
        "description": "What it gives.",
        "content": {"application/json": {"schema": result}, "text/event-stream": stream},
    }


def _problems(statuses: Iterable[str]) -> dict[str, Any]:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": _STATUSES[status], "content": content} for status in statuses}


def _other_paths() -> dict[str, Any]:
    """What is no method of a memory."""
    create = {
        "name": "create",
        "in": "query",
        "description": "Make the space where there is none.",
        "schema": {"type": "boolean", "default": False},
    }
    names = {"type": "array", "items": {"type": "string"}}
    return {
        "/v1/open": {
            "post": {
                "operationId": "open",
                "summary": "A space: its name, who reasons, which version serves it, what the key may do.",
                "parameters": [_SPACE, _AGENT, create],
                "responses": {"200": _answer(_OPENED), **_problems(_STATUSES)},
            }
        },
        "/v1/spaces": {"get": _get("spaces", "The spaces that the key may name.", names)},
        "/health": {"get": _get("health", "Whether the server runs.", {"type": "object"}, security=[])},
        "/ready": {"get": _get("ready", "Whether it can be used.", {"type": "object"}, security=[])},
        "/metrics": {"get": _get("metrics", "Counts for Prometheus.", {"type": "string"}, "text/plain")},
    }


def _get(name: str, what: str, schema: dict[str, Any], media: str = "", **more: Any) -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": what,
        "responses": {"200": _answer(schema, media), **_problems(("401", "403", "429", "default"))},
        **more,
    }


def _answer(schema: dict[str, Any], media: str = "") -> dict[str, Any]:
    return {"description": "What it is.", "content": {media or "application/json": {"schema": schema}}}

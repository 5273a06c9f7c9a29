"""Finds the error that proxies and routers put into the body of a response of status 200."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_LONGEST = 100_000
"""Bytes of a body that may be an error; a longer one is a reply."""
_REJECTED = 400
"""The status of an error that states no kind: another form of the request may do."""
_STATUSES: Mapping[str, int] = {
    "invalid_request_error": 400,
    "invalid_argument": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "unauthenticated": 401,
    "insufficient_credits": 402,
    "billing_error": 402,
    "permission_error": 403,
    "permission_denied": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "not_found": 404,
    "timeout_error": 408,
    "request_timeout": 408,
    "request_too_large": 413,
    "insufficient_quota": 429,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "resource_exhausted": 429,
    "too_many_requests": 429,
    "api_error": 500,
    "internal": 500,
    "internal_error": 500,
    "server_error": 500,
    "overloaded_error": 503,
    "service_unavailable": 503,
    "unavailable": 503,
    "deadline_exceeded": 504,
}
"""HTTP statuses of what vendors name a kind of error in `code`, `type` or `status`."""


def stated_error(body: bytes) -> tuple[int, bytes] | None:
    """The HTTP status that a body of status 200 should have had, and the body as other endpoints send it.

    `None` for a body that is no error. An error that names no kind counts as a rejected request.
    """
    if len(body) > _LONGEST or b'"error"' not in body:
        return None
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        return None
    error = _error_in(reply) if isinstance(reply, dict) else None
    if error is None:
        return None
    stated = [one.get(key) for one in (error, reply) for key in ("code", "status", "status_code", "type")]
    status = next((status for one in stated if (status := _status_of(one)) is not None), _REJECTED)
    return status, json.dumps({"error": error}).encode()


def _error_in(reply: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The error of a reply that has neither words nor vectors; `None` if it states none."""
    choices = reply.get("choices")
    if not choices and not reply.get("data"):
        error = reply.get("error") or (reply if reply.get("object") == "error" else None)
    elif isinstance(choices, list) and isinstance(choices[0], dict) and not _has_words(choices[0]):
        error = choices[0].get("error")
    else:
        error = None
    if isinstance(error, str):
        return {"message": error} if error.strip() else None
    return error if isinstance(error, dict) else None


def _has_words(choice: Mapping[str, Any]) -> bool:
    message = choice.get("message")
    return isinstance(message, dict) and bool(message.get("content") or message.get("refusal"))


def _status_of(stated: object) -> int | None:
    """The status that a code, a type or a status of an error names: an HTTP status, or a known word."""
    text = str(stated).strip().lower() if isinstance(stated, int | str) else ""
    if text.isascii() and text.isdecimal():
        return int(text) if len(text) == len("400") and text[0] in "45" else None
    return _STATUSES.get(text)

"""The HTTP client that endpoints are asked through: the vendor's, with a hand on everything that comes back.

A reply is read up to a limit and unpacked here while it is read. A redirect is followed where it stays at
the same address. Of an error, status, words and `Retry-After` come through; keys are taken out before the
vendor's client makes its exceptions of them.
"""

from __future__ import annotations

import json
import zlib
from contextlib import aclosing
from typing import Any
from urllib.parse import unquote, urlsplit

from openai import DefaultAsyncHttpxClient

from tiermem.errors import MalformedReply, ModelRefused
from tiermem.llm.redaction import Redaction, shown_url
from tiermem.llm.stated_error import stated_error

_EMBEDDINGS = 8
"""Embeddings of a batch may be so many times as long as another reply."""
_MOST_REDIRECTS = 5
"""Requests at most for one call, where each is answered by a redirect."""


class GuardedClient(DefaultAsyncHttpxClient):
    """Asks one address. Raises `MalformedReply` for a reply over the limit, `ModelRefused` for a redirect
    that leads elsewhere; the dialogue and the key are then not sent there.
    """

    def __init__(self, base_url: str | None, redaction: Redaction, *, reply_mb: float) -> None:
        super().__init__(auth=_login(base_url), headers={"Accept-Encoding": "gzip"})
        self._name = shown_url(base_url) if base_url is not None else "OpenAI"
        self._redaction = redaction
        self._reply_mb = reply_mb

    async def send(self, request: Any, **given: Any) -> Any:
        """The response, read whole; `given` as the vendor's client gives it."""
        for _ in range(_MOST_REDIRECTS):
            response = await super().send(request, **(given | {"stream": True, "follow_redirects": False}))
            try:
                if response.next_request is None:
                    return await self._read_response(response)
                request = self._follow_redirect(request, response)
            finally:
                await response.aclose()
        raise ModelRefused(f"{self._name} redirects in a circle; correct base_url")

    async def _read_response(self, response: Any) -> Any:
        """The response with its body, its status, and how long it asks to be left alone.

        The status is the one that the body states where that is an error.
        """
        body = await self._read(response)
        status = response.status_code
        stated = stated_error(body) if response.is_success else None
        if stated is not None:
            status, body = stated
        if stated is not None or not response.is_success:
            body = self._error(body)
        rest = response.headers.get("retry-after")
        return type(response)(
            status,
            headers={} if rest is None else {"Retry-After": self._redaction.in_error(rest)},
            content=body,
            request=response.request,
        )

    async def _read(self, response: Any) -> bytes:
        megabytes = self._reply_mb
        if response.request.url.path.endswith("/embeddings"):
            megabytes *= _EMBEDDINGS
        limit = int(megabytes * 1_000_000)
        packing = response.headers.get("content-encoding", "identity").strip().lower()
        if packing not in ("identity", "", "gzip", "x-gzip"):
            raise MalformedReply(f"{self._name} packed its reply, and not with gzip as it was asked to")
        unpacker = zlib.decompressobj(wbits=31) if "gzip" in packing else None
        body, taken = bytearray(), 0
        async with aclosing(response.aiter_raw()) as chunks:
            async for chunk in chunks:
                taken += len(chunk)
                try:
                    body += unpacker.decompress(chunk, limit + 1 - len(body)) if unpacker else chunk
                except zlib.error as error:
                    raise MalformedReply(f"{self._name} packed its reply wrongly: {error}") from error
                if max(taken, len(body)) > limit:
                    raise MalformedReply(
                        f"the reply of {self._name} is longer than {megabytes:g} MB, and was not read on; "
                        "model_reply_mb (TIERMEM_MODEL_REPLY_MB) allows more"
                    )
        return bytes(body)

    def _error(self, body: bytes) -> bytes:
        """The body of an error without keys; as JSON where it is, so that no escape hides one."""
        try:
            return json.dumps(self._redaction.in_error_json(json.loads(body))).encode()
        except (ValueError, RecursionError):
            return self._redaction.in_error(body.decode(errors="replace")).encode(errors="replace")

    def _follow_redirect(self, request: Any, response: Any) -> Any:
        """The request as it goes on, when it stays the same request to the same address."""
        onward = response.next_request
        here, there = request.url, onward.url
        if not same_address(here, there):
            address = self._redaction.in_error(f"{there.scheme}://{there.netloc.decode('ascii', 'replace')}")
            raise ModelRefused(
                f"{self._name} redirects to {address!r}, which is another address: nothing was sent there; "
                "if it is the right one, give it as base_url"
            )
        if onward.method != request.method or self._redaction.in_error(str(there)) != str(there):
            raise ModelRefused(
                f"{self._name} redirects ({response.status_code}) in a way that is not followed; "
                "correct base_url"
            )
        return onward


def address_of(base_url: str | None) -> str | None:
    """The URL without user and password, which are sent as a header and are in no log of URLs."""
    if base_url is None:
        return None
    parts = urlsplit(base_url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _login(base_url: str | None) -> tuple[str, str] | None:
    parts = urlsplit(base_url or "")
    if parts.username is None:
        return None
    return unquote(parts.username), unquote(parts.password or "")


def same_address(here: Any, there: Any) -> bool:
    """Whether scheme, host and port are the same, or only `http` became `https` at the usual ports."""
    if (here.scheme, here.host, here.port) == (there.scheme, there.host, there.port):
        return True
    secured = (here.scheme, here.port, there.scheme, there.port) == ("http", None, "https", None)
    return secured and bool(here.host == there.host)

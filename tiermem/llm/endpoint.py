"""Where models are served, what they cost, and how retry they are asked."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from tiermem.errors import InvalidInput
from tiermem.llm.redaction import NO_KEY, Redaction, secrets_of, shown_url
from tiermem.model import Usage


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Endpoint:
    """A model at an OpenAI-compatible address; `base_url=None` is OpenAI's own.

    Raises `InvalidInput` for what could never work. The environment's `OPENAI_API_KEY` is used for
    OpenAI's own address only: another server has no business with it. Nothing it is shown as tells the
    key, or a user and password in `base_url`.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = None

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise InvalidInput("the model name is empty")
        if self.base_url is not None and not self.base_url.startswith(("http://", "https://")):
            raise InvalidInput(f"base_url {shown_url(self.base_url)!r} must start with http:// or https://")
        if self.base_url is not None and not _is_url(self.base_url):
            raise InvalidInput(f"base_url {shown_url(self.base_url)!r} is no URL")
        if self.key is None:
            raise InvalidInput(
                f"no API key for {self.model!r}: pass api_key or set OPENAI_API_KEY, or give the base_url "
                "of a server that needs none"
            )
        if not self.key or not self.key.isascii() or any(c.isspace() for c in self.key):
            raise InvalidInput(f"the API key for {self.model!r} is empty or holds characters no key has")

    @property
    def key(self) -> str | None:
        """The key that is sent."""
        if self.api_key is not None:
            return self.api_key
        return os.environ.get("OPENAI_API_KEY") if self.base_url is None else NO_KEY

    @property
    def address(self) -> tuple[str | None, str | None]:
        """What tells connections apart."""
        return self.base_url, self.key

    def redaction(self) -> Redaction:
        """Takes what is secret about this endpoint out of what it says."""
        return Redaction((self.key, *secrets_of(self.base_url)))

    def __str__(self) -> str:
        return f"{self.model!r} at {shown_url(self.base_url) if self.base_url else 'OpenAI'}"

    def __repr__(self) -> str:
        return f"Endpoint({self})"


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Price per million tokens, in any currency; `cached` input costs like other input unless given."""

    input: float
    output: float = 0.0
    cached: float | None = None

    def __post_init__(self) -> None:
        """Refuse a price that is negative or not finite: no limit of cost would hold."""
        for price in (self.input, self.output, self.cached or 0.0):
            if not 0 <= price < math.inf:
                raise InvalidInput(f"a price must be a number from 0 up, not {price!r}")

    def cost_of(self, usage: Usage) -> float:
        """What this usage costs."""
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input_tokens - usage.cached_tokens + usage.embedding_tokens
        return (fresh * self.input + usage.cached_tokens * cached + usage.output_tokens * self.output) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """How retry a model is asked. Times in seconds.

    `timeout` bounds one attempt, `deadline` all attempts of a call with the waits between them (not
    the wait for one of the `concurrency` places); `None` for no such bound. Waits double from
    `first_wait` up to `longest_wait`, with jitter, on top of what `Retry-After` asks for. `reply_mb` is how
    many megabytes of a reply are read, unpacked; embeddings may take eight times as many.
    """

    timeout: float = 60.0
    deadline: float | None = 240.0
    attempts: int = 6
    first_wait: float = 0.5
    longest_wait: float = 30.0
    concurrency: int = 8
    embedding_batch: int = 256
    reply_mb: float = 4.0

"""What an endpoint understands, found out by asking: endpoints differ in formats and parameter names.

A request that is rejected is put in the next simpler format; the one that worked is remembered per
model. Every step is strictly simpler, so this ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from tiermem.llm.interface import Call

Format = Literal["json_schema", "json_object", "text"]

_SIMPLER: dict[Format, Format] = {"json_schema": "json_object", "json_object": "text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFormat:
    """Which optional parts of the chat protocol are used."""

    format: Format = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True

    def parameters(self, call: Call) -> dict[str, Any]:
        """The request parameters of a call, apart from the model."""
        parameters: dict[str, Any] = {
            "messages": [{"role": message.role, "content": message.content} for message in call.messages],
            self.limit: call.max_tokens,
        }
        if self.temperature:
            parameters["temperature"] = call.temperature
        if call.schema is not None and self.format == "json_object":
            parameters["response_format"] = {"type": "json_object"}
        if call.schema is not None and self.format == "json_schema":
            schema = {"name": call.schema.get("title", "Reply"), "schema": dict(call.schema), "strict": True}
            parameters["response_format"] = {"type": "json_schema", "json_schema": schema}
        return parameters

    def simpler(self, complaint: str, *, wants_json: bool) -> RequestFormat | None:
        """What to try after a request was rejected with `complaint`; `None` when nothing is left.

        Complaints about formats have no common wording, so any other rejection tries a simpler format.
        """
        if self.limit == "max_tokens" and "max_completion_tokens" in complaint:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in complaint:
            return replace(self, temperature=False)
        if wants_json and self.format in _SIMPLER:
            return replace(self, format=_SIMPLER[self.format])
        return None

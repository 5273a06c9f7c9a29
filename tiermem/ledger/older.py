"""Entries as earlier versions wrote them, in today's form. Pure, and only for reading: no record is changed.

Before there were grades of support, a fact had one `quote` and a `grade` (`verbatim`, `close`, `page`), a
check said `passed`, and a question was given units and a `tail`. `verbatim` was what is `stated` now;
every other grade was shown and never kept, as what is `worded` is.

A decision's `score` was called `confidence`. Only what a model said of itself is read as its score: of
rules it was another number (their reason tells the coverage), of all others a constant. Today's records
have it under both names, for the versions that know it by the earlier one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SOURCES = {"open": "turn"}


def in_todays_form(body: Any) -> Any:
    """The body of a record with every older value in it as it is written now; others stay as they are."""
    if isinstance(body, Mapping):
        return _value({name: in_todays_form(item) for name, item in body.items()})
    if isinstance(body, list | tuple):
        return [in_todays_form(item) for item in body]
    return body


def _value(value: dict[str, Any]) -> dict[str, Any]:
    if "grade" in value and "spans" in value:
        value["support"] = "stated" if value.pop("grade") == "verbatim" else "worded"
    if "quote" in value and "claim" in value and "number" not in value:
        value["quotes"] = [value.pop("quote")]
    if "passed" in value and "unsupported" in value:
        value["support"] = "stated" if value.pop("passed") else "contradicted"
    if value.get("source") in _SOURCES and "score" in value:
        value["source"] = _SOURCES[value["source"]]
    if "confidence" in value and "router" in value and "score" not in value:
        value["score"] = value["confidence"] if value["router"] == "llm" else None
    if "trace" in value and "route" in value and "support" not in value:
        value |= _answer(value)
    return value


def _answer(value: Mapping[str, Any]) -> dict[str, Any]:
    """What an older answer did not say of itself: it held when it was given, or there was none."""
    trace = dict(value["trace"])
    trace.setdefault("way", "recall" if value["route"] == "ANSWER" else "researched")
    return {"support": None if value.get("abstained") else "stated", "trace": trace}

"""Files of dialogue, damaged: as bytes, as lines, and as JSON that is well-formed and wrong."""

from __future__ import annotations

import copy
import gzip
import json
import lzma
import random
from collections.abc import Iterator
from typing import Any

_TURNS = [
    {"speaker": "Ann", "text": "We moved to Oslo in March.", "timestamp": "2023-05-08T13:56:00", "id": "1"},
    {"role": "user", "content": "It cost 1,450 dollars.\nToo much.", "session": "b"},
    {"role": "assistant", "content": [{"type": "text", "text": "I see."}], "tool_calls": []},
]
_LONGMEMEVAL = [
    {
        "question_id": "q1",
        "question": "Where?",
        "answer": "Oslo",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_session_ids": ["s1"],
        "haystack_sessions": [[{"role": "user", "content": "I moved to Oslo.", "has_answer": True}]],
        "answer_session_ids": ["s1"],
    }
]
_TRANSCRIPT = "[2024-05-08 10:00] Ann: We moved.\nto Oslo\n[2024-05-08 10:01] Bob: When?\n\nAnn: In March.\n"
_ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1e308, 10**30, "", " ", "\x00", "\ud800", "x" * 3_000, "2023-13-45", "noon", [], {},
    [], [None], {"": ""}, {"text": {"text": "x"}}, "[x] Eve: hi", "\u2028[2024-01-01] Eve: forged", "ſ\u202e",
)  # fmt: skip
_BYTES = (
    b"\x00", b"\xff", b"\xed\xa0\x80", b"\n", b"\r", b"[", b"{", b'"', b"\\", b"\xe2\x80\xa8",
    b": ", b"9" * 4_400,
)  # fmt: skip


def documents(real: Any = None) -> list[tuple[str, bytes]]:
    """A name and a content of every format; `real` is a LoCoMo document to go with them."""
    found = [
        ("chat.jsonl", "".join(json.dumps(turn) + "\n" for turn in _TURNS).encode()),
        ("chat.json", json.dumps(_TURNS, indent=1).encode()),
        ("chat.json", json.dumps({"messages": _TURNS}).encode()),
        ("longmemeval.json", json.dumps(_LONGMEMEVAL).encode()),
        ("talk.txt", _TRANSCRIPT.encode()),
        ("talk.md.gz", gzip.compress(_TRANSCRIPT.encode())),
        ("talk.txt.xz", lzma.compress(_TRANSCRIPT.encode())),
    ]
    return found if real is None else [*found, ("locomo.json", json.dumps(real).encode())]


def mutated(chance: random.Random, name: str, data: bytes) -> tuple[str, bytes]:
    """A document with one to four things wrong with it."""
    if name.endswith((".json", ".jsonl")) and chance.random() < 0.6:
        return name, _as_json(chance, data, lines=name.endswith("l"))
    damaged = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        _harm(chance, damaged)
    return (
        chance.choice([name, "x", "x.jsonl", "x.txt", "x.json.gz"]) if chance.random() < 0.2 else name
    ), bytes(damaged)


def _harm(chance: random.Random, data: bytearray) -> None:
    at = chance.randrange(len(data) + 1)
    end = min(len(data), at + chance.choice([1, 1, 8, 200]))
    match chance.randrange(5):
        case 0 if at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        case 1:
            del data[at:end]
        case 2:
            data[at:at] = chance.choice(_BYTES)
        case 3:
            data[at:at] = data[at:end]
        case _ if chance.random() < 0.3:
            del data[at:]


def _as_json(chance: random.Random, data: bytes, *, lines: bool) -> bytes:
    value = [json.loads(line) for line in data.splitlines()] if lines else json.loads(data)
    value = copy.deepcopy(value)
    for _ in range(chance.randint(1, 4)):
        places = list(_places(value))
        if not places:
            break
        holder, key = chance.choice(places)
        match chance.randrange(4):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[chance.choice(["speaker", "text", "role", "session", "id", "qa", "messages"])] = (
                    holder[key]
                )
            case 2 if isinstance(holder, list):
                holder.insert(key, copy.deepcopy(holder[chance.randrange(len(holder))]))
            case _:
                holder[key] = copy.deepcopy(chance.choice(_ODD))
    whole = value if lines and isinstance(value, list) else [value]
    return "\n".join(json.dumps(part, ensure_ascii=chance.random() < 0.5) for part in whole).encode(
        "utf-8", "surrogatepass"
    )


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield value, key
        yield from _places(part)

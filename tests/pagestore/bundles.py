"""Small real logs with answers in them, and the forgeries a bundle of one must not survive."""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pagestore import Checkpoint, MemoryLog, SessionId, SpaceId, Turn
from pagestore.bundle import Bundle, decode, encode, make_bundle
from pagestore.line import encode as encode_line
from pagestore.prover import as_text
from pagestore.values import ProvedPage, ProvedRecord

SESSION = SessionId("s1")
SAID = [
    ("Ann", "I paid 1,450 dollars for the roof."),
    ("Bob", "My dog Pixel cannot have chicken.\nNever give him any."),
    ("Ann", "I moved to Lisbon in March \U0001f600 \ud800."),
    ("Bob", "The locker code is 7731."),
]


@dataclass(frozen=True)
class World:
    """A log, the numbers of its answers, and a checkpoint from between them."""

    log: MemoryLog
    answers: tuple[int, ...]
    kept: Checkpoint


def world(space: str = "ann", *, code: str = "7731") -> World:
    """Two sealed pages and two answers that cite the first and the second."""
    log = MemoryLog(SpaceId(space))
    said = [(who, text.replace("7731", code)) for who, text in SAID]
    for who, text in said[:3]:
        log.append(SESSION, [Turn(speaker=who, text=text)])
    log.seal()
    first = log.record("answered", answer(log, 0, 1, "No chicken."))
    kept = log.checkpoint()
    log.append(SESSION, [Turn(speaker=who, text=text) for who, text in said[3:]])
    log.seal()
    second = log.record("answered", answer(log, 1, 0, f"It is {code}."))
    return World(log=log, answers=(first.seq, second.seq), kept=kept)


def answer(log: MemoryLog, page: int, line: int, text: str) -> dict[str, Any]:
    """The body of an answer's record that cites one whole turn."""
    cited = log.page(log.pages()[page].id)
    place = cited.lines[line]
    assert place.turn is not None
    span = {"page_id": cited.id, "start": place.body, "end": place.end}
    quote = cited.text[place.body : place.end].encode(errors="replace").decode()
    base = {"claim": text, "spans": [span], "support": "quoted"}
    citation = {**base, "quote": quote, "number": 1, "speaker": place.turn.speaker, "said_at": None}
    return {
        "answer": {
            "id": f"a1:{page}{line}",
            "space": log.space,
            "text": text,
            "route": "ESCALATE",
            "abstained": False,
            "citations": [citation],
            "facts": [{**base, "quotes": [quote], "derivations": []}],
            "support": "quoted",
            "complete": True,
            "missing": "",
            "trace": {"question": "What?"},
        }
    }


def flipped(data: bytes, at: int, bit: int) -> bytes:
    """`data` with one bit of one byte turned."""
    return data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :]


def line_of(data: bytes, at: int) -> int:
    """The number, from 1, of the line that holds byte `at`; a line break belongs to the line it ends."""
    return data[:at].count(b"\n") + 1


def forgeries() -> Mapping[str, Callable[[Bundle], Bundle]]:
    """What a forger might do to a bundle, with checksums made anew. None may hold."""
    return {
        "the quote shown is altered": lambda b: replace(b, answer=_edited(b.answer, "chicken", "turkey")),
        "the answer shown is altered": lambda b: replace(b, answer={**b.answer, "text": "Yes, chicken."}),
        "a citation shown is left out": lambda b: replace(b, answer={**b.answer, "citations": []}),
        "the recorded answer is altered": lambda b: _both(b, "No chicken.", "All the chicken."),
        "the recorded quote is altered": lambda b: _both(b, "cannot have chicken", "can have a chicken"),
        "the words said are altered": lambda b: replace(
            b, pages=tuple(_with_words(p, "cannot", "can") for p in b.pages)
        ),
        "words, hash and quote are altered": lambda b: _both(
            replace(b, pages=tuple(_rehashed(p, "cannot", "can") for p in b.pages)), "cannot", "can"
        ),
        "the page is another": lambda b: replace(b, pages=_other().pages),
        "the page is another under this name": lambda b: replace(
            b, pages=tuple(replace(p, id=b.pages[0].id) for p in _other().pages)
        ),
        "the page is missing": lambda b: replace(b, pages=()),
        "the record is of another answer": lambda b: replace(b, record=_other().record),
        "the record is no answer": lambda b: replace(b, record=b.pages[0].seal),
        "the seal is no seal": lambda b: replace(b, pages=(replace(b.pages[0], seal=b.record),)),
        "turns change places": lambda b: replace(
            b, pages=tuple(replace(p, turns=p.turns[::-1]) for p in b.pages)
        ),
        "a turn is left out": lambda b: replace(
            b, pages=tuple(replace(p, turns=p.turns[1:]) for p in b.pages)
        ),
        "the cited words are withheld": lambda b: replace(
            b, pages=tuple(replace(p, turns=tuple(replace(t, line=None) for t in p.turns)) for p in b.pages)
        ),
        "lengths before the words are altered": lambda b: replace(
            b,
            pages=tuple(
                replace(p, turns=(replace(p.turns[0], length=p.turns[0].length + 1), *p.turns[1:]))
                for p in b.pages
            ),
        ),
        "the checkpoint is of another space": lambda b: replace(b, checkpoint=_elsewhere().checkpoint),
        "the proofs are of another space": lambda b: replace(
            b,
            record=replace(b.record, proof=_elsewhere().record.proof),
            pages=tuple(
                replace(p, seal=replace(p.seal, proof=q.seal.proof))
                for p, q in zip(b.pages, _elsewhere().pages, strict=True)
            ),
        ),
        "the space is renamed": lambda b: replace(
            b, space=SpaceId("bob"), checkpoint=replace(b.checkpoint, space=SpaceId("bob"))
        ),
        "the leaf is another": lambda b: replace(
            b, record=replace(b.record, proof=replace(b.record.proof, index=b.record.proof.index - 1))
        ),
        "a step of the path is missing": lambda b: replace(
            b, record=replace(b.record, proof=replace(b.record.proof, path=b.record.proof.path[1:]))
        ),
    }


def bundle(*, whole_pages: bool = False) -> Bundle:
    """A bundle of the first answer of `world`."""
    w = world()
    return decode(encode(make_bundle(w.log, w.answers[0], whole_pages=whole_pages)))


def mangled(data: bytes, chance: random.Random) -> bytes:
    """The bundle with one value in its JSON replaced by another kind of value, under new checksums."""
    fields = json.loads(data)
    del fields["sums"], fields["c"]
    at: Any = fields
    while True:
        key = chance.choice(list(at) if isinstance(at, dict) else range(len(at)))
        if not isinstance(at[key], dict | list) or not at[key] or chance.random() < 0.2:
            at[key] = chance.choice([None, -1, 2**70, "", "x" * 64, "0" * 64, [], {}, [[]], True, 1.5])
            break
        at = at[key]
    return _laid_out(fields)


def _laid_out(fields: Mapping[str, Any]) -> bytes:
    """The layout of a bundle for JSON that may be none: the top level a line each."""
    from pagestore.bundle.layout import _json, _sum

    lines = [f'"{name}":{_json(value)},\n'.encode() for name, value in fields.items()]
    lines[0] = b"{" + lines[0]
    last = f'"sums":{_json([_sum(line) for line in lines])}'.encode()
    return b"".join(lines) + last + b',"c":"%s"}\n' % _sum(last).encode()


def _other() -> Bundle:
    w = world()
    return make_bundle(w.log, w.answers[1])


def _elsewhere() -> Bundle:
    w = world("bob")
    return make_bundle(w.log, w.answers[0])


def _edited(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [_edited(item, old, new) for item in value]
    if isinstance(value, dict):
        return {name: _edited(item, old, new) for name, item in value.items()}
    return value


def _both(given: Bundle, old: str, new: str) -> Bundle:
    """The answer altered where it is shown and in its record, whose line gets a new checksum."""
    return replace(given, answer=_edited(given.answer, old, new), record=_with_line(given.record, old, new))


def _with_line(record: ProvedRecord, old: str, new: str) -> ProvedRecord:
    return replace(record, line=_altered_line(record.line, old, new))


def _altered_line(line: str, old: str, new: str) -> str:
    fields = json.loads(line)
    del fields["c"]
    return as_text(encode_line(_edited(fields, old, new)))


def _with_words(page: ProvedPage, old: str, new: str) -> ProvedPage:
    turns = (replace(t, line=t.line and _altered_line(t.line, old, new)) for t in page.turns)
    return replace(page, turns=tuple(turns))


def _rehashed(page: ProvedPage, old: str, new: str) -> ProvedPage:
    from hashlib import sha256

    from pagestore.prover import as_bytes

    turns = (
        t if t.line is None else replace(t, digest=sha256(as_bytes(t.line)).hexdigest(), length=t.length - 3)
        for t in _with_words(page, old, new).turns
    )
    return replace(page, turns=tuple(turns))

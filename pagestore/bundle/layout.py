r"""A bundle as a file: plain JSON, one part a line, each line under a checksum.

    {"bundle":"tiermem-bundle-2",
    "space":"ann",
    "checkpoint":{…},
    …
    "pages":[
    {"id":"p1:…","seal":{"line":"…","index":9,"path":["…"]},"turns":[
    {"hash":"…","length":61,"line":"{\"q\":4,…"},
    {"hash":"…","length":48}
    ]}
    ],
    "sums":["9ae0c3f1",…],"c":"5c0f2a11"}

The rule: a bundle has one form. What does not read back to the very same bytes is refused, so there is
no byte that could be changed unseen; the checksums (CRC-32 a line, as in the log) show where. They guard
against accidents, and the proofs against forgers.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from pagestore.bundle.values import Bundle, Signature
from pagestore.merkle import leaf_hash
from pagestore.prover import as_bytes
from pagestore.values import (
    Checkpoint,
    Damage,
    GrowthProof,
    InclusionProof,
    PageId,
    ProvedPage,
    ProvedRecord,
    SpaceId,
    TurnLine,
)

RECIPE = "tiermem-bundle-2"
"""The name of the form of a bundle, for logs of format 2."""


class Malformed(ValueError):
    """The bytes are no bundle; `damage` says where and what."""

    def __init__(self, *damage: Damage) -> None:
        super().__init__("; ".join(f"{one.where}: {one.what}" for one in damage))
        self.damage = damage


def encode(bundle: Bundle) -> bytes:
    """The one form of a bundle."""
    lines = [line.encode() + b"\n" for line in _lines(bundle)]
    sums = _json([_sum(line) for line in lines])
    last = f'"sums":{sums}'.encode()
    return b"".join(lines) + last + b',"c":"%s"}\n' % _sum(last).encode()


def decode(data: bytes) -> Bundle:
    """The bundle that `encode` wrote; raises `Malformed`, naming the line, for anything else."""
    if not isinstance(data, bytes):
        raise Malformed(Damage(where="the file", what=f"it is given as {type(data).__name__}, not as bytes"))
    _check_sums(data)
    try:
        bundle = _bundle(json.loads(data))
        same = encode(bundle) == data
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Malformed(Damage(where="the file", what=f"it is no bundle: {error!r}")) from error
    if not same:
        raise Malformed(Damage(where="the file", what="it is not laid out as a bundle is"))
    return bundle


def _lines(bundle: Bundle) -> Iterator[str]:
    yield f'{{"bundle":{_json(RECIPE)},'
    yield f'"space":{_json(bundle.space)},'
    yield f'"checkpoint":{_json(_checkpoint_fields(bundle.checkpoint))},'
    yield f'"signature":{_json(asdict(bundle.signature) if bundle.signature else None)},'
    yield f'"growth":{_json(_growth_fields(bundle.growth))},'
    yield f'"answer":{_json(bundle.answer)},'
    yield f'"record":{_json(_record_fields(bundle.record))},'
    yield '"pages":['
    for number, page in enumerate(bundle.pages, start=1):
        yield f'{{"id":{_json(page.id)},"seal":{_json(_record_fields(page.seal))},"turns":['
        for n, turn in enumerate(page.turns, start=1):
            yield _json(_turn_fields(turn)) + ("," if n < len(page.turns) else "")
        yield "]}," if number < len(bundle.pages) else "]}"
    yield "],"


def _json(value: object) -> str:
    # ASCII, so that lone surrogates, which turns may hold, survive.
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def _sum(data: bytes) -> str:
    return f"{zlib.crc32(data):08x}"


# Where a file is broken


def _check_sums(data: bytes) -> None:
    """Every line is the one that was written; raises `Malformed` with the lines that are not."""
    *lines, last, rest = data.split(b"\n") if data.count(b"\n") > 1 else (b"", b"", data)
    sums = _sums_of(last)
    if rest or sums is None:
        where = f"line {len(lines) + 1}" if not rest else f"line {len(lines) + 2}"
        raise Malformed(
            Damage(
                where=f"{where} (the checksums at the end)",
                what="it is altered or cut off, or this is no bundle",
            )
        )
    names = list(_names(lines))
    broken = [
        Damage(where=f"line {n} ({names[n - 1]})", what="its checksum does not agree: it was altered")
        for n, line in enumerate(lines, start=1)
        if n > len(sums) or _sum(line + b"\n") != sums[n - 1]
    ]
    if len(lines) < len(sums):
        broken.append(Damage(where=f"line {len(lines) + 1}", what="lines are missing"))
    if broken:
        # Where lines were joined, split or lost, those that follow are only out of step.
        raise Malformed(*(broken if len(lines) == len(sums) else broken[:1]))


def _sums_of(last: bytes) -> list[str] | None:
    """The checksums on the last line, `None` when that line itself is not what was written."""
    body, mark, tail = last.rpartition(b',"c":"')
    if not mark or tail != _sum(body).encode() + b'"}' or not body.startswith(b'"sums":'):
        return None
    try:
        sums = json.loads(body.removeprefix(b'"sums":'))
    except (ValueError, RecursionError):
        return None
    return sums if isinstance(sums, list) else None


def _names(lines: list[bytes]) -> Iterator[str]:
    """What is on each line, known by its place."""
    page = turn = 0
    for number, line in enumerate(lines):
        if number < len(_OPENING):
            yield _OPENING[number]
        elif line.startswith(b'{"id"'):
            page, turn = page + 1, 0
            yield f"the seal of page {page}"
        elif line.startswith(b"]"):
            yield f"the end of page {page}"
        else:
            turn += 1
            yield f"page {page}, turn {turn}"


_OPENING = (
    "the name of the format",
    "the space",
    "the checkpoint",
    "the signature",
    "the proof of growth",
    "the answer",
    "the record of the answer",
    "the pages",
)


# Between values and JSON


def _checkpoint_fields(checkpoint: Checkpoint) -> Mapping[str, Any]:
    return {"space": checkpoint.space, "size": checkpoint.size, "root": checkpoint.root}


def _growth_fields(growth: GrowthProof | None) -> Mapping[str, Any] | None:
    if growth is None:
        return None
    return {"old": _checkpoint_fields(growth.old), "path": list(growth.path)}


def _record_fields(record: ProvedRecord) -> Mapping[str, Any]:
    return {"line": record.line, "index": record.proof.index, "path": list(record.proof.path)}


def _turn_fields(turn: TurnLine) -> Mapping[str, Any]:
    fields: dict[str, Any] = {"hash": turn.digest, "length": turn.length}
    if turn.line is not None:
        fields["line"] = turn.line
    if turn.erased:
        fields["erased"] = True
    return fields


def _bundle(fields: Any) -> Bundle:
    """The bundle that JSON describes; what of it is missing or mistyped raises, superfluous keys are lost."""
    if fields["bundle"] != RECIPE:
        raise ValueError(f"the format is {fields['bundle']!r}, and this version reads {RECIPE!r}")
    checkpoint = _checkpoint(fields["checkpoint"])
    growth, signature = fields["growth"], fields["signature"]
    return Bundle(
        space=SpaceId(_require_text(fields["space"])),
        checkpoint=checkpoint,
        answer=_require_mapping(fields["answer"]),
        record=_record(fields["record"], checkpoint),
        pages=tuple(_page(page, checkpoint) for page in _require_list(fields["pages"])),
        growth=None if growth is None else _growth(growth, checkpoint),
        signature=None
        if signature is None
        else Signature(key=_require_text(signature["key"]), value=_require_text(signature["value"])),
    )


def _checkpoint(fields: Any) -> Checkpoint:
    return Checkpoint(
        space=SpaceId(_require_text(fields["space"])),
        size=_require_count(fields["size"]),
        root=_require_hash(fields["root"]),
    )


def _growth(fields: Any, new: Checkpoint) -> GrowthProof:
    path = tuple(_require_hash(node) for node in _require_list(fields["path"]))
    return GrowthProof(old=_checkpoint(fields["old"]), new=new, path=path)


def _record(fields: Any, checkpoint: Checkpoint) -> ProvedRecord:
    line = _require_text(fields["line"])
    proof = InclusionProof(
        leaf_hash=leaf_hash(as_bytes(line)).hex(),  # made from the line, never read
        index=_require_count(fields["index"]),
        size=checkpoint.size,
        path=tuple(_require_hash(node) for node in _require_list(fields["path"])),
    )
    return ProvedRecord(line=line, proof=proof)


def _page(fields: Any, checkpoint: Checkpoint) -> ProvedPage:
    return ProvedPage(
        id=PageId(_require_text(fields["id"])),
        seal=_record(fields["seal"], checkpoint),
        turns=tuple(_turn(turn) for turn in _require_list(fields["turns"])),
    )


def _turn(fields: Any) -> TurnLine:
    fields = _require_mapping(fields)
    line = fields.get("line")
    return TurnLine(
        digest=_require_hash(fields["hash"]),
        length=_require_count(fields["length"]),
        line=None if line is None else _require_text(line),
        erased=fields.get("erased") is True,
    )


def _require_text(value: Any) -> str:
    """Return `value` if it is a `str`; else raise `TypeError`."""
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, not {value!r:.60}")
    return value


def _require_count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"a count was expected, not {value!r:.60}")
    return value


def _require_hash(value: Any) -> str:
    if len(bytes.fromhex(_require_text(value))) != 32 or value != value.lower():
        raise ValueError(f"a SHA-256 hash in hex was expected, not {value!r:.80}")
    return str(value)


def _require_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"a list was expected, not {value!r:.60}")
    return value


def _require_mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"an object was expected, not {value!r:.60}")
    return value

"""Long runs without words are found, whatever they encode, and nothing that has words."""

import base64
import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiermem.text.long_runs import blank_runs, shorten_runs

BYTES = Random(7).randbytes(9_000)
CODE = base64.b64encode(BYTES).decode()
NUMBERS = ",".join(f"{Random(3).random():.6f}" for _ in range(400))
RUNS = {
    "base64": CODE,
    "base64 for URLs": base64.urlsafe_b64encode(BYTES).decode(),
    "base64 in lines": base64.encodebytes(BYTES).decode().strip(),
    "base64 in lines of JSON": json.dumps(base64.encodebytes(BYTES).decode().strip())[1:-1],
    "base64 with escaped slashes": CODE.replace("/", "\\/"),
    "base32": base64.b32encode(BYTES).decode(),
    "hex": BYTES.hex(),
    "percent": "".join(f"%{byte:02X}" for byte in BYTES),
    "numbers": f"[{NUMBERS}]",
    "a ruler": "=" * 500,
    "one letter": "哈" * 500,
}
WORDS = {
    "English": "The gate is open and the dog is out. " * 200,
    "Chinese": "鑰匙在金魚缸下面我們明天去看看那艘船停在哪裡" * 200,
    "Thai": "กุญแจอยู่ใต้โถปลาทองพรุ่งนี้เราจะไปดูเรือ" * 100,
    "minified JSON": json.dumps([{"name": "Ann", "city": "Turku", "n": 4}] * 200, separators=(",", ":")),
    "a path": "/home/ann/" + "a-folder/" * 15 + "notes.txt",
    "a hash": "sha512 " + "0123456789abcdef" * 8,
    "a list of hashes": "\n".join(Random(n).randbytes(32).hex() for n in range(20)),
    "an address": "https://example.com/search?q=" + "gate" * 20 + "&page=2",
    "a word": "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft " * 5,
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize(
    ("before", "after"),
    [("", ""), ("Look: ", " is the gate."), ('{"shot": "', '", "title": "Kiln cold"}'), ("a\n", "\nb")],
)
def test_of_a_run_the_beginning_is_kept_and_of_the_words_beside_it_all(
    run: str, before: str, after: str
) -> None:
    text = before + run + after
    short = shorten_runs(text)
    assert short.startswith(before + run[:40] + "…")
    assert short.endswith(after)
    assert len(short) < len(before) + len(after) + 120
    blank = blank_runs(text)
    assert len(blank) == len(text)
    assert blank.startswith(before)
    assert blank.endswith(after)
    assert not blank[len(before) : len(text) - len(after)].strip(run[-20:] + " ")


@pytest.mark.parametrize("text", WORDS.values(), ids=WORDS)
def test_words_are_kept(text: str) -> None:
    assert shorten_runs(text) == blank_runs(text) == text


@given(st.text("aB3/= \n,.…", max_size=600))
def test_blanks_leave_every_other_character_in_its_place(text: str) -> None:
    blank = blank_runs(text)
    assert len(blank) == len(text)
    assert all(there in (now, " ") for there, now in zip(blank, text, strict=True)) or blank == text
    assert len(shorten_runs(text)) <= len(text)

"""The line codec: one line, checked, exact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore.line import canonical, decode, encode, is_intact, split
from pagestore.testing import odd_text

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | odd_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(odd_text, inner, max_size=3),
    max_leaves=6,
)


@given(odd_text, values)
def test_any_text_is_one_line_and_reads_back(text: str, value: object) -> None:
    fields = {"q": 1, "d": 0, "t": "rec", "x": text, "b": value}
    raw = encode(fields)
    read = decode(raw)
    assert read is not None
    assert {name: read[name] for name in fields} == fields
    assert raw.count(b"\n") == 1
    assert len(raw.decode("utf-8", "surrogatepass").splitlines()) == 1


@given(odd_text, st.data())
def test_no_flipped_byte_passes_the_checksum(text: str, data: st.DataObject) -> None:
    raw = bytearray(encode({"q": 1, "d": 0, "t": "rec", "x": text}))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    assert not is_intact(bytes(raw))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"{}\n",
        b"x" * 40 + b"\n",
        encode({"q": 1, "t": "no d"}),
        encode({"q": "1", "d": 0, "t": "x"}),
    ],
)
def test_what_is_no_record_decodes_to_nothing(raw: bytes) -> None:
    assert decode(raw) is None


def test_a_tail_without_line_break_is_no_line() -> None:
    assert list(split(b"one\ntwo\nthr")) == [(0, b"one\n"), (4, b"two\n")]


@given(odd_text, odd_text)
def test_different_texts_hash_differently(one: str, other: str) -> None:
    assert (canonical([one]) == canonical([other])) == (one == other)

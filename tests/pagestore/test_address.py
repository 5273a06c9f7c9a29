"""The address of a turn: what it is made of, and which texts are none."""

import pytest

from pagestore.address import seq_in, turn_address
from pagestore.errors import InvalidInput


@pytest.mark.parametrize("seq", [0, 1, 17, 10**18])
def test_an_address_names_the_number_and_four_characters_of_the_hash(seq: int) -> None:
    address = turn_address(seq, bytes.fromhex("9ae0c3f1" * 8))
    assert address == f"t1:{seq}-9ae0"
    assert seq_in(address) == seq


@pytest.mark.parametrize(
    "text",
    [
        "t1:17", "t1:17-9ae", "t1:17-9ae0c", "t1:017-9ae0", "t1:-1-9ae0", "t1:17-9AE0", "t1:１７-9ae0",
        "T1:17-9ae0", "t1: 17-9ae0", "t1:17-9ae0\n", "17-9ae0", "17", "", "t1:", "t2:17-9ae0",
        f"t1:{10**19}-9ae0",
    ],
)  # fmt: skip
def test_a_malformed_address_is_an_error_that_shows_how_one_looks(text: str) -> None:
    with pytest.raises(InvalidInput, match="t1:17-9ae0: copy one"):
        seq_in(text)

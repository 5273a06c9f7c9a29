from hypothesis import given
from hypothesis import strategies as st

from tiermem.text.unicode import join_surrogates


@given(text=st.text(st.characters(codec=None, categories=None), max_size=60))
def test_sendable_text_can_be_carried_and_stays_what_it_was(text: str) -> None:
    sent = join_surrogates(text)
    sent.encode()
    assert join_surrogates(sent) == sent
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert sent == text


def test_surrogates_are_joined_or_replaced() -> None:
    assert join_surrogates("a \ud83d\ude00 b \ud800 c") == "a 😀 b \ufffd c"

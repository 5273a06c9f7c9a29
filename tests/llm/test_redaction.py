"""Keys are taken out of what servers say, in every form in which servers repeat them."""

import base64
import traceback
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiermem.llm.redaction import MARK, RUN, Redaction, secrets_of, shown_url

KEY = "sk-proj-Ab3/dE6+gH9_jK2-mN5oP8qR1sT4uV7wX0yZ"


def told(text: str, key: str = KEY) -> bool:
    """Whether anything of a key stands in a text."""
    return any(key[start : start + RUN] in text for start in range(len(key) - RUN + 1))


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        f"Bearer {KEY}",
        quote(KEY, safe=""),
        quote(KEY, safe="").replace("%2F", "%2f").replace("%2B", "%2b"),
        KEY.replace("/", "\\/"),
        base64.b64encode(KEY.encode()).decode(),
        base64.b64encode(f"user:{KEY}".encode()).decode(),
        base64.b64encode(f"me:{KEY} and more".encode()).decode(),
        base64.urlsafe_b64encode(f"x{KEY}".encode()).decode(),
        KEY.encode().hex(),
    ],
)
def test_a_key_is_taken_out_in_whatever_form_it_is_repeated(form: str) -> None:
    redaction = Redaction([KEY])
    for cleaned in (
        redaction.in_error(f"you sent {form}!"),
        redaction.in_reply(f"you sent {form}!"),
    ):
        assert cleaned.startswith("you sent")
        assert MARK in cleaned
        assert not told(cleaned)
        leftover = cleaned.removeprefix("you sent ").replace(MARK, "")
        assert len(leftover) <= 20
        for piece in (form[start : start + 12] for start in range(8, len(form) - 20)):
            assert piece not in cleaned


@pytest.mark.parametrize(
    "shown", [KEY[:20] + "****" + KEY[-8:], KEY[:30] + "…", "…" + KEY[12:], KEY[:8] + "***"]
)
def test_what_a_mask_or_a_cut_leaves_of_a_key_is_taken_out_of_errors(shown: str) -> None:
    assert not told(Redaction([KEY]).in_error(f"Incorrect API key provided: {shown}."))


@given(
    key=st.text("abcdef0123456789", min_size=RUN, max_size=40),
    around=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.text(max_size=5)), max_size=8),
)
def test_no_run_of_a_key_is_left_in_an_error(key: str, around: list[tuple[int, int, str]]) -> None:
    text = "".join(key[start:end] + between for start, end, between in around)
    cleaned = Redaction([key]).in_error(text)
    assert not told(cleaned.replace(MARK, "\n"), key)
    if not told(text, key):
        assert cleaned == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Authorization: Bearer eyJhbGciOi.J1c2Vy", f"Authorization: Bearer {MARK}"),
        ("got 'bearer abc123def456'", f"got 'bearer {MARK}'"),
        ("Basic dXNlcjpwYXNzMTIz rejected", f"Basic {MARK} rejected"),
        ("wrong key sk-ant-api03-abcdefgh", f"wrong key {MARK}"),
        ("Bearer authentication is required", "Bearer authentication is required"),
        ("risk-assessment", "risk-assessment"),
    ],
)
def test_what_looks_like_a_key_of_anybody_is_taken_out_of_errors_alone(text: str, cleaned: str) -> None:
    redaction = Redaction([])
    assert redaction.in_error(text) == cleaned
    assert redaction.in_error(cleaned) == cleaned
    assert redaction.in_reply(text) == text


def test_words_that_only_share_a_piece_with_a_key_stay_in_replies() -> None:
    words = "The project sk-proj-Ab3 has no key; my password is a word."
    assert Redaction([KEY, "password", "no-key-needed"]).in_reply(words) == words


def test_texts_are_cleaned_at_any_depth_of_json_and_other_values_stay() -> None:
    value = {"a": [1, 0.5, None, True, {KEY: f"<{KEY}>"}]}
    assert Redaction([KEY]).in_error_json(value) == {"a": [1, 0.5, None, True, {MARK: f"<{MARK}>"}]}


def test_an_error_tells_a_key_when_any_it_came_from_does() -> None:
    redaction, error = Redaction([KEY]), OSError("broken")
    assert not redaction.tells(error)
    error.__cause__ = ValueError(f"line {KEY}")
    assert told("".join(traceback.format_exception(error)))
    assert redaction.tells(error)


def test_user_and_password_of_a_url_are_secrets_and_are_not_shown() -> None:
    url = "https://ann:p%40ss%20word@host:8000/v1?key=abc#x"
    assert shown_url(url) == "https://host:8000/v1"
    assert {"p@ss word", "ann:p@ss word"} <= set(secrets_of(url))
    assert shown_url("http://host/v1/@me") == "http://host/v1/@me"
    assert secrets_of("http://host/v1/@me") == secrets_of(None) == secrets_of("http://[") == ()


def test_nothing_shows_what_is_taken_out() -> None:
    assert not told(repr(Redaction([KEY])))
    assert Redaction([None, ""]).in_reply(KEY) == KEY


def test_eight_characters_of_a_key_in_a_row_are_too_many() -> None:
    redaction = Redaction(("sk-live-abcdefghijklmnopqrstuvwxyz",))
    assert "ijklmnop" not in redaction.in_error("the key …ijklmnop… is wrong")
    assert redaction.in_error("the key …ijklmno… is wrong") == "the key …ijklmno… is wrong"

"""How material is written down for a model, and what types its replies must have."""

import pytest
from pydantic import ValidationError

from tiermem.reasoning.model import prompt_text
from tiermem.reasoning.model.compose import ComposeReply
from tiermem.reasoning.model.select import SelectReply


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"])
def test_whatever_ends_a_line_no_word_of_an_entry_stands_at_the_start_of_one(end: str) -> None:
    listed = prompt_text.numbered_list([f"first{end}[1] forged", "second"])
    assert listed == "[0] first\n  [1] forged\n[1] second"


@pytest.mark.parametrize("cited", [["0"], [0.5], [True], "0", None])
def test_a_reply_of_other_types_is_not_bent_to_fit(cited: object) -> None:
    with pytest.raises(ValidationError):
        ComposeReply.model_validate({"answer": "Oslo", "cited": cited})
    with pytest.raises(ValidationError):
        SelectReply.model_validate({"selected": cited})

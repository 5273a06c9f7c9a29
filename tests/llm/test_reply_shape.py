"""Replies whose numbers, flags, lists and wrapping are nearly those of their schema."""

import json
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, ConfigDict, Field

from tests.reasoning.reply_types import ComposeReply, DistilReply, IntegrateReply, ReconcileReply, SelectReply
from tiermem.llm.meter import Meter, paid_by
from tiermem.llm.prompts import Prompt, parse_prompt
from tiermem.llm.scripted import ScriptedModel
from tiermem.llm.typed import Unusable, ask_typed, read_reply, reply_schema

COMPOSED = {"answer": "Rome", "cited": [1, 2], "inferred": True, "abstained": False}


@pytest.mark.parametrize(
    ("reply_type", "given", "meant"),
    [
        (ComposeReply, COMPOSED | {"cited": ["1", " 2.0 "]}, COMPOSED),
        (ComposeReply, COMPOSED | {"cited": [1.0, 2]}, COMPOSED),
        (ComposeReply, COMPOSED | {"cited": None}, COMPOSED | {"cited": []}),
        (ComposeReply, COMPOSED | {"cited": 0}, COMPOSED | {"cited": [0]}),
        (ComposeReply, COMPOSED | {"cited": "1"}, COMPOSED | {"cited": [1]}),
        (SelectReply, {"selected": 2.0}, {"selected": [2]}),
        (DistilReply, {"facts": {"fact": "a", "evidence_quotes": ["b"]}},
         {"facts": [{"fact": "a", "evidence_quotes": ["b"]}]}),
        (DistilReply, {"facts": [{"fact": "a", "evidence_quotes": "b"}]},
         {"facts": [{"fact": "a", "evidence_quotes": ["b"]}]}),
        (ComposeReply, COMPOSED | {"inferred": "True", "abstained": "false"}, COMPOSED),
        (ComposeReply, COMPOSED | {"abstained": None, "counted": None}, COMPOSED),
        (ComposeReply, COMPOSED | {"complete": "FALSE"}, COMPOSED | {"complete": False}),
        (ComposeReply, [COMPOSED], COMPOSED),
        (ComposeReply, {"compose_reply": COMPOSED}, COMPOSED),
        (ComposeReply, {"Compose": [COMPOSED]}, COMPOSED),
        (ComposeReply, {"name": "ComposeReply", "arguments": COMPOSED | {"cited": ["1", "2"]}}, COMPOSED),
        (ReconcileReply, {"operation": "ADD", "contradicts": None}, {"operation": "ADD"}),
        (ReconcileReply, {"operation": "ADD", "target": "3"}, {"operation": "ADD", "target": 3}),
        (IntegrateReply, {"linked_facts": None, "coverage_assessment": "none"},
         {"linked_facts": [], "coverage_assessment": "none"}),
        (SelectReply, {"selected": ["0", 3.0]}, {"selected": [0, 3]}),
        (SelectReply, ["0", "3"], {"selected": [0, 3]}),
        (DistilReply, {"facts": None}, {"facts": []}),
        (DistilReply, {"DistilReply": {"facts": [{"fact": "a", "evidence_quotes": ["b"]}]}},
         {"facts": [{"fact": "a", "evidence_quotes": ["b"]}]}),
    ],
)  # fmt: skip
def test_a_reply_that_is_nearly_of_its_schema_is_read(
    reply_type: type[BaseModel], given: Any, meant: Any
) -> None:
    assert read_reply(json.dumps(given), reply_type) == reply_type.model_validate(meant)


@pytest.mark.parametrize(
    "given",
    [
        COMPOSED | {"cited": ["one"]},
        COMPOSED | {"cited": [1.5]},
        COMPOSED | {"cited": ["1, 2"]},
        COMPOSED | {"cited": "one"},
        COMPOSED | {"cited": True},
        COMPOSED | {"cited": [[1]]},
        COMPOSED | {"cited": [None]},
        COMPOSED | {"cited": ["9" * 400]},
        COMPOSED | {"answer": None},
        COMPOSED | {"answer": 7},
        COMPOSED | {"abstained": "maybe"},
        COMPOSED | {"abstained": 0},
        [COMPOSED, COMPOSED],
        [[COMPOSED]],
        {"draft": COMPOSED},
        {"SelectReply": COMPOSED},
        {"name": "search", "arguments": COMPOSED},
        {"name": "ComposeReply"},
        {"": COMPOSED},
    ],
)
def test_what_would_be_a_guess_stays_refused(given: Any) -> None:
    assert isinstance(read_reply(json.dumps(given), ComposeReply), Unusable)


@pytest.mark.parametrize("quotes", [None, "null-less", [3], [None], {}])
def test_null_in_a_part_of_a_reply_stays(quotes: Any) -> None:
    given = {"facts": [{"fact": "a", "evidence_quotes": quotes}]}
    assert isinstance(read_reply(json.dumps(given), DistilReply), Unusable) == (quotes != "null-less")


class Switch(BaseModel):
    model_config = ConfigDict(strict=True)
    is_on: bool
    level: float | None = None
    tags: list[str] = Field(default_factory=list)


def test_a_flag_without_a_default_has_no_value_when_it_is_null() -> None:
    read = read_reply('{"is_on": null}', Switch)
    assert isinstance(read, Unusable)
    assert "is_on: Input should be a valid boolean" in read.problem
    assert read_reply('{"is_on": "true", "level": "-0.50", "tags": null}', Switch) == Switch(
        is_on=True, level=-0.5
    )


def test_the_schema_is_not_changed_by_fitting() -> None:
    before = json.dumps(reply_schema(Switch))
    read_reply('[{"is_on": null, "tags": null}]', Switch)
    assert json.dumps(reply_schema(Switch)) == before


def test_a_part_of_a_broken_reply_is_not_fitted_into_a_reply() -> None:
    broken = '{"note": oops, "last": [{"is_on": "true"}]}'
    assert isinstance(read_reply(broken, Switch), Unusable)
    assert isinstance(read_reply('{"is_on": True, "level": "0.5", "tags": ["cut o', Switch), Unusable)


def test_a_reply_that_fits_as_it_is_counts_before_one_that_was_repaired() -> None:
    assert read_reply("{'is_on': True} or {\"is_on\": false}", Switch) == Switch(is_on=False)
    read = read_reply("{'is_on': True} or {'is_on': False}", Switch)
    assert isinstance(read, Unusable)
    assert "2 different answers" in read.problem


def test_a_number_of_importance_given_as_text_is_kept() -> None:
    facts: list[dict[str, Any]] = [
        {"fact": "a", "evidence_quotes": [], "importance": text} for text in ("0.7", "1", "7", "high")
    ]
    read = read_reply(json.dumps({"facts": facts}), DistilReply)
    assert isinstance(read, DistilReply)
    assert [fact.importance for fact in read.facts] == [0.7, 1.0, None, None]


def prompt_for(output: str) -> Prompt:
    header = f'+++\npurpose = "Try."\ninputs = ["question"]\noutput = "{output}"\n+++\n'
    return parse_prompt("try", header + "Marked $fence. $question")


@pytest.mark.parametrize(
    ("texts", "calls", "repairs"),
    [
        (['{"is_on": true}'], 1, 0),
        (["{'is_on': True,}"], 1, 1),
        (['[{"is_on": "true"}]'], 1, 1),
        (["no idea", "{'is_on': True,}"], 2, 1),
        (["{'is_on': ", '{"is_on": true}'], 2, 0),
        (['{"is_on": true, "level": 0.5, // high\n}'], 1, 1),
    ],
)
def test_repairs_are_counted(texts: list[str], calls: int, repairs: int) -> None:
    async def main() -> None:
        model = ScriptedModel(*(("try", text) for text in texts))
        with paid_by(Meter()) as meter:
            await ask_typed(model, prompt_for("Switch"), {"question": "?"}, Switch, role="route")
        model.finish()
        assert (meter.total().calls, meter.total().repairs) == (calls, repairs)
        assert meter.total().cost is None

    anyio.run(main)

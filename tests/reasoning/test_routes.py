"""Routes and engines by name: who may decide that what was recalled is enough, and that doubts escalate."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from inspect import isfunction
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import PageId, Span
from tests.engines import JUDGEMENTS, engine, quote_best_sentence, quoting_engine
from tiermem.errors import InvalidInput
from tiermem.llm.scripted import ScriptedModel
from tiermem.model import Decision, Evidence
from tiermem.reasoning import Engine, by_model, engine_named, with_router
from tiermem.reasoning.fixed import always, never
from tiermem.reasoning.named import ENGINES, ROUTERS
from tiermem.reasoning.rules.sufficiency import gate
from tiermem.text.question import Question

pytestmark = pytest.mark.anyio
ASKED = datetime(2024, 5, 1, tzinfo=UTC)


def evidence(text: str, similarity: float | None = 0.7) -> Evidence:
    span = Span(page_id=PageId("p1:a"), start=0, end=1)
    return Evidence(text=text, spans=(span,), score=1.0, source="unit", similarity=similarity)


RECALLED = (evidence("Ann adopted three grey cats."),)


@pytest.mark.parametrize("recalled", [RECALLED, ()])
async def test_always_and_never_do_not_look(recalled: Sequence[Evidence]) -> None:
    assert (await always(Question("?", ASKED), recalled)).action == "ESCALATE"
    assert (await never(Question("?", ASKED), recalled)).action == "ANSWER"


@pytest.mark.parametrize(
    ("question", "held"), [("How many grey cats did Ann adopt?", 1.0), ("Why did Bob sell?", 0.0)]
)
async def test_the_score_of_rules_is_the_share_of_the_question_that_is_held(
    question: str, held: float
) -> None:
    decided = await gate(Question(question, ASKED), RECALLED)
    assert decided.score == held


async def test_a_fixed_route_gives_no_score() -> None:
    assert (await always(Question("?", ASKED), RECALLED)).score is None


async def test_the_gate_answers_what_a_unit_states_and_escalates_what_none_does() -> None:
    stated = await gate(Question("How many grey cats did Ann adopt?", ASKED), RECALLED)
    assert (stated.action, stated.router) == ("ANSWER", "gate")
    for question in ("How many dogs did Ann adopt?", "Why did Bob sell his car?"):
        assert (await gate(Question(question, ASKED), RECALLED)).action == "ESCALATE"
    assert (await gate(Question("How many grey cats?", ASKED), ())).action == "ESCALATE"


@given(question=st.text(max_size=60), texts=st.lists(st.text(max_size=60), max_size=4))
def test_rules_decide_every_question_the_same_way_twice_and_sign_it(question: str, texts: list[str]) -> None:
    async def main() -> None:
        recalled = tuple(evidence(text) for text in texts)
        first = await gate(Question(question, ASKED), recalled)
        assert first == await gate(Question(question, ASKED), recalled)
        assert first.action == "ESCALATE" or texts
        assert first.score is not None
        assert 0 <= first.score <= 1
        assert first.router == "gate"

    anyio.run(main)


@pytest.mark.parametrize("name", ["gate", "always", "never"])
async def test_a_router_is_put_in_by_name_and_signs_its_decisions(name: str) -> None:
    chosen = with_router(engine(), name).route
    assert chosen is not None
    assert (await chosen(Question("How many?", ASKED), RECALLED)).router == name


def test_llm_leaves_the_engines_own_route_and_fused_takes_it_out() -> None:
    judging = quoting_engine()
    assert with_router(judging, "llm") == judging
    assert with_router(judging, "fused").route is None
    assert with_router(judging, "fused").compose is judging.compose


def test_an_unknown_router_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=r"'oracle'.*always, fused, gate, llm, never"):
        with_router(engine(), "oracle")
    assert sorted(ROUTERS) == ["always", "fused", "gate", "llm", "never"]


def test_engines_are_made_by_name() -> None:
    model = ScriptedModel(name="big-model")
    assert engine_named("local", model) == engine_named("auto") == Engine(name="local", free=True)
    assert engine_named("model", model) == engine_named("auto", model) == by_model(model)
    with pytest.raises(InvalidInput, match="'model' needs a language model"):
        engine_named("model")
    with pytest.raises(InvalidInput, match=r"'oracle'.*auto, local, model"):
        engine_named("oracle")
    assert sorted(ENGINES) == ["auto", "local", "model"]


@pytest.mark.parametrize("judgement", [*JUDGEMENTS, "point"])
@pytest.mark.parametrize("judge", [lambda *_, **__: None, "in Porto"])
def test_a_judgement_that_cannot_be_awaited_is_refused(judgement: str, judge: Any) -> None:
    with pytest.raises(InvalidInput, match=f"awaits its {judgement!r}: write it as `async def`"):
        engine(**{judgement: judge})


async def of_an_older_form(question: str, evidence: Any, *, asked_at: Any) -> Any: ...


async def of_one(question: str) -> Any: ...


async def of_any(*given: Any, **named: Any) -> Any: ...


@pytest.mark.parametrize(
    ("judgement", "judge", "message"),
    [
        ("compose", of_an_older_form, r"as compose\(question, evidence\), and .*`question.asked_at`"),
        ("route", of_an_older_form, r"as route\(question, evidence\)"),
        ("compose", of_one, "too many positional arguments"),
        ("distil", of_one, r"as distil\(pages, hints=…\)"),
        ("plan", of_an_older_form, r"as plan\(question, known, missing, done\)"),
    ],
)
def test_a_judgement_with_other_parameters_is_refused(judgement: str, judge: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        engine(**{judgement: judge})
    judgements: dict[str, Any] = {judgement: of_any}
    assert engine(**judgements).name == "test"


def test_a_judgement_may_be_an_object_that_is_awaited_or_a_part_of_a_function() -> None:
    composed = by_model(ScriptedModel(name="m")).compose
    assert not isfunction(composed)
    assert engine(compose=composed).compose is composed
    assert engine(compose=partial(quote_best_sentence)).compose is not None


@pytest.mark.parametrize("judgement", JUDGEMENTS)
async def test_a_judgement_that_a_test_does_not_give_fails_loudly(judgement: str) -> None:
    with pytest.raises(AssertionError, match=f"{judgement!r} was asked"):
        await getattr(engine(), judgement)(Question("?", ASKED), [])


async def test_a_judgement_that_a_test_gives_is_asked() -> None:
    decided = Decision(action="ANSWER", score=1.0, reason="so", router="mine")

    async def mine(question: Question, evidence: Sequence[Evidence]) -> Decision:
        return decided

    judging = engine(name="mine", route=mine)
    assert judging.route is not None
    assert await judging.route(Question("?", ASKED), []) is decided
    assert engine(route=None).route is None

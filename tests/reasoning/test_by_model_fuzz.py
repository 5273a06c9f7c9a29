"""Whatever a model replies: an answer that keeps its promises, or `MalformedReply`; nothing else."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from tests.engines import given
from tests.llm.replies import generated
from tests.reasoning import reply_types
from tests.reasoning.test_by_model import EVIDENCE, FACT, NOW, OTHER, PAGE, UNIT
from tiermem.errors import MalformedReply
from tiermem.llm.scripted import FunctionModel
from tiermem.llm.typed import reply_schema
from tiermem.model import Decision
from tiermem.reasoning import Draft, Engine, PageView, by_model
from tiermem.reasoning.interface import Integrated, Operation, Planned
from tiermem.text.question import Question

REPLIES = 1_500


def check_claims(claims: Any) -> None:
    for claim in claims:
        assert claim.text.strip() == claim.text != ""
        assert 0 <= claim.importance <= 1
        f"{claim.text}{claim.quotes}{claim.scene}{claim.event_at}".encode()


def check_route(route: Decision) -> None:
    assert route.action in ("ANSWER", "ESCALATE")
    assert route.score is None or 0 <= route.score <= 1
    assert route.reason
    if route.reason.startswith("the reply could not be used"):
        assert route.action == "ESCALATE"
        raise MalformedReply(route.reason)  # counted with the others


def check_integrated(integrated: Integrated) -> None:
    check_claims(integrated.claims)


def check_plan(plan: Planned) -> None:
    assert not (plan.done and plan.searches)
    assert all(search.query.strip() for search in plan.searches)
    assert len(set(plan.searches)) == len(plan.searches)


def check_draft(draft: Draft) -> None:
    assert set(draft.cited) <= {0, 1}
    assert draft.abstained or draft.text
    assert not (draft.complete and draft.missing)
    assert not (draft.abstained and (draft.cited or draft.statement))


def check_selected(selected: tuple[int, ...]) -> None:
    assert set(selected) <= {0, 1}
    assert len(set(selected)) == len(selected)


def check_operation(operation: Operation) -> None:
    assert operation.op in ("ADD", "UPDATE", "SKIP")
    assert set(operation.supersedes) <= {UNIT.id, OTHER.id}
    assert (operation.op == "UPDATE") == (operation.target is not None) == bool(operation.text)
    assert operation.target in (None, UNIT.id, OTHER.id)
    assert operation.op == "ADD" or not operation.supersedes


async def routed(by: Engine) -> Any:
    assert by.route is not None
    return await by.route(Question("?", NOW), [EVIDENCE])


Ask = Callable[[Engine], Awaitable[Any]]
CASES: list[tuple[type[BaseModel], Ask, Callable[[Any], None]]] = [
    (reply_types.DistilReply, lambda by: given(by.distil)([PAGE]), check_claims),
    (reply_types.RouteReply, routed, check_route),
    (
        reply_types.IntegrateReply,
        lambda by: given(by.integrate)(Question("?", NOW), [PageView(page=PAGE)], [EVIDENCE]),
        check_integrated,
    ),
    (reply_types.PlanReply, lambda by: given(by.plan)(Question("?", NOW), [EVIDENCE], "", []), check_plan),
    (
        reply_types.ComposeReply,
        lambda by: given(by.compose)(Question("?", NOW), [EVIDENCE, EVIDENCE]),
        check_draft,
    ),
    (reply_types.SelectReply, lambda by: given(by.select)("?", [FACT, FACT], [PAGE]), check_selected),
    (reply_types.ReconcileReply, lambda by: given(by.reconcile)(FACT, [UNIT, OTHER]), check_operation),
]


@pytest.mark.parametrize(("reply_type", "ask", "check"), CASES, ids=[case[0].__name__ for case in CASES])
def test_of_generated_replies_none_breaks_a_promise_or_raises_anything_but_a_malformed_reply(
    reply_type: type[BaseModel], ask: Ask, check: Callable[[Any], None]
) -> None:
    texts = generated(reply_schema(reply_type), count=2 * REPLIES, seed=len(reply_type.__name__))
    outcomes: Counter[str] = Counter()

    async def ask_all() -> None:
        engine = by_model(FunctionModel(lambda call: next(texts)))
        for _ in range(REPLIES):
            try:
                check(await ask(engine))
            except MalformedReply:
                outcomes["malformed"] += 1
            else:
                outcomes["usable"] += 1

    anyio.run(ask_all)
    assert min(outcomes["malformed"], outcomes["usable"]) > REPLIES / 20, outcomes

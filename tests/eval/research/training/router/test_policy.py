"""A learned route: what it sees, the file it is kept in, and that a wrong file is refused by name."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiermem
from eval.research.training.router.policy import (
    LearnedRoute,
    RouterPolicy,
    read_policy,
    with_policy,
    write_policy,
)
from eval.research.training.router.signals import SIGNALS, signals
from pagestore import PageId, Span
from tests.engines import engine, quoting_engine
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput
from tiermem.model import Evidence
from tiermem.text.question import Question

pytestmark = pytest.mark.anyio
ASKED = datetime(2024, 5, 1, tzinfo=UTC)


def evidence(text: str, similarity: float | None = 0.7) -> Evidence:
    span = Span(page_id=PageId("p1:a"), start=0, end=1)
    return Evidence(text=text, spans=(span,), score=1.0, source="unit", similarity=similarity)


def policy(bias: float = 0.0, **weights: float) -> RouterPolicy:
    by_name = {name.replace("_", " "): weight for name, weight in weights.items()}
    given = tuple(by_name.get(name, 0.0) for name in SIGNALS)
    return RouterPolicy(bias=bias, weights=given, embedder="hash", turns=True, trained_on=("mine",))


def seen(question: str, *recalled: Evidence) -> dict[str, float]:
    return dict(zip(SIGNALS, signals(Question(question, ASKED), recalled), strict=True))


CATS = evidence("Ann adopted three grey cats.")


@given(question=st.text(max_size=60), texts=st.lists(st.text(max_size=60), max_size=4))
def test_every_signal_is_a_number_for_any_text(question: str, texts: list[str]) -> None:
    found = signals(Question(question, ASKED), [evidence(text, None) for text in texts])
    assert len(found) == len(SIGNALS) == len(set(SIGNALS))
    assert all(isfinite(one) for one in found)


def test_signals_tell_what_covers_a_question_from_what_does_not() -> None:
    good, poor = (seen(f"How many grey cats did {who} adopt?", CATS) for who in ("Ann", "Bob"))
    assert (good["coverage"], good["names"], good["rules answer"], good["named share"]) == (
        1.0,
        1.0,
        1.0,
        1.0,
    )
    assert (poor["names"], poor["rules answer"], poor["named missing"]) == (0.0, 0.0, 1.0)
    assert good["asks how many"] == 1.0
    assert good["asks when"] == 0.0


def test_similarity_is_known_or_said_to_be_unknown() -> None:
    far = replace(CATS, similarity=0.3)
    known, unknown = seen("Which cats?", CATS, far), seen("Which cats?", replace(CATS, similarity=None))
    assert (known["similarity"], known["no similarity"]) == (0.7, 0.0)
    assert known["similarity above the mean"] == pytest.approx(0.2)
    assert (unknown["similarity"], unknown["no similarity"]) == (0.0, 1.0)


async def test_it_answers_where_the_policy_gives_it_an_even_chance() -> None:
    route = LearnedRoute(policy=policy(bias=-1.0, rules_answer=2.0))
    yes = await route(Question("How many grey cats did Ann adopt?", ASKED), [CATS])
    no = await route(Question("How many grey cats did Bob adopt?", ASKED), [CATS])
    assert (yes.action, yes.score, yes.router) == ("ANSWER", 0.73, "learned")
    assert (no.action, no.score) == ("ESCALATE", 0.27)
    nothing = await LearnedRoute(policy=policy(bias=9.0))(Question("How many?", ASKED), [])
    assert (nothing.action, nothing.score) == ("ESCALATE", None)


def test_a_policy_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    write_policy(policy(0.5, coverage=1.25), file)
    assert read_policy(file) == policy(0.5, coverage=1.25)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "another"}, "format"),
        ({"weights": [1.0]}, "other signals"),
        ({"signals": ["of before"]}, "other signals"),
        ({"bias": "much"}, "bias"),
    ],
)
def test_a_file_that_is_no_policy_of_today_is_refused(
    tmp_path: Path, change: dict[str, object], says: str
) -> None:
    file = tmp_path / "policy.json"
    write_policy(policy(), file)
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(InvalidInput, match=rf"policy\.json.*{says}"):
        read_policy(file)


def test_a_policy_is_refused_where_it_was_learned_with_another_embedder_or_from_other_evidence(
    tmp_path: Path,
) -> None:
    file = tmp_path / "policy.json"
    with pytest.raises(InvalidInput, match=r"policy\.json"):
        with_policy(engine(), file, embedder="hash", turns=True)
    write_policy(policy(), file)
    with pytest.raises(InvalidInput, match="'hash', not with 'letters'"):
        with_policy(engine(), file, embedder="letters", turns=True)
    with pytest.raises(InvalidInput, match=r"turns beside units.*recall_turns"):
        with_policy(engine(), file, embedder="hash", turns=False)
    assert with_policy(engine(), file, embedder="hash", turns=True).route == LearnedRoute(policy=policy())


def test_a_memory_decides_by_the_policy_it_is_given(tmp_path: Path) -> None:
    file, embedder = tmp_path / "policy.json", HashEmbedder()
    write_policy(replace(policy(bias=9.0), embedder=embedder.name), file)
    routed = with_policy(quoting_engine(), file, embedder=embedder.name, turns=True)
    with tiermem.open(":memory:", embedder=embedder, engine=routed) as memory:
        memory.add("I adopted three grey cats.", speaker="Ann")
        decision = memory.ask("What did Ann adopt?").trace.decision
    assert (decision.action, decision.router) == ("ANSWER", "learned")

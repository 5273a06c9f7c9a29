"""Runs with settings and replies as published, to compare with published figures.

*From Lossy to Verified* is "the paper" below; sections and tables are its own. Where it prints no number,
the comment says so, and the figure is the library's own. Units are recalled by all signals: A.4 recalls them
by vectors alone, which the library does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from eval.arrange import Request
from eval.judge import Style
from tiermem.errors import InvalidInput
from tiermem.model import Evidence, Search
from tiermem.reasoning import Engine
from tiermem.reasoning.interface import Plan, Planned
from tiermem.reasoning.model.compose import ComposeByModel
from tiermem.reasoning.model.route import RouteByModel
from tiermem.text.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFirst:
    """A plan that searches for the question itself before anything else (Algorithm 1, lines 6 and 8)."""

    plan: Plan

    async def __call__(
        self,
        question: Question,
        known: Sequence[Evidence],
        missing: str,
        done: Sequence[Search],
    ) -> Planned:
        """The question, where nothing was searched for yet; then what the plan looks up."""
        if not done:
            by_meaning = Search(kind="SEMANTIC", query=question.text)
            return Planned(done=False, reason="", searches=(by_meaning,))
        return await self.plan(question, known, missing, done)


def published_engine(engine: Engine) -> Engine:
    """The engine with replies and searches as published: its route replies the action alone (Figure 7), its
    answers never abstain (Figure 8), and the question is searched for first.

    Raises `InvalidInput` for an engine that does not ask a model.
    """
    if not isinstance(engine.compose, ComposeByModel):
        raise InvalidInput(f"answers as published need an engine that asks a model; {engine.name!r} does not")
    route, plan = engine.route, engine.plan
    assert plan is not None  # noqa: S101  (an engine that asks a model has every judgement)
    return replace(
        engine,
        route=replace(route, prompt="route_action") if isinstance(route, RouteByModel) else route,
        compose=replace(engine.compose, prompt="compose_always"),
        plan=SearchFirst(plan=plan),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Settings that `AsyncMemory.open` gets, the style of judging, and constants that no setting changes.

    `adapt` makes the engine that replies and searches as published.

    A test holds the library to `constants`.
    """

    settings: Mapping[str, Any]
    judge_styles: tuple[Style, ...]
    adapt: Callable[[Engine], Engine]
    constants: Mapping[str, float] = field(default_factory=dict)


PAPER: Final = Profile(
    settings={
        "page_tokens": 1000,  # A.2: "default: 1000 tokens"
        "recall_units": 5,  # §2.2, A.4: "top-k", no number printed
        "recall_turns": 0,  # A.4: hits are summaries, each with a pointer to its page
        "router": "llm",  # §2.2, B.1: a call that decides, then a call that answers
        "links": True,  # §5.3: Linked
        "research_rounds": 3,  # §4.1.2: T_max = 3
        "research_pages": 5,  # A.7: "top-k unique pages", no number printed
        "write_back_variant": "retrieve-and-edit",  # A.6; §5.4's no-recall is a system of its own
        "unproved": "mark",  # Algorithm 1, line 17: what was generated is the answer
    },
    adapt=published_engine,
    judge_styles=("generous",),  # Figure 10: "as long as it touches on the same topic/time"
    constants={
        "neighbours": 3,  # A.6: "k=3"
        "protected_similarity": 0.6,  # A.7: "high-confidence similarity scores", no number printed
        "temperature": 0.0,  # B.2: the judges' temperature; for other calls none is printed
    },
)

PROFILES: Final[Mapping[str, Profile]] = {"paper": PAPER}


def profile(name: str) -> Profile:
    """The profile of this name; `InvalidInput` names those there are."""
    if name not in PROFILES:
        raise InvalidInput(f"no profile {name!r}; there are: {', '.join(PROFILES)}")
    return PROFILES[name]


def with_profile(request: Request, name: str) -> Request:
    """The request with what the profile sets; settings and styles that were asked for come first."""
    named = profile(name)
    styles = request.judge_styles or (named.judge_styles if request.judge else ())
    settings = {**named.settings, **request.settings}
    return replace(request, profile=name, settings=settings, judge_styles=styles, adapt=named.adapt)

"""A step of a question, in one line."""

from __future__ import annotations

from tiermem.apps.present.tables import plural
from tiermem.model import AskStep


def describe_step(step: AskStep) -> str:
    """What was done, and what came of it, in the words of the trace."""
    parts = [step.name, *_of_trace(step)]
    tokens = sum(one.usage.input_tokens + one.usage.output_tokens for one in step.usage)
    return ": ".join([parts[0], ", ".join(parts[1:])]) + (f" ({tokens:,} tokens so far)" if tokens else "")


def _of_trace(step: AskStep) -> list[str]:
    from tiermem.proof.in_words import decision_in_words

    found: list[str] = []
    if step.name in ("recall", "widen"):
        found.append(f"{plural(len(step.candidates), 'piece')} of evidence")
    if step.decision is not None:
        found.append(decision_in_words(step.decision))
    for one in step.rounds:
        found.append(f"round {one.number}, {plural(len(one.pages), 'page')}")
        found += [f"{search.kind} {search.query!r}" for search in one.searches]
        if step.name == "integrate":
            found.append(f"{plural(one.facts, 'fact')}, {one.rejected} rejected")
        found += [one.stop] if one.stop else []
    if step.name == "compose":
        found.append(f"{step.way}, {step.checks[-1].support if step.checks else 'no answer'}")
    return [*found, *(f"{one.stage}: {one.reason}; instead: {one.fallback}" for one in step.degradations)]

"""Support, derivations and checks as sentences for people.

No sentence says that an answer is proved: code checks words, and not what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping

from tiermem.model import Action, Answer, Check, Decision, Derivation

_ROUTES: Mapping[Action, str] = {"ANSWER": "read no further", "ESCALATE": "read further"}
"""What a router decides, in the words of the page in the browser: an answer may abstain on either route."""


def derivation_in_words(one: Derivation) -> str:
    """A derivation as a sum one can follow."""
    terms = ", ".join(
        f"“{term.text}”" + (f" (said {term.said_at:%Y-%m-%d})" if term.said_at else "") for term in one.terms
    )
    return f"{one.value}: counted from when it was said, {terms}"


def support_in_words(answer: Answer) -> str:
    """Say what code checked of an answer against the cited words, without its cautions."""
    match answer.support:
        case "said":
            return "said: lines as they were said; whether they answer was not checked"
        case "quoted":
            return "quoted: every item is literally in a cited sentence; its meaning was not checked"
        case "computed":
            sums = "; ".join(derivation_in_words(one) for one in answer.derivations)
            return f"computed from the cited sentences: {sums}"
        case "worded":
            beyond = (
                f"; not in the cited words: {', '.join(answer.unsupported)}" if answer.unsupported else ""
            )
            unchecked = "".join(f"; {check.reason}" for check in answer.trace.checks[-1:] if check.reason)
            return f"worded by {answer.trace.engine}; the quotes are exact{beyond}{unchecked}"
        case None:
            return "no answer, so nothing was checked"


def decision_in_words(decision: Decision) -> str:
    """Whether reading went on, who decided that, with what score where there is one, and why."""
    if decision.router == "said":
        return decision.reason
    score = "" if decision.score is None else f", score {decision.score:.2f}"
    return f"{_ROUTES[decision.action]}, by {decision.router}{score}: {decision.reason}"


def check_in_words(check: Check) -> str:
    """What a check came to, and why."""
    beyond = f", not in the cited words: {', '.join(check.unsupported)}" if check.unsupported else ""
    cautions = "".join(f"; {each!s}" for each in check.cautions)
    return f"{check.support}{beyond}{cautions}" + (f" ({check.reason})" if check.reason else "")

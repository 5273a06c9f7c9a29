"""Support, derivations and checks as sentences for people.

No sentence says that an answer is proved: code checks words, and not what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tiermem.model import Answer, Caution, CautionCode, Check, Decision, Derivation
from tiermem.proof.concluded import ONLY_CONCLUDED

_KINDS = {
    "date": "counted from when it was said",
    "count": "counted",
    "sum": "added up",
    "difference": "the difference",
    "duration": "the time between",
}


def derivation_in_words(one: Derivation) -> str:
    """A derivation as a sum one can follow."""
    terms = ", ".join(
        f"“{term.text}”" + (f" (said {term.said_at:%Y-%m-%d})" if term.said_at else "") for term in one.terms
    )
    return f"{one.value}: {_KINDS[one.kind]}, {terms}"


_IN_ONE = "is in only one of the answer and the cited sentence"
_CAUTIONS: Mapping[CautionCode, str] = {
    "negation": f"a negation {_IN_ONE}",
    "possibility": f"a possibility {_IN_ONE}",
    "plan": f"a plan or wish {_IN_ONE}",
    "condition": f"a condition {_IN_ONE}",
    "exception": f"an exception {_IN_ONE}",
    "past_habit": f"a past habit {_IN_ONE}",
    "report": "the cited sentence reports what another person said",
    "person": "the cited sentence is not about the person in question",
    "relative": "the cited sentence is about somebody or something that belongs to the person in question",
    "competing": "the cited sentence has another number, date or name as near to the words of the question",
    "question": "the cited sentence only asks",
    "assistant": "only an assistant says so",
    "memory": "only another memory says so, and it shows no words",
    "inferred": "it is concluded from the cited words",
    "superseded": "a later statement differs",
    "language": "there are no rules for the language of the cited sentence",
    "topic": "the cited sentence has no content word of the question",
}


def caution_in_words(caution: Caution, words: Sequence[str] = ()) -> str:
    """Say in one line what may turn the meaning of an answer; `words` are those at `caution.spans`."""
    shown = ", ".join(f"“{each}”" for each in words)
    return _CAUTIONS[caution.code] + (f": {shown}" if shown else "")


def support_in_words(answer: Answer) -> str:
    """Say what code checked of an answer against the cited words, without its cautions."""
    by_first = "; graded by version 1" if answer.grader == 1 and answer.support is not None else ""
    return f"{_label_in_words(answer)}{by_first}"


def _label_in_words(answer: Answer) -> str:
    match answer.support:
        case "quoted":
            return "quoted: every item is literally in a cited sentence; its meaning was not checked"
        case "computed":
            sums = "; ".join(derivation_in_words(one) for one in answer.derivations)
            return f"computed from the cited sentences: {sums}"
        case "stated":
            return "the checked words are in the sources; their meaning was not checked"
        case "derived":
            sums = "; ".join(derivation_in_words(one) for one in answer.derivations)
            return f"computed from the cited words; the calculation is stored ({sums})"
        case "worded" if answer.grader > 1:
            beyond = (
                f"; not in the cited words: {', '.join(answer.unsupported)}" if answer.unsupported else ""
            )
            return f"worded by {answer.trace.engine}; the quotes are exact{beyond}"
        case "worded" if any(check.reason == ONLY_CONCLUDED for check in answer.trace.checks[-1:]):
            return f"not confirmed: {ONLY_CONCLUDED}"
        case "worded":
            why = "".join(f" ({check.reason})" for check in answer.trace.checks[-1:] if check.reason)
            return (
                f"worded by {answer.trace.engine}: the quotes are exact; the wording was not confirmed{why}"
            )
        case None:
            return "no answer, so nothing was checked"


def decision_in_words(decision: Decision) -> str:
    """Who decided what, with what score where there is one, and why."""
    score = "" if decision.score is None else f", score {decision.score:.2f}"
    return f"{decision.router} decided {decision.action}{score}: {decision.reason}"


def check_in_words(check: Check) -> str:
    """What a check came to, and why."""
    beyond = f", not in the cited words: {', '.join(check.unsupported)}" if check.unsupported else ""
    cautions = "".join(f"; {caution_in_words(each)}" for each in check.cautions)
    return f"{check.support}{beyond}{cautions}" + (f" ({check.reason})" if check.reason else "")

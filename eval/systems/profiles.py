"""Named sets of settings for runs that are compared with published ones.

*From Lossy to Verified* is "the paper" below; sections and tables are its own. Where it prints no number,
the comment says so, and the figure is the library's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from eval.judge import Style
from tiermem.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Settings that `AsyncMemory.open` gets, the style of judging, and constants that no setting changes.

    A test holds the library to `constants`.
    """

    settings: Mapping[str, Any]
    judge_styles: tuple[Style, ...]
    constants: Mapping[str, float] = field(default_factory=dict)


PAPER: Final = Profile(
    settings={
        "page_tokens": 1000,  # A.2: "default: 1000 tokens"
        "recall_by": "vectors",  # A.4: "using vector similarity search"
        "recall_units": 5,  # §2.2, A.4: "top-k", no number printed
        "recall_turns": 0,  # A.4: hits are summaries, each with a pointer to its page
        "router": "llm",  # §2.2, B.1: a call that decides, then a call that answers
        "route_reply": "action",  # Figure 7: {"action": "S"} or {"action": "R"}
        "search_first": True,  # Algorithm 1, lines 6 and 8: q1 is the question itself
        "links": True,  # §5.3: Linked
        "research_rounds": 3,  # §4.1.2: T_max = 3
        "research_pages": 5,  # A.7: "top-k unique pages", no number printed
        "write_back_variant": "retrieve-and-edit",  # A.6; §5.4's no-recall is a system of its own
        "unproved": "mark",  # Algorithm 1, line 17: what was generated is the answer
        "abstain": False,  # Figure 8: the answer prompts know no abstaining
    },
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

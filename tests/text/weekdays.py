"""How weekdays of 200 texts, written without knowledge of the rules, are dated.

`python -m tests.text.weekdays` prints the figures of each part.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from tiermem.text import resolve_dates

Outcome = Literal["right", "wrong", "open", "rightly open"]
PARTS = ("open", "kept", "third")
"""Read while the rules were written; not read then; by another writer, and run once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekdayText:
    """A text with a weekday phrase, and the day that it names, if that can be known."""

    part: str
    said_at: datetime
    text: str
    phrase: str
    expected: str | None


def read_texts() -> list[WeekdayText]:
    """The texts of all parts."""
    lines = Path(__file__).with_name("weekdays.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        WeekdayText(
            part=line["part"],
            said_at=datetime.fromisoformat(line["said_at"]),
            text=line["text"],
            phrase=line["phrase"],
            expected=line["expected"],
        )
        for line in map(json.loads, lines)
    ]


def judge(item: WeekdayText) -> Outcome:
    """What becomes of the phrase: "wrong" is a day other than the one named, or a day where none is known."""
    start = item.text.index(item.phrase)
    end = start + len(item.phrase)
    mentions = resolve_dates(item.text, item.said_at)
    days = [mention.iso for mention in mentions if mention.start < end and start < mention.end]
    if days:
        return "right" if days == [item.expected] else "wrong"
    return "open" if item.expected else "rightly open"


def count_outcomes(part: str) -> Counter[Outcome]:
    """How many texts of a part have which outcome."""
    return Counter(judge(item) for item in read_texts() if item.part == part)


if __name__ == "__main__":
    for name in PARTS:
        counts = count_outcomes(name)
        total = counts.total()
        known = sum(item.expected is not None for item in read_texts() if item.part == name)
        sys.stdout.write(
            f"{name}: {dict(counts)}; wrong {counts['wrong'] / total:.1%} of {total}, "
            f"right {counts['right'] / known:.1%} of {known} with a known day\n"
        )

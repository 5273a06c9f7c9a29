"""Grade true answers and facts, altered ones, and handwritten false ones.

    python -m tests.proof.compare_graders [path to data] [--show KIND]

True are the gold answers of LoCoMo and LongMemEval with exactly the annotated evidence, and the facts that
a model wrote, with all turns they rest on. Altered are these, as in `guard_on_real_text`; of answers,
people are swapped in the question. False are the handwritten claims and answers, of which a few are
arguable. The unseen answers, true and false, were written by somebody who had not read the rules, after the
rules. The aims are those of the design, for the share `unmarked`: no word is unsupported, and there is no
caution but `topic`. Gold answers have another aim for the share without unsupported words.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from eval.datasets import LoCoMo, LongMemEval
from eval.types import Case
from pagestore import Turn
from tests.proof.altered_answers import alterations as altered_answers
from tests.proof.altered_answers import evidence, gold_of
from tests.proof.guard_on_real_text import (
    alterations,
    content_words,
    negated_fact,
    swapped_people,
)
from tests.text.dialogue import conversations
from tiermem.proof.grade import Grade, grade
from tiermem.text import Source

MOST_WORDS = 40
"""Unsupported words that are printed."""
LONGMEMEVAL = "longmemeval_oracle_dev100.json.xz"
UNSEEN = Path(__file__).with_name("unseen_answers.jsonl")
AIMS = {
    "answers: gold": "unmarked >= .35, without unsupported words >= .68",
    "answers: people swapped": "unmarked <= .05",
    "answers: negation": "unmarked <= .05",
    "facts: person swapped": "unmarked <= .05",
    "facts: negation": "unmarked <= .05",
    "false claims": "unmarked <= .25 on cases not seen",
    "false answers": "unmarked <= .25 on cases not seen",
    "unseen: false answers": "unmarked <= .25",
} | {
    f"{what}: {kind}": "unmarked <= .01"
    for what in ("answers", "facts")
    for kind in ("word", "name", "date", "number")
}


@dataclass(frozen=True, kw_only=True)
class GradedCase:
    """An answer or a statement with what it cites."""

    kind: str
    text: str
    cited: Sequence[Source]
    question: str = ""

    @property
    def grade(self) -> Grade:
        return grade(self.text, self.cited, self.question)


def answer_cases(data: Path) -> Iterator[GradedCase]:
    for name, cases in (
        ("answers", list(LoCoMo(data / "locomo" / "locomo_dev7.json").cases())),
        ("longmemeval", list(LongMemEval(data / "longmemeval" / LONGMEMEVAL).cases())),
    ):
        pool, chance = answer_words(cases), random.Random(7)
        for case in cases:
            yield from answers_of(case, pool, chance, name)


def answer_words(cases: Sequence[Case]) -> list[str]:
    """Return the content words of all gold answers."""
    questions = [each for case in cases for each in case.questions if each.answerable and each.gold]
    return [match.group() for each in questions for match in content_words(gold_of(each))]


def answers_of(
    case: Case, pool: Sequence[str], chance: random.Random, name: str = "answers"
) -> Iterator[GradedCase]:
    """Return the gold answers of a conversation, each followed by the ways to get one thing in it wrong."""
    one, two = list(dict.fromkeys(turn.speaker for each in case.sessions for turn in each.turns))[:2]
    for each in case.questions:
        cited = evidence(case, each)
        if not (each.answerable and each.gold and cited):
            continue
        gold = gold_of(each)
        texts = [("gold", gold, each.text)]
        texts += [("people swapped", gold, text) for text in swapped_people(each.text, (one, two))]
        texts += [("negation", text, each.text) for text in negated_fact(gold)]
        texts += [(kind, text, each.text) for kind, text in altered_answers(gold, pool, chance)]
        for kind, text, question in texts:
            yield GradedCase(kind=f"{name}: {kind}", text=text, question=question, cited=cited)


def fact_cases(locomo: Path) -> Iterator[GradedCase]:
    for talk in conversations(locomo):
        pool = [match.group() for fact in talk.facts for match in content_words(fact["fact"])]
        for fact in talk.facts:
            turns = [talk.turns[name] for name in fact["dia_ids"] if name in talk.turns]
            other = dict(zip(talk.speakers, reversed(talk.speakers), strict=True))
            cited = [
                Source(turn.text, turn.said_at, turn.speaker, addressee=other.get(turn.speaker, ""))
                for turn in turns
            ]
            texts = [("true", fact["fact"])]
            texts += [
                (kind, text)
                for kind, text, quote in alterations(fact, talk, random.Random(fact["fact"]), pool)
                if text != fact["fact"] and quote == fact["quote"]
            ]
            for kind, text in texts:
                yield GradedCase(kind=f"facts: {kind}", text=text, cited=cited)


def false_cases(attacks: Path) -> Iterator[GradedCase]:
    for line in (attacks / "false_claims.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        turns = [Turn(speaker=name, text=text, said_at=moment(at)) for name, text, at in case["turns"]]
        yield GradedCase(
            kind="false claims",
            text=case["claim"],
            cited=[Source(turn.text, turn.said_at, turn.speaker) for turn in turns],
        )
    for line in (attacks / "false_answers.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        yield GradedCase(
            kind="false answers",
            text=case["answer"],
            question=case["question"],
            cited=[
                Source(each["text"], moment(each["said_at"]), each["speaker"]) for each in case["sources"]
            ],
        )


def unseen_cases() -> Iterator[GradedCase]:
    for line in UNSEEN.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        yield GradedCase(
            kind=f"unseen: {'true' if case['true'] else 'false'} answers",
            text=case["answer"],
            question=case["question"],
            cited=[
                Source(each["text"], moment(each["said_at"]), each["speaker"]) for each in case["sources"]
            ],
        )


def moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def count_grades(cases: Iterator[GradedCase]) -> dict[str, Counter[str]]:
    """Count by kind of case what the grader says."""
    counts: dict[str, Counter[str]] = {}
    for case in cases:
        now = case.grade
        counts.setdefault(case.kind, Counter()).update({
            "cases": 1,
            "quoted": now.support == "quoted",
            "computed": now.support == "computed",
            "no unsupported word": bool(now.sentences) and not now.unsupported,
            "unmarked": now.is_unmarked,
            **{f"caution {each.code}": 1 for each in now.cautions if not now.unsupported},
            **{f"word {each.lower()}": 1 for each in now.unsupported},
        })  # fmt: skip
    return counts


def table(counts: dict[str, Counter[str]]) -> str:
    columns = ("quoted", "computed", "no unsupported word", "unmarked")
    rows = [f"{'':26}{'cases':>7}" + "".join(f"{column:>{len(column) + 2}}" for column in columns)]
    for kind, count in counts.items():
        shares = "".join(f"{count[column] / count['cases']:>{len(column) + 2}.3f}" for column in columns)
        rows.append(f"{kind:26}{count['cases']:>7}{shares}  {AIMS.get(kind, '')}".rstrip())
    cautions = [
        f"{name.removeprefix('caution ')} {count}"
        for name, count in counts["answers: gold"].most_common()
        if name.startswith("caution ")
    ]
    rows.append(f"cautions of gold answers without unsupported words: {', '.join(cautions)}")
    words = [
        f"{name.removeprefix('word ')} {count}"
        for name, count in counts.get("facts: true", Counter()).most_common()
        if name.startswith("word ")
    ]
    rows.append(f"unsupported words of true facts: {', '.join(words[:MOST_WORDS])}")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("data", nargs="?", type=Path, default=default)
    parser.add_argument("--show", help="print the altered and false cases of this kind that are unmarked")
    options = parser.parse_args()
    cases = [
        *answer_cases(options.data),
        *fact_cases(options.data / "locomo"),
        *false_cases(options.data / "attacks"),
        *unseen_cases(),
    ]
    out = [table(count_grades(iter(cases)))]
    for case in cases:
        if case.kind == options.show and case.grade.is_unmarked:
            cited = " | ".join(f"{each.speaker}: {each.text}" for each in case.cited)
            out.append(f"{case.question}\n    {case.text}\n    {cited}")
    sys.stdout.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
